package clean

import (
	"slices"

	"tfm/text/internal/words"
)

// length reports a side that is too short or too long, or that has a word that is too long.
func (c *cleaner) length(p *pair) bool {
	if p.Long {
		return true
	}
	for _, d := range []*words.Sentence{&p.src, &p.tgt} {
		if n := d.Length(); n < c.MinLen || n > c.MaxLen || d.Longest > c.MaxWord {
			return true
		}
	}
	return false
}

// copied reports sides with the same words, up to case and punctuation. Sides without letters, such
// as a number, are no copies.
func (c *cleaner) copied(p *pair) bool {
	hasLetters := func(w words.Word) bool { return !w.IsNumber() }
	return slices.Equal(p.src.Words, p.tgt.Words) && slices.ContainsFunc(p.src.Words, hasLetters)
}
