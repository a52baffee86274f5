package bpe

import (
	"fmt"
	"strings"
	"sync"

	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
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
	merges   []pair        // merges[k] makes the piece of id firstMerge+k
	table    *merges.Table // of merges; ranks are ids
	pieces   []string      // bytes of each id, "" for special ids
	cache    *merges.Cache
	encoders sync.Pool // of *wordEncoder
}

// pair is the ids of two adjacent symbols.
type pair struct{ left, right int32 }

// newTokenizer returns the tokenizer with these merges. The error names the first invalid merge.
func newTokenizer(list []pair) (*Tokenizer, error) {
	b := &Tokenizer{
		merges: list,
		table:  merges.NewTable(len(list)),
		pieces: make([]string, firstMerge, firstMerge+len(list)),
	}
	for c := range 256 {
		b.pieces[firstByte+c] = string([]byte{byte(c)})
	}
	for k, m := range list {
		id := int32(firstMerge + k)
		for _, joined := range []int32{m.left, m.right} {
			if joined < firstByte || joined >= id {
				return nil, fmt.Errorf("merge %d joins id %d, expected a byte or an earlier merge (%d to %d)", k, joined, firstByte, id-1)
			}
		}
		if earlier, ok := b.table.Find(m.left, m.right); ok {
			return nil, fmt.Errorf("merge %d repeats merge %d", k, earlier.ID-firstMerge)
		}
		// Without this limit n merges could make pieces of 2^n bytes.
		if n := len(b.pieces[m.left]) + len(b.pieces[m.right]); n > maxWordBytes {
			return nil, fmt.Errorf("merge %d makes a piece of %d bytes, expected at most %d", k, n, maxWordBytes)
		}
		b.table.Add(m.left, m.right, merges.Merge{Rank: id, ID: id})
		b.pieces = append(b.pieces, b.pieces[m.left]+b.pieces[m.right])
	}
	b.cache = merges.NewCache()
	b.encoders.New = func() any { return &wordEncoder{word: merges.NewWord(b.table)} }
	return b, nil
}

// Size returns the size of the vocabulary: MinSize plus the number of merges.
func (t *Tokenizer) Size() int { return len(t.pieces) }

// Merges returns the ids of the two pieces that each merge joins. Merge k makes id MinSize+k.
func (t *Tokenizer) Merges() [][2]int32 {
	list := make([][2]int32, len(t.merges))
	for k, m := range t.merges {
		list[k] = [2]int32{m.left, m.right}
	}
	return list
}

// Encode implements text.Tokenizer. It puts a space before s, so that a word has the same pieces at
// the start of a sentence as within it. It takes time linear in the length of s.
func (t *Tokenizer) Encode(dst []int32, s string) []int32 {
	if s == "" {
		return dst
	}
	e := t.encoders.Get().(*wordEncoder)
	e.text = append(append(e.text[:0], ' '), s...)
	for unread := e.text; len(unread) > 0; {
		n := wordLen(unread)
		word := unread[:n]
		unread = unread[n:]
		dst = e.encodeCached(dst, word, t)
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
	text []byte
	word *merges.Word
}

// encodeCached appends the ids of one word, from the cache if they are there.
func (e *wordEncoder) encodeCached(dst []int32, word []byte, t *Tokenizer) []int32 {
	start := len(dst)
	dst, ok := t.cache.Find(dst, word)
	if !ok {
		dst = e.encode(dst, word)
		t.cache.Store(word, dst[start:])
	}
	return dst
}

// encode appends the ids of one word.
func (e *wordEncoder) encode(dst []int32, word []byte) []int32 {
	e.word.Reset()
	for _, c := range word {
		e.word.Append(firstByte+int32(c), 1)
	}
	e.word.Apply(false)
	for i := int32(0); i != merges.None; i = e.word.Symbols[i].Next {
		dst = append(dst, e.word.Symbols[i].ID)
	}
	return dst
}
