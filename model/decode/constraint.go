package decode

import (
	"slices"

	"tfm/model"
)

// constraint decides which tokens may follow a hypothesis. All searches apply it. A forbidden token
// is not chosen, however probable; the scores of others are the model's, not normalized again. If
// it leaves a source without a translation, its list has an empty one with score -Inf.
//
// The token in the position of EOS at the length limit is free, because Hypothesis.Tokens omits
// it, except that EOS must be allowed.
type constraint struct {
	pieces    *Pieces   // the text of a complete translation is valid UTF-8; nil: any
	prefixes  []*prefix // what translations begin with, by index of the source; nil for none
	minTokens int       // before EOS, or the length limit if that is less
	noRepeat  int       // see Options
}

// constraintState is what the tokens of a hypothesis determine.
type constraintState struct {
	text   uint8 // of the automaton in Pieces
	prefix int32 // progress, see prefix
}

// newConstraint returns the constraint of o, nil if every token is allowed.
func newConstraint(o *Options) *constraint {
	c := &constraint{pieces: o.Pieces, minTokens: o.MinTokens, noRepeat: o.NoRepeat}
	if o.Prefixes != nil {
		c.prefixes = newPrefixes(o.Pieces, o.Prefixes.Targets)
	}
	if c.pieces == nil && c.prefixes == nil && c.minTokens <= 0 && c.noRepeat <= 0 {
		return nil
	}
	return c
}

// prefixOf returns the prefix of source i, nil for none.
func (c *constraint) prefixOf(i int) *prefix {
	if i >= len(c.prefixes) {
		return nil
	}
	return c.prefixes[i]
}

// next returns the state of a hypothesis of source i after token, which is not EOS. At the length
// limit it may be one that allows forbids.
func (c *constraint) next(i int, s constraintState, token int32) constraintState {
	if c.pieces != nil {
		if next := c.pieces.next[s.text][token]; next != utf8Invalid {
			s.text = next
		}
	}
	if p := c.prefixOf(i); p != nil {
		s.prefix = p.next(s.prefix, token)
	}
	return s
}

// required appends the tokens that may be demanded in a translation of source i, which its list
// must contain: those that complete every character before the length limit, and those that may
// follow each part of the prefix.
func (c *constraint) required(ids []int32, i int) []int32 {
	if c.pieces != nil {
		ids = append(ids, c.pieces.completing...)
	}
	if p := c.prefixOf(i); p != nil {
		ids = append(ids, slices.Concat(p.only...)...)
	}
	return ids
}

// partial is a hypothesis that a token is to follow.
type partial struct {
	constraint *constraint // nil allows every token
	state      constraintState
	prefix     *prefix // of its source, nil for none
	remaining  int     // number of tokens that may follow the next one before EOS
	mayEnd     bool    // minTokens precede
	only       []int32 // the only tokens that may follow, ascending; nil: any
	tree       *tree
	tail       int32   // last node of the hypothesis
	tokens     []int32 // workspace of list
	isListed   bool    // tokens is set
}

// list returns the tokens of the hypothesis. They are valid until the next step.
func (p *partial) list() []int32 {
	if !p.isListed {
		p.isListed = true
		p.tokens = p.tree.appendTokens(p.tokens[:0], p.tail)
	}
	return p.tokens
}

// setOnly sets p.only to the tokens of the prefix, or those that may follow within a character, the
// fewer ones.
func (p *partial) setOnly() {
	p.only = nil
	if p.constraint.pieces != nil {
		p.only = p.constraint.pieces.only[p.state.text]
	}
	if list := p.prefix.tokens(p.state.prefix); list != nil && (p.only == nil || len(list) < len(p.only)) {
		p.only = list
	}
}

// allows reports whether token, which may be EOS, may follow p and can be the first of up to
// p.remaining+1 tokens before EOS. In the position of EOS at the length limit only EOS is
// constrained, because other tokens are omitted unless search.keepsLast.
func (p *partial) allows(token int32) bool {
	c := p.constraint
	if c == nil || p.remaining < 0 && token != model.EOS {
		return true
	}
	if only := p.prefix.tokens(p.state.prefix); only != nil {
		if _, found := slices.BinarySearch(only, token); !found {
			return false
		}
	}
	if token == model.EOS {
		return p.mayEnd && p.state.text == utf8Start
	}
	if c.pieces != nil {
		if next := c.pieces.next[p.state.text][token]; next == utf8Invalid || c.pieces.needed[next] > p.remaining {
			return false
		}
	}
	return c.noRepeat <= 0 || p.only != nil || !p.repeats(token)
}

// repeats reports whether token would end noRepeat tokens that occur in the hypothesis (Paulus,
// Xiong and Socher 2018, section 2.5).
func (p *partial) repeats(token int32) bool {
	tokens, n := p.list(), p.constraint.noRepeat
	last := len(tokens) - (n - 1) // index of the n-1 tokens that token follows
	for i := range last {
		if tokens[i+n-1] == token && slices.Equal(tokens[i:][:n-1], tokens[last:]) {
			return true
		}
	}
	return false
}
