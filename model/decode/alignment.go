package decode

import (
	"fmt"
	"strconv"
	"strings"

	"tfm/model"
)

// AlignHeads selects heads of the cross-attention. Their mean weights align a translation with its
// source. The zero value selects all heads of the last decoder layer.
type AlignHeads struct {
	Heads []CrossHead

	// Next selects the weights of the next step, whose newest token the aligned one is, instead
	// of those of the step that predicts it (Chen et al., 2020, "Accurate Word Alignment
	// Induction from Neural Machine Translation").
	Next bool
}

// CrossHead is a head of the cross-attention.
type CrossHead struct{ Layer, Head int } // from 0

const nextStep = "next"

// String returns the heads as "layer.head" with spaces between them, after "next " if Next.
func (a AlignHeads) String() string {
	var words []string
	if a.Next {
		words = append(words, nextStep)
	}
	for _, h := range a.Heads {
		words = append(words, fmt.Sprintf("%d.%d", h.Layer, h.Head))
	}
	return strings.Join(words, " ")
}

// ParseAlignHeads returns the AlignHeads that String formats.
func ParseAlignHeads(s string) (a AlignHeads, err error) {
	words := strings.Fields(s)
	if len(words) > 0 && words[0] == nextStep {
		a.Next, words = true, words[1:]
	}
	for _, word := range words {
		layer, head, _ := strings.Cut(word, ".")
		l, err1 := strconv.ParseUint(layer, 10, 16)
		h, err2 := strconv.ParseUint(head, 10, 16)
		if err1 != nil || err2 != nil {
			return AlignHeads{}, &model.FieldError{Field: "align_heads", Found: s, Expected: `heads such as "3.0 3.2", or "next 3.0"`}
		}
		a.Heads = append(a.Heads, CrossHead{int(l), int(h)})
	}
	return a, nil
}

// Validate reports the first head that a model of configuration c does not have, as a
// *model.FieldError.
func (a AlignHeads) Validate(c model.Config) error {
	for _, h := range a.Heads {
		if h.Layer < 0 || h.Layer >= c.DecoderLayers || h.Head < 0 || h.Head >= c.Heads {
			return &model.FieldError{Field: "align_heads", Found: fmt.Sprintf("%d.%d", h.Layer, h.Head), Expected: fmt.Sprintf("layers below %d and heads below %d", c.DecoderLayers, c.Heads)}
		}
	}
	return nil
}
