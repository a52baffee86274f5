package clean

import "slices"

// length reports a side that is too short or too long, or that has a word that is too long.
func (c *cleaner) length(p *pair) bool {
	if p.Long {
		return true
	}
	for _, d := range []*side{&p.src, &p.tgt} {
		if n := d.length(); n < c.MinLen || n > c.MaxLen || d.longest > c.MaxWord {
			return true
		}
	}
	return false
}

// copied reports sides with the same words, up to case and punctuation. Sides without letters, such
// as a number, are no copies.
func (c *cleaner) copied(p *pair) bool {
	hasLetters := func(w word) bool { return !w.isNumber() }
	return slices.Equal(p.src.words, p.tgt.words) && slices.ContainsFunc(p.src.words, hasLetters)
}
