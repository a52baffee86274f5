package decode

import (
	"fmt"
	"slices"
	"strings"

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
	tokens     []int32 // workspace of history
	isListed   bool    // tokens is set
}

// history returns the tokens of the hypothesis. They are valid until the next step.
func (p *partial) history() []int32 {
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
	tokens, n := p.history(), p.constraint.noRepeat
	last := len(tokens) - (n - 1) // index of the n-1 tokens that token follows
	for i := range last {
		if tokens[i+n-1] == token && slices.Equal(tokens[i:][:n-1], tokens[last:]) {
			return true
		}
	}
	return false
}

// prefix is the begin of a translation: the text of the tokens head, then tail.
//
// The tokens of head must be the first, because a tokenizer splits these words so. tail may end
// within a word that the translation continues, so every token that agrees with it is allowed:
// after "Hu", a tokenizer with the piece "Hund" has not learned to write "nd". Progress is the
// number of tokens of head, then len(head) plus the number of bytes of tail.
type prefix struct {
	pieces *Pieces // nil: no tail
	head   []int32
	tail   string
	only   [][]int32 // by progress: the tokens that may follow, ascending
}

// maxTail limits the tail, in bytes: a word.
const maxTail = 32

// newPrefixes returns the prefixes of ids, by source, nil for a source without one.
func newPrefixes(pieces *Pieces, ids [][]int32) []*prefix {
	list := make([]*prefix, len(ids))
	known := map[string]*prefix{}
	for i, of := range ids {
		if len(of) == 0 {
			continue
		}
		key := fmt.Sprint(of)
		if known[key] == nil {
			known[key] = newPrefix(pieces, of)
		}
		list[i] = known[key]
	}
	return list
}

func newPrefix(pieces *Pieces, ids []int32) *prefix {
	p := &prefix{pieces: pieces, head: slices.Clone(ids)}
	if pieces != nil {
		p.splitTail()
	}
	for i := range p.head {
		p.only = append(p.only, p.head[i:i+1])
	}
	for i := range len(p.tail) {
		p.only = append(p.only, pieces.agreeing(p.tail[i:]))
	}
	return p
}

// splitTail moves the last tokens of head to tail: those from the last space if it is near, else
// only the last. Of a piece that ends a word with a space, that space is no part of the tail.
func (p *prefix) splitTail() {
	n, tail := len(p.head)-1, ""
	spaceLast := endsWord(p.pieces.bytes[p.head[n]])
	for i := n; i >= 0; i-- {
		if tail = p.pieces.bytes[p.head[i]] + tail; len(tail) > maxTail {
			break
		}
		if strings.HasPrefix(tail, " ") || spaceLast && (i == 0 || endsWord(p.pieces.bytes[p.head[i-1]])) {
			n = i
			break
		}
	}
	for _, id := range p.head[n:] {
		p.tail += p.pieces.bytes[id]
	}
	if spaceLast {
		p.tail = strings.TrimSuffix(p.tail, " ")
	}
	p.head = p.head[:n]
}

// endsWord reports whether a piece ends a word with a space after it.
func endsWord(piece string) bool {
	return strings.HasSuffix(piece, " ") && strings.TrimSpace(piece) != ""
}

// agreeing returns the ids, ascending, of pieces that begin with text or are the begin of text.
func (p *Pieces) agreeing(text string) []int32 {
	ids := p.beginning(text[:len(text)-1])
	for _, id := range p.from(text) {
		if !strings.HasPrefix(p.bytes[id], text) {
			break
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// tokens returns the tokens that may follow a progress, ascending, nil for any.
func (p *prefix) tokens(progress int32) []int32 {
	if p == nil || int(progress) >= len(p.only) {
		return nil
	}
	return p.only[progress]
}

// next returns the progress after token.
func (p *prefix) next(progress, token int32) int32 {
	switch n := int(progress); {
	case n >= len(p.only):
		return progress
	case n < len(p.head):
		return progress + 1
	default:
		return int32(min(n+len(p.pieces.bytes[token]), len(p.only)))
	}
}
