package sentencepiece

import (
	"cmp"
	"math"
	"slices"

	"tfm/text/internal/dropout"
	"tfm/text/internal/heap"
)

// bpe merges adjacent symbols, at first the characters of the text, into pieces, in the order of
// the pieces' scores and then from left to right. User-defined pieces are symbols that take part in
// no merge.
//
// A symbol is the file id of a piece, a larger number for a character that only occurs within
// pieces, or noSymbol for any other character.
type bpe struct {
	t      *Tokenizer
	ascii  [128]int32 // symbols of ASCII characters
	chars  trie       // symbols of characters
	fixed  trie       // user-defined pieces
	merges mergeTable
	unused bool // whether there are unused pieces, which are split again after merging
}

const (
	noSymbol = -1
	noRank   = math.MaxUint32
)

// merge is the piece that two symbols make.
type merge struct {
	rank  uint32 // of its score, the highest being 0
	piece int32
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
		b.ascii[c] = noSymbol
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
	b.merges.init(splits)
	rank := uint32(0)
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
				b.merges.add(left, right, merge{rank, id})
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
	merge
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
		m.slots[i].left = noSymbol
	}
}

// slot returns the slot of a pair, or the free slot where it belongs.
func (m *mergeTable) slot(left, right int32) *mergeSlot {
	hash := (uint64(uint32(left))<<32 | uint64(uint32(right))) * 0x9E3779B97F4A7C15
	for i := int(hash >> m.shift); ; i++ {
		s := &m.slots[i&(len(m.slots)-1)]
		if s.left == left && s.right == right || s.left == noSymbol {
			return s
		}
	}
}

func (m *mergeTable) add(left, right int32, to merge) {
	*m.slot(left, right) = mergeSlot{left, right, to}
}

// find returns the merge of two symbols, or one of rank noRank if no piece is their text.
func (m *mergeTable) find(left, right int32) merge {
	if left >= 0 && right >= 0 {
		if s := m.slot(left, right); s.left != noSymbol {
			return s.merge
		}
	}
	return merge{noRank, noSymbol}
}

// bpeScratch is the memory of a segmentation.
type bpeScratch struct {
	symbols []bpeSymbol
	origins map[int32][2]originSymbol // of unused pieces

	// queue has the keys rank<<32 | index. One is stale if the symbol at index has another
	// rank.
	queue heap.Heap[struct{}]
}

// bpeSymbol is an element of a list linked by index.
type bpeSymbol struct {
	symbol     int32
	length     int32 // bytes
	prev, next int32 // or none
	merge            // with the next symbol
	fixed      bool
}

// originSymbol is a symbol that was merged into an unused piece.
type originSymbol struct{ symbol, length int32 }

const none = -1

// segment implements segmenter. It takes O(n log n) time for n characters.
func (b *bpe) segment(dst []segment, s []byte, sc *scratch, drop *dropout.Merges) []segment {
	if len(s) == 0 {
		return dst
	}
	b.split(s, &sc.bpe)
	symbols := sc.bpe.symbols
	if b.unused {
		clear(sc.bpe.origins)
	}
	b.merge(&sc.bpe, drop)
	for i := int32(0); i != none; i = symbols[i].next {
		dst = b.appendPieces(dst, originSymbol{symbols[i].symbol, symbols[i].length}, sc)
	}
	return dst
}

// split makes a list of the characters and the user-defined pieces of s.
func (b *bpe) split(s []byte, sc *bpeScratch) {
	list := sc.symbols[:0]
	for i := 0; i < len(s); {
		next := bpeSymbol{symbol: noSymbol, prev: int32(len(list)) - 1, next: int32(len(list)) + 1, merge: merge{noRank, noSymbol}}
		length, id := b.fixed.longest(s[i:])
		c := s[i]
		switch {
		case length > 0:
			next.fixed, next.symbol = true, id
		case c < 128:
			length, next.symbol = 1, b.ascii[c]
		default:
			length = min(charLen(c), len(s)-i)
			if n, id := b.chars.longest(s[i : i+length]); n == length {
				next.symbol = id
			}
		}
		next.length = int32(length)
		list = append(list, next)
		i += length
	}
	list[len(list)-1].next = none
	sc.symbols = list
}

// propose stores the merge of a symbol with the next one and adds it to the queue.
func (b *bpe) propose(i int32, sc *bpeScratch) {
	if i == none {
		return
	}
	left := &sc.symbols[i]
	left.merge = merge{noRank, noSymbol}
	if left.next == none {
		return
	}
	right := &sc.symbols[left.next]
	if left.fixed || right.fixed {
		return
	}
	left.merge = b.merges.find(left.symbol, right.symbol)
	if left.rank == noRank {
		return
	}
	if b.unused && b.t.model.Pieces[left.piece].Type == Unused {
		sc.origins[left.piece] = [2]originSymbol{{left.symbol, left.length}, {right.symbol, right.length}}
	}
	sc.queue.Push(int64(left.rank)<<32|int64(i), struct{}{})
}

// apply merges symbol i with the next one.
func (b *bpe) apply(i int32, symbols []bpeSymbol) {
	left := &symbols[i]
	right := &symbols[left.next]
	left.symbol = left.piece
	left.length += right.length
	left.next = right.next
	if right.next != none {
		symbols[right.next].prev = i
	}
	right.rank = noRank
}

// merge applies the merges that drop does not drop. drop may be nil.
func (b *bpe) merge(sc *bpeScratch, drop *dropout.Merges) {
	symbols := sc.symbols
	sc.queue.Reset()
	for i := range symbols {
		b.propose(int32(i), sc)
	}
	for sc.queue.Len() > 0 {
		top, _ := sc.queue.Pop()
		i := int32(top)
		if symbols[i].rank != uint32(top>>32) {
			continue // stale
		}
		if drop != nil && drop.Next() {
			symbols[i].merge = merge{noRank, noSymbol}
			continue
		}
		b.apply(i, symbols)
		b.propose(symbols[i].prev, sc)
		b.propose(i, sc)
	}
}

// appendPieces appends the piece of a symbol, or, if it is unused, the pieces that it was merged
// from.
func (b *bpe) appendPieces(dst []segment, o originSymbol, sc *scratch) []segment {
	id := o.symbol
	switch pieces := b.t.model.Pieces; {
	case id == noSymbol || int(id) >= len(pieces):
		id = b.t.unknown
	case b.unused && pieces[id].Type == Unused:
		if from, ok := sc.bpe.origins[id]; ok {
			return b.appendPieces(b.appendPieces(dst, from[0], sc), from[1], sc)
		}
		id = b.t.unknown
	}
	return append(dst, segment{id, o.length})
}
