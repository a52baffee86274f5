package decode

import (
	"fmt"
	"slices"
	"strings"
)

// prefixes is the Constraint that translations begin with given text. The state is the index of the
// source and the progress in its prefix.
type prefixes struct {
	pieces *Pieces
	list   []*prefix // by index of the source; nil for none
}

// prefix is the begin of a translation: the text of the tokens head, then tail.
//
// The tokens of head must be the first, because a tokenizer splits these words so. tail may end
// within a word that the translation continues, so every token that agrees with it is allowed:
// after "Hu", a tokenizer with the piece "Hund" has not learned to write "nd". Progress is the
// number of tokens of head, then len(head) plus the number of bytes of tail.
type prefix struct {
	head []int32
	tail string
	only [][]int32 // by progress: the tokens that may follow, ascending
}

// maxTail limits the tail, in bytes: a word.
const maxTail = 32

// Prefixes returns the Constraint that the translation of source i begins with the text of
// prefixes[i], which are the ids of a tokenizer. A source without one, and further sources, are
// free. The last word may continue. Without pieces, translations begin with the ids.
func Prefixes(pieces *Pieces, ids [][]int32) Constraint {
	c := &prefixes{pieces: pieces, list: make([]*prefix, len(ids))}
	known := map[string]*prefix{}
	for i, list := range ids {
		if len(list) == 0 {
			continue
		}
		key := fmt.Sprint(list)
		if known[key] == nil {
			known[key] = newPrefix(pieces, list)
		}
		c.list[i] = known[key]
	}
	return c
}

func newPrefix(pieces *Pieces, ids []int32) *prefix {
	p := &prefix{head: slices.Clone(ids)}
	if pieces != nil {
		p.splitTail(pieces)
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
func (p *prefix) splitTail(pieces *Pieces) {
	n, tail := len(p.head)-1, ""
	spaceLast := endsWord(pieces.bytes[p.head[n]])
	for i := n; i >= 0; i-- {
		if tail = pieces.bytes[p.head[i]] + tail; len(tail) > maxTail {
			break
		}
		if strings.HasPrefix(tail, " ") || spaceLast && (i == 0 || endsWord(pieces.bytes[p.head[i-1]])) {
			n = i
			break
		}
	}
	for _, id := range p.head[n:] {
		p.tail += pieces.bytes[id]
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

func (c *prefixes) StateLen() int { return 1 }

func (c *prefixes) Start(state []uint64, s SourceInfo) { state[0] = uint64(s.Index) << 32 }

// of returns the prefix of a state, which may be nil, and the progress in it.
func (c *prefixes) of(state uint64) (p *prefix, progress int) {
	if i := state >> 32; i < uint64(len(c.list)) {
		p = c.list[i]
	}
	return p, int(uint32(state))
}

func (c *prefixes) Next(state []uint64, token int32) {
	p, progress := c.of(state[0])
	switch {
	case p == nil || progress >= len(p.only):
		return
	case progress < len(p.head):
		progress++
	default:
		progress += len(c.pieces.bytes[token])
	}
	state[0] = state[0]>>32<<32 | uint64(min(progress, len(p.only)))
}

func (c *prefixes) Allows(p *Partial, token int32) bool {
	only := c.Only(p)
	if only == nil {
		return true
	}
	_, found := slices.BinarySearch(only, token)
	return found
}

func (c *prefixes) Only(p *Partial) []int32 {
	f, progress := c.of(p.State[0])
	if f == nil || progress >= len(f.only) {
		return nil
	}
	return f.only[progress]
}

// Required appends the tokens that may follow each part of the prefix.
func (c *prefixes) Required(ids []int32, s SourceInfo) []int32 {
	if s.Index < len(c.list) && c.list[s.Index] != nil {
		for _, only := range c.list[s.Index].only {
			ids = append(ids, only...)
		}
	}
	return ids
}
