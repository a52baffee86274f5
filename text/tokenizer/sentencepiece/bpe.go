package sentencepiece

import (
	"cmp"
	"slices"

	"tfm/text/tokenizer/internal/merges"
)

// bpe merges adjacent symbols, at first the characters of the text, into pieces, in the order of
// the pieces' scores and then from left to right. User-defined pieces are symbols that take part in
// no merge.
//
// A symbol is the file id of a piece, a larger number for a character that only occurs within
// pieces, or merges.None for any other character.
type bpe struct {
	t      *Tokenizer
	ascii  [128]int32 // symbols of ASCII characters
	chars  trie       // symbols of characters
	fixed  trie       // user-defined pieces
	table  mergeTable
	unused bool // whether there are unused pieces, which are split again after merging
}

func newBPE(t *Tokenizer) (*bpe, error) {
	b := &bpe{t: t}
	symbols, splits, err := b.addSymbols()
	if err != nil {
		return nil, err
	}
	b.addMerges(symbols, splits)
	return b, nil
}

// matched reports whether a piece is matched in text, or unused.
func (p *Piece) matched() bool { return p.Type == Normal || p.Type == Unused || p.Type == UserDefined }

// addSymbols sets the symbols, and returns those that merges can join, and the sum of the numbers
// of characters of the pieces.
func (b *bpe) addSymbols() (symbols map[string]int32, splits int, err error) {
	pieces := b.t.model.Pieces
	symbols = make(map[string]int32, len(pieces))
	var chars, fixed []entry
	for i := range pieces {
		p := &pieces[i]
		if p.matched() {
			symbols[p.Text] = int32(i)
		}
		switch p.Type {
		case UserDefined:
			fixed = append(fixed, entry{text: p.Text, id: int32(i)})
		case Unused:
			b.unused = true
		}
	}
	next := int32(len(pieces)) // symbol of a character that is no piece
	for i := range pieces {
		p := &pieces[i]
		if !p.matched() {
			continue
		}
		for s := p.Text; s != ""; splits++ {
			n := min(charLen(s[0]), len(s))
			if _, ok := symbols[s[:n]]; !ok {
				symbols[s[:n]] = next
				next++
			}
			s = s[n:]
		}
	}
	for text, symbol := range symbols {
		if charLen(text[0]) >= len(text) {
			chars = append(chars, entry{text: text, id: symbol})
		}
	}
	if b.chars, err = newTrie(chars); err != nil {
		return nil, 0, err
	}
	if b.fixed, err = newTrie(fixed); err != nil {
		return nil, 0, err
	}
	for c := range b.ascii {
		b.ascii[c] = merges.None
		if s, ok := symbols[string([]byte{byte(c)})]; ok {
			b.ascii[c] = s
		}
	}
	return symbols, splits, nil
}

// addMerges sets the merges of each piece: of all pairs of symbols that make it.
func (b *bpe) addMerges(symbols map[string]int32, splits int) {
	pieces := b.t.model.Pieces
	var byScore []int32
	for i := range pieces {
		if pieces[i].matched() {
			byScore = append(byScore, int32(i))
		}
	}
	slices.SortFunc(byScore, func(i, j int32) int { return cmp.Compare(pieces[j].Score, pieces[i].Score) })
	b.table.init(splits)
	rank := int32(0)
	for k, id := range byScore {
		p := &pieces[id]
		if k > 0 && p.Score != pieces[byScore[k-1]].Score {
			rank++
		}
		for at := charLen(p.Text[0]); at < len(p.Text); at += charLen(p.Text[at]) {
			left, ok := symbols[p.Text[:at]]
			if !ok {
				continue
			}
			if right, ok := symbols[p.Text[at:]]; ok {
				b.table.add(left, right, merges.Merge{Rank: rank, ID: id})
			}
		}
	}
}

// mergeTable is a hash table of merges by the two symbols they join.
type mergeTable struct {
	slots []mergeSlot // a power of two of them
	shift int
}

type mergeSlot struct {
	left, right int32
	merge       merges.Merge
}

// init allocates a table for n merges.
func (m *mergeTable) init(n int) {
	size := 2
	m.shift = 63
	for size < 2*n {
		size *= 2
		m.shift--
	}
	m.slots = make([]mergeSlot, size)
	for i := range m.slots {
		m.slots[i].left = merges.None
	}
}

// slot returns the slot of a pair, or the free slot where it belongs.
func (m *mergeTable) slot(left, right int32) *mergeSlot {
	hash := (uint64(uint32(left))<<32 | uint64(uint32(right))) * 0x9E3779B97F4A7C15
	for i := int(hash >> m.shift); ; i++ {
		s := &m.slots[i&(len(m.slots)-1)]
		if s.left == left && s.right == right || s.left == merges.None {
			return s
		}
	}
}

func (m *mergeTable) add(left, right int32, to merges.Merge) {
	*m.slot(left, right) = mergeSlot{left, right, to}
}

// originSymbol is a symbol that was merged into an unused piece.
type originSymbol struct{ symbol, length int32 }

// newScratch returns the memory of encoding.
func (t *Tokenizer) newScratch() any {
	sc := &scratch{}
	if b := t.bpe; b != nil {
		sc.origins = map[int32][2]originSymbol{}
		sc.word = merges.NewWord(func(left, right *merges.Symbol) (merges.Merge, bool) {
			s := b.table.slot(left.ID, right.ID)
			if s.left == merges.None {
				return merges.Merge{}, false
			}
			if b.unused && t.model.Pieces[s.merge.ID].Type == Unused {
				sc.origins[s.merge.ID] = [2]originSymbol{{left.ID, left.Length}, {right.ID, right.Length}}
			}
			return s.merge, true
		})
	}
	return sc
}

// segment implements segmenter. It takes O(n log n) time for n characters.
func (b *bpe) segment(dst []segment, s []byte, sc *scratch, drop *merges.Dropout) []segment {
	if len(s) == 0 {
		return dst
	}
	b.split(s, sc.word)
	clear(sc.origins)
	sc.word.Apply(merges.Mode{}, drop)
	symbols := sc.word.Symbols
	for i := int32(0); i != merges.None; i = symbols[i].Next {
		dst = b.appendPieces(dst, originSymbol{symbols[i].ID, symbols[i].Length}, sc)
	}
	return dst
}

// split makes the characters and the user-defined pieces of s the symbols of a word.
func (b *bpe) split(s []byte, word *merges.Word) {
	word.Reset()
	for i := 0; i < len(s); {
		length, id := b.fixed.longest(s[i:])
		isFixed := length > 0
		c := s[i]
		switch {
		case isFixed:
		case c < 128:
			length, id = 1, b.ascii[c]
		default:
			length = min(charLen(c), len(s)-i)
			n := 0
			if n, id = b.chars.longest(s[i : i+length]); n < length {
				id = merges.None
			}
		}
		word.Append(id, length).Fixed = isFixed
		i += length
	}
}

// appendPieces appends the piece of a symbol, or, if it is unused, the pieces that it was merged
// from.
func (b *bpe) appendPieces(dst []segment, o originSymbol, sc *scratch) []segment {
	id := o.symbol
	switch pieces := b.t.model.Pieces; {
	case id == merges.None || int(id) >= len(pieces):
		id = b.t.unknown
	case b.unused && pieces[id].Type == Unused:
		if from, ok := sc.origins[id]; ok {
			return b.appendPieces(b.appendPieces(dst, from[0], sc), from[1], sc)
		}
		id = b.t.unknown
	}
	return append(dst, segment{id, o.length})
}
