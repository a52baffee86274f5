package sentencepiece

import (
	"strings"
	"unicode/utf8"
)

// Trim returns a tokenizer without the normal and the unused pieces of more than one character that
// are not used: used[id] tells whether the piece of an id of t is used. A text whose pieces are all
// used keeps them, and other texts have shorter pieces. For that BPE also keeps the pieces within
// used ones, which its merges make, and all unused pieces; a unigram model keeps a piece with the
// lowest score, on which that of unknown text depends.
func (t *Tokenizer) Trim(used []bool) (*Tokenizer, error) {
	pieces := t.model.Pieces
	keep := make([]bool, len(pieces))
	lowest := -1
	for i := range pieces {
		p := &pieces[i]
		droppable := p.Type == Normal || p.Type == Unused && t.bpe == nil
		keep[i] = !droppable || used[t.toText[i]] || utf8.RuneCountInString(p.Text) == 1
		if p.Type == Normal && (lowest < 0 || p.Score < pieces[lowest].Score) {
			lowest = i
		}
	}
	switch {
	case t.bpe != nil:
		t.keepWithin(keep)
	case lowest >= 0:
		keep[lowest] = true
	}
	m := *t.model
	m.Pieces = nil
	for i, p := range pieces {
		if keep[i] {
			m.Pieces = append(m.Pieces, p)
		}
	}
	m.Trainer.VocabSize = int32(len(m.Pieces))
	return New(&m)
}

// keepWithin keeps the pieces that are part of one to keep.
func (t *Tokenizer) keepWithin(keep []bool) {
	for i := range keep {
		if p := &t.model.Pieces[i]; keep[i] && p.matched() {
			text := strings.Split(p.Text, "")
			for from := range text {
				for to := from + 1; to <= len(text); to++ {
					if id, ok := t.ids[strings.Join(text[from:to], "")]; ok {
						keep[id] = true
					}
				}
			}
		}
	}
}
