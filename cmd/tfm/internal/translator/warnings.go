package translator

import (
	"cmp"
	"fmt"

	"tfm/internal/format"
	"tfm/text"
	"tfm/translate"
)

// Warnings shows warnings about lines and their results. Of truncated lines, and of truncated
// translations, it shows the first and at the end their number.
type Warnings struct {
	text.Warnings
	Remedy string // of truncated lines, in addition to shorter sentences; "" is a longer training

	lines, translations int // truncated
}

// Add shows or counts a warning.
func (w *Warnings) Add(warning text.Warning) {
	switch warning.Kind {
	case translate.TruncatedLine:
		if w.lines++; w.lines == 1 {
			remedy := cmp.Or(w.Remedy, "train a model with a larger -max-len")
			w.Show(fmt.Sprintf("%s; put shorter sentences on separate lines, or %s", warning.Message, remedy))
		}
	case translate.TruncatedTranslation:
		if w.translations++; w.translations == 1 {
			w.Show(warning.Message)
		}
	default:
		w.Warnings.Add(warning)
	}
}

// Counts returns the number of warnings of each kind.
func (w *Warnings) Counts() map[string]int {
	counts := w.Warnings.Counts()
	for kind, n := range map[string]int{translate.TruncatedLine: w.lines, translate.TruncatedTranslation: w.translations} {
		if n > 0 {
			if counts == nil {
				counts = map[string]int{}
			}
			counts[kind] = n
		}
	}
	return counts
}

// Summarize shows how many warnings were not shown.
func (w *Warnings) Summarize() {
	w.Warnings.Summarize()
	if w.lines > 1 {
		w.Show(format.Thousands(w.lines) + " lines were truncated")
	}
	if w.translations > 1 {
		w.Show(format.Thousands(w.translations) + " translations reached their length limit before their end")
	}
}
