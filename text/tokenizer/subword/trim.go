package subword

import (
	"strings"
	"unicode/utf8"
)

// Trim returns a tokenizer with the codes of t and those pieces of its vocabulary that are used or
// have one character: used[id] tells whether the piece of an id of t is used. A text whose pieces
// are all used keeps them.
func (t *Tokenizer) Trim(used []bool) (*Tokenizer, error) {
	var entries []Entry
	for i, x := range t.vocabulary.entries {
		segment := strings.TrimSuffix(x.Piece, joint)
		if id := t.ids[i]; id < firstPiece || used[id] || utf8.RuneCountInString(segment) == 1 {
			entries = append(entries, x)
		}
	}
	v, err := NewVocabulary(entries)
	if err != nil {
		return nil, err
	}
	return NewRaw(t.codes, v, t.chain), nil
}
