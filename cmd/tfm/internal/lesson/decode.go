package lesson

import (
	"fmt"
	"slices"
	"strings"

	"tfm/model"
)

// vocabulary is a list of pieces; the index of a piece is its id.
type vocabulary []string

// specialPieces are the pieces of the ids model.Pad, BOS and EOS.
var specialPieces = vocabulary{"<pad>", "<s>", "</s>"}

// newVocabulary returns the special pieces and those of one side of the pairs.
func newVocabulary(side int) vocabulary {
	v := slices.Clone(specialPieces)
	for _, pair := range pairs {
		for _, piece := range strings.Fields(pair[side]) {
			if !slices.Contains(v, piece) {
				v = append(v, piece)
			}
		}
	}
	return v
}

func (v vocabulary) encode(sentence string) []int32 {
	var ids []int32
	for _, piece := range strings.Fields(sentence) {
		ids = append(ids, int32(slices.Index(v, piece)))
	}
	return ids
}

func (v vocabulary) decode(ids []int32) string {
	pieces := make([]string, len(ids))
	for i, id := range ids {
		pieces[i] = v[id]
	}
	return strings.Join(pieces, " ")
}

// numbered lists the pieces from id first on, each after its id.
func (v vocabulary) numbered(first int) string {
	var pieces []string
	for id, piece := range v[first:] {
		pieces = append(pieces, fmt.Sprintf("%d %s", first+id, piece))
	}
	return strings.Join(pieces, "  ")
}

// decodeStep is a step of greedy decoding: the probabilities of all tokens, and the id of the most
// probable one.
type decodeStep struct {
	probabilities []float32
	best          int32
}

// second returns the id of the second most probable token.
func (s decodeStep) second() int32 {
	others := slices.Clone(s.probabilities)
	others[s.best] = -1
	return int32(slices.Index(others, slices.Max(others)))
}

// decodeGreedy translates src: each step appends the most probable token to the decoder's input,
// until that is EOS or the translation has the model's maximum length.
func (m learner) decodeGreedy(src []int32) (translation []int32, steps []decodeStep) {
	for len(translation) < m.Config.MaxLen {
		next := m.decoder.Next(src, translation)
		best := int32(slices.Index(next, slices.Max(next)))
		steps = append(steps, decodeStep{next, best})
		if best == model.EOS {
			break
		}
		translation = append(translation, best)
	}
	return translation, steps
}

// translate returns the translation of a sentence.
func (m learner) translate(sentence string) string {
	translation, _ := m.decodeGreedy(m.src.encode(sentence))
	return m.tgt.decode(translation)
}

// countExact returns the number of sentences whose translation is exact.
func (m learner) countExact() int {
	n := 0
	for _, pair := range pairs {
		if m.translate(pair[0]) == pair[1] {
			n++
		}
	}
	return n
}
