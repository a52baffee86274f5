package bpe

import (
	"fmt"
	"strings"
	"sync"

	"tfm/text"
	"tfm/text/internal/dropout"
	"tfm/text/internal/heap"
)

const (
	firstByte  = 3               // id of byte 0
	firstMerge = firstByte + 256 // id of the first merge
)

// MinSize is the size of a tokenizer without merges: three special ids and 256 bytes.
const MinSize = firstMerge

// Tokenizer is a byte-level byte-pair encoding (Sennrich, Haddow and Birch 2016, "Neural Machine
// Translation of Rare Words with Subword Units", on bytes as in Radford et al. 2019). Its ids are
// text.Pad, text.BOS and text.EOS, then the 256 bytes, then the merges in the order in which they
// were learned. Every byte has an id, so that every string can be encoded and decodes to itself.
//
// A Tokenizer is immutable and safe for concurrent use.
type Tokenizer struct {
	merges   []pair         // merges[k] makes the piece of id firstMerge+k
	merged   map[pair]int32 // inverse of merges: the id that a pair makes
	pieces   []string       // bytes of each id, "" for special ids
	cache    wordCache
	encoders sync.Pool // of *wordEncoder
}

// pair is the ids of two adjacent symbols.
type pair struct{ left, right int32 }

// newTokenizer returns the tokenizer with these merges. The error names the first invalid merge.
func newTokenizer(merges []pair) (*Tokenizer, error) {
	b := &Tokenizer{
		merges: merges,
		merged: make(map[pair]int32, len(merges)),
		pieces: make([]string, firstMerge, firstMerge+len(merges)),
	}
	for c := range 256 {
		b.pieces[firstByte+c] = string([]byte{byte(c)})
	}
	for k, m := range merges {
		id := int32(firstMerge + k)
		for _, joined := range []int32{m.left, m.right} {
			if joined < firstByte || joined >= id {
				return nil, fmt.Errorf("merge %d joins id %d, expected a byte or an earlier merge (%d to %d)", k, joined, firstByte, id-1)
			}
		}
		if earlier, ok := b.merged[m]; ok {
			return nil, fmt.Errorf("merge %d repeats merge %d", k, earlier-firstMerge)
		}
		// Without this limit n merges could make pieces of 2^n bytes.
		if n := len(b.pieces[m.left]) + len(b.pieces[m.right]); n > maxWordBytes {
			return nil, fmt.Errorf("merge %d makes a piece of %d bytes, expected at most %d", k, n, maxWordBytes)
		}
		b.merged[m] = id
		b.pieces = append(b.pieces, b.pieces[m.left]+b.pieces[m.right])
	}
	b.cache.init()
	b.encoders.New = func() any { return &wordEncoder{candidates: heap.Keys()} }
	return b, nil
}

// Size returns the size of the vocabulary: MinSize plus the number of merges.
func (t *Tokenizer) Size() int { return len(t.pieces) }

// Merges returns the ids of the two pieces that each merge joins. Merge k makes id MinSize+k.
func (t *Tokenizer) Merges() [][2]int32 {
	merges := make([][2]int32, len(t.merges))
	for k, m := range t.merges {
		merges[k] = [2]int32{m.left, m.right}
	}
	return merges
}

// Encode implements text.Tokenizer. It puts a space before s, so that a word has the same pieces at
// the start of a sentence as within it. It takes time linear in the length of s.
func (t *Tokenizer) Encode(dst []int32, s string) []int32 { return t.encode(dst, s, nil) }

// encode appends the ids of s. drop may be nil.
func (t *Tokenizer) encode(dst []int32, s string, drop *dropout.Merges) []int32 {
	if s == "" {
		return dst
	}
	e := t.encoders.Get().(*wordEncoder)
	e.text = append(append(e.text[:0], ' '), s...)
	for unread := e.text; len(unread) > 0; {
		n := wordLen(unread)
		word := unread[:n]
		unread = unread[n:]
		start := len(dst)
		dst = e.encodeCached(dst, word, t)
		// Most words lose no merge and have the ids of Encode, which may be cached.
		if drop != nil && drop.Any(len(word)-(len(dst)-start)) {
			dst = e.encode(dst[:start], word, t, drop)
		}
	}
	if cap(e.text) <= 1<<16 { // memory of longer texts is freed
		t.encoders.Put(e)
	}
	return dst
}

