package decode

import (
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pieces holds the bytes of the pieces of a target vocabulary. A piece may begin or end within a
// character. Pieces is safe for concurrent use.
type Pieces struct {
	bytes   []string // by id
	longest int      // length of the longest of them

	// The automaton that reads valid UTF-8, without the states of characters that no sequence
	// of pieces completes.
	next   [utf8States][]uint8 // by state and id: the state after the piece; utf8Invalid if none
	needed [utf8States]int     // the least number of pieces that complete the character
	only   [utf8States][]int32 // ids that may follow a state within a character, ascending

	// For each state within a character, an id that is the first of the least number of pieces
	// that complete it.
	completing []int32

	sortOnce sync.Once
	byBytes  []int32 // ids with text, sorted by their bytes and then by id; set by sorted
}

// The states of the automaton are what remains of a character after some of its bytes.
const (
	utf8Start   = iota // nothing: the text is valid
	utf8Tail1          // 1 byte 80 to BF
	utf8Tail2          // 2 of them
	utf8Tail3          // 3 of them
	utf8AfterE0        // A0 to BF, then 1
	utf8AfterED        // 80 to 9F, then 1: no surrogates
	utf8AfterF0        // 90 to BF, then 2
	utf8AfterF4        // 80 to 8F, then 2: up to U+10FFFF
	utf8States
	utf8Invalid = math.MaxUint8
)

// utf8Ranges lists the bytes that may follow a state and the states after them (The Unicode
// Standard, table 3-7).
var utf8Ranges = []struct{ state, low, high, next uint8 }{
	{utf8Start, 0x00, 0x7F, utf8Start},
	{utf8Start, 0xC2, 0xDF, utf8Tail1},
	{utf8Start, 0xE0, 0xE0, utf8AfterE0},
	{utf8Start, 0xE1, 0xEC, utf8Tail2},
	{utf8Start, 0xED, 0xED, utf8AfterED},
	{utf8Start, 0xEE, 0xEF, utf8Tail2},
	{utf8Start, 0xF0, 0xF0, utf8AfterF0},
	{utf8Start, 0xF1, 0xF3, utf8Tail3},
	{utf8Start, 0xF4, 0xF4, utf8AfterF4},
	{utf8Tail1, 0x80, 0xBF, utf8Start},
	{utf8Tail2, 0x80, 0xBF, utf8Tail1},
	{utf8Tail3, 0x80, 0xBF, utf8Tail2},
	{utf8AfterE0, 0xA0, 0xBF, utf8Tail1},
	{utf8AfterED, 0x80, 0x9F, utf8Tail1},
	{utf8AfterF0, 0x90, 0xBF, utf8Tail2},
	{utf8AfterF4, 0x80, 0x8F, utf8Tail2},
}

// utf8Next returns the state after byte b.
func utf8Next(state, b uint8) uint8 {
	for _, r := range utf8Ranges {
		if r.state == state && r.low <= b && b <= r.high {
			return r.next
		}
	}
	return utf8Invalid
}

// NewPieces returns the Pieces of a vocabulary: bytes returns the text of each id below size.
// Special ids have none.
func NewPieces(size int, bytes func(id int32) string) *Pieces {
	p := &Pieces{bytes: make([]string, size)}
	for id := range p.bytes {
		p.bytes[id] = bytes(int32(id))
		p.longest = max(p.longest, len(p.bytes[id]))
	}
	for state := range p.next {
		p.next[state] = make([]uint8, size)
		p.needed[state] = math.MaxInt
		for id, piece := range p.bytes {
			next := uint8(state)
			if state != utf8Start && (piece == "" || utf8.RuneStart(piece[0])) {
				next = utf8Invalid // a piece without text separates characters
			}
			for i := 0; i < len(piece) && next != utf8Invalid; i++ {
				next = utf8Next(next, piece[i])
			}
			p.next[state][id] = next
		}
	}
	p.needed[utf8Start] = 0
	for changed := true; changed; {
		changed = false
		for state := utf8Start + 1; state < utf8States; state++ {
			for _, next := range p.next[state] {
				if next != utf8Invalid && p.needed[next] < math.MaxInt && p.needed[next]+1 < p.needed[state] {
					p.needed[state], changed = p.needed[next]+1, true
				}
			}
		}
	}
	for state := range p.next {
		for id, next := range p.next[state] {
			switch {
			case next == utf8Invalid:
			case p.needed[next] == math.MaxInt:
				p.next[state][id] = utf8Invalid
			case state != utf8Start:
				p.only[state] = append(p.only[state], int32(id))
			}
		}
		for _, id := range p.only[state] {
			if p.needed[p.next[state][id]] == p.needed[state]-1 {
				p.completing = append(p.completing, id)
				break
			}
		}
	}
	return p
}

// Bytes returns the text of an id.
func (p *Pieces) Bytes(id int32) string { return p.bytes[id] }

// sorted returns byBytes.
func (p *Pieces) sorted() []int32 {
	p.sortOnce.Do(func() {
		for id, piece := range p.bytes {
			if piece != "" {
				p.byBytes = append(p.byBytes, int32(id))
			}
		}
		slices.SortStableFunc(p.byBytes, func(a, b int32) int { return strings.Compare(p.bytes[a], p.bytes[b]) })
	})
	return p.byBytes
}

// from returns the ids of pieces with text, sorted by their bytes, from the first one that is text
// or greater.
func (p *Pieces) from(text string) []int32 {
	sorted := p.sorted()
	return sorted[sort.Search(len(sorted), func(i int) bool { return p.bytes[sorted[i]] >= text }):]
}

// beginning returns the ids of pieces with which text begins, in the order of their lengths.
func (p *Pieces) beginning(text string) (ids []int32) {
	for n := 1; n <= min(len(text), p.longest); n++ {
		for _, id := range p.from(text[:n]) {
			if p.bytes[id] != text[:n] {
				break
			}
			ids = append(ids, id)
		}
	}
	return ids
}
