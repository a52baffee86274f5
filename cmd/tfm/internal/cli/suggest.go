package cli

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Nearest returns the candidate that word probably means, or "" if none is near. In this order: the
// candidate that word is a synonym of; the one at the least edit distance, up to 1 (2 from six
// bytes, 3 from ten), preferably with the same first byte; the shortest that has word between its
// hyphens, as batch-tokens has tokens; the only one that begins with word, of at least three bytes.
func Nearest(word string, candidates []string) string {
	limit := 0
	switch n := len(word); {
	case n >= 10:
		limit = 3
	case n >= 6:
		limit = 2
	case n >= 3:
		limit = 1
	}
	word = strings.ReplaceAll(strings.ToLower(word), "_", "-")
	synonym := ""
	for name := range strings.FieldsSeq(synonyms[word]) {
		if synonym == "" && slices.Contains(candidates, name) {
			synonym = name
		}
	}
	misspelt := least(candidates, func(c string) (rank int, ok bool) {
		d := editDistance(word, c)
		if rank = 2 * d; c == "" || word == "" || c[0] != word[0] {
			rank++
		}
		return rank, limit > 0 && d <= limit
	})
	part := least(candidates, func(c string) (rank int, ok bool) {
		return len(c), slices.Contains(strings.Split(c, "-"), word)
	})
	begun := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !strings.HasPrefix(c, word) })
	if len(begun) != 1 || len(word) < 3 {
		begun = []string{""}
	}
	return cmp.Or(synonym, misspelt, part, begun[0])
}

// least returns the first candidate of the least rank among those for which rank returns true, or
// "".
func least(candidates []string, rank func(c string) (int, bool)) (best string) {
	lowest := math.MaxInt
	for _, c := range candidates {
		if r, ok := rank(c); ok && r < lowest {
			best, lowest = c, r
		}
	}
	return best
}

// synonyms are flags by the names that other programs give them. The first flag that the command
// has counts.
var synonyms = map[string]string{
	"source": "src", "target": "tgt", "output": "o", "reference": "ref",
	"learning-rate": "lr", "epochs": "steps", "early-stopping": "patience",
	"batch-size": "batch-tokens batch", "max-length": "max-len max-source longest", "beam-size": "beam",
}

// editDistance returns the least number of insertions, deletions, replacements and swaps of
// neighbouring bytes that make b of a. No byte is changed twice (optimal string alignment).
func editDistance(a, b string) int {
	// Rows i-2, i-1 and i of the table of distances between a[:i] and b[:j].
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
