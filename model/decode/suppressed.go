package decode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tfm/model"
)

// maxSuppressed limits the ids of Settings.Suppressed.
const maxSuppressed = 1 << 12

// FormatSuppressed returns ids as the value of Settings.Suppressed: in ascending order, each once,
// with spaces between them.
func FormatSuppressed(ids []int32) string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var words []string
	for _, id := range slices.Compact(ids) {
		words = append(words, strconv.Itoa(int(id)))
	}
	return strings.Join(words, " ")
}

// ParseSuppressed returns the ids that FormatSuppressed formats, at most 4096. EOS is none of them,
// because a translation ends with it.
func ParseSuppressed(s string) ([]int32, error) {
	var ids []int32
	for word := range strings.FieldsSeq(s) {
		id, err := strconv.ParseUint(word, 10, 24)
		if err != nil || id == model.EOS || len(ids) > 0 && int32(id) <= ids[len(ids)-1] || len(ids) == maxSuppressed {
			return nil, &model.FieldError{Field: "suppressed", Found: s, Expected: fmt.Sprintf(`up to %d ids in ascending order without that of EOS, such as "3 58101"`, maxSuppressed)}
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}