// Decode implements text.Tokenizer. It removes the space that Encode adds, so that
// Decode(Encode(nil, s)) == s for every string s. For other ids the text may be invalid UTF-8,
// because a piece can end within a character.
func (t *Tokenizer) Decode(ids []int32) string {
	s, _ := t.decode(ids)
	return s
}

// decode returns the text of ids without a leading space, and that space or "".
func (t *Tokenizer) decode(ids []int32) (s, space string) {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(t.Bytes(id))
	}
	s = strings.TrimPrefix(b.String(), " ")
	return s, b.String()[:b.Len()-len(s)]
}

// Bytes implements text.Tokenizer.
func (t *Tokenizer) Bytes(id int32) string {
	if id < 0 || int(id) >= len(t.pieces) {
		return ""
	}
	return t.pieces[id]
}

// Piece implements text.Tokenizer. It prints a space as ▁ and a byte without a printable
// character as <0xE4>, the special ids as <pad>, <s> and </s>, and an id outside the vocabulary as
// <?>.
func (t *Tokenizer) Piece(id int32) string {
	switch {
	case id < 0 || int(id) >= len(t.pieces):
		return "<?>"
	case id < firstByte:
		return text.SpecialPiece(id)
	}
	return strings.ReplaceAll(text.PrintablePiece(t.pieces[id]), " ", "▁")
}

// wordEncoder is the reusable scratch memory of encoding.
type wordEncoder struct {
	text    []byte
	symbols []symbol
	// candidates are merges of a symbol and its successor. Keys: id<<32 | index of the symbol.
	candidates heap.Heap[struct{}]
	dropped    []int64 // candidates that this step dropped
}

// symbol is an element of the word being encoded, in a list linked by index.
type symbol struct{ id, prev, next int32 }

// encodeCached appends the ids of one word, from the cache if they are there.
func (e *wordEncoder) encodeCached(dst []int32, word []byte, b *Tokenizer) []int32 {
	slot := b.cache.slot(word)
	dst, ok := slot.lookup(dst, word)
	if ok {
		return dst
	}
	start := len(dst)
	dst = e.encode(dst, word, b, nil)
	slot.store(word, dst[start:])
	return dst
}

// encode appends the ids of one word. Each step applies the candidate that was learned first,
// except those that drop drops in this step, until none is left. drop may be nil. Without drop a
// word of n bytes takes O(n log n) time: it has at most n-1 merges, and each pushes at most
// two candidates.
func (e *wordEncoder) encode(dst []int32, word []byte, b *Tokenizer, drop *dropout.Merges) []int32 {
	const none = -1
	s := e.symbols[:0]
	for i, c := range word {
		s = append(s, symbol{firstByte + int32(c), int32(i) - 1, int32(i) + 1})
	}
	s[len(s)-1].next = none
	e.symbols = s

	e.candidates.Reset()
	propose := func(at int32) {
		if at == none || s[at].next == none {
			return
		}
		if id, ok := b.merged[pair{s[at].id, s[s[at].next].id}]; ok {
			e.candidates.Push(int64(id)<<32|int64(at), struct{}{})
		}
	}
	for i := range s {
		propose(int32(i))
	}
	for e.candidates.Len() > 0 {
		c, _ := e.candidates.Pop() // the merge learned first, then the leftmost
		id, at := int32(c>>32), int32(c)
		next := s[at].next
		if next == none || b.merges[id-firstMerge] != (pair{s[at].id, s[next].id}) {
			continue // stale: one of the symbols has changed
		}
		if drop != nil && drop.Next() {
			e.dropped = append(e.dropped, c)
			continue
		}
		s[at].id = id
		s[at].next = s[next].next
		if s[next].next != none {
			s[s[next].next].prev = at
		}
		s[next] = symbol{id: text.Pad, next: none}
		propose(s[at].prev)
		propose(at)
		for _, d := range e.dropped { // may be kept in the next step
			e.candidates.Push(d, struct{}{})
		}
		e.dropped = e.dropped[:0]
	}
	e.dropped = e.dropped[:0]
	for i := int32(0); i != none; i = s[i].next {
		dst = append(dst, s[i].id)
	}
	return dst
}
