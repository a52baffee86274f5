package translator

import (
	"cmp"

	"tfm/text"
	"tfm/translate"
)

// Warnings shows warnings about lines and their results.
type Warnings struct {
	text.Warnings
	Remedy string // of truncated lines, in addition to shorter sentences; "" is a longer training
}

// Add shows or counts a warning, that of a truncated line with what to do.
func (w *Warnings) Add(warning text.Warning) {
	if warning.Kind == translate.TruncatedLine {
		warning.Message += "; put shorter sentences on separate lines, or " + cmp.Or(w.Remedy, "train a model with a larger -max-len")
	}
	w.Warnings.Add(warning)
}
