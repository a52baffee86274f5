package decode

import (
	"fmt"
	"slices"
	"strings"
)

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
