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
// pieces, fixedSymbol of a user-defined piece, or merges.None for any other character.
type bpe struct {
	t      *Tokenizer
	ascii  [128]int32 // symbols of ASCII characters
	chars  trie       // symbols of characters
	fixed  trie       // user-defined pieces
	table  *merges.Table
	unused bool // whether there are unused pieces, which are split again after merging
}

func newBPE(t *Tokenizer) (*bpe, error) {
	b := &bpe{t: t}
	symbols, err := b.addSymbols()
	if err != nil {
		return nil, err
	}
	b.addMerges(symbols)
	return b, nil
}

// matched reports whether a piece is matched in text, or unused.
func (p *Piece) matched() bool { return p.Type == Normal || p.Type == Unused || p.Type == UserDefined }

// addSymbols sets the symbols, and returns those that merges can join.
func (b *bpe) addSymbols() (symbols map[string]int32, err error) {
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
		for s := p.Text; s != ""; {
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
		return nil, err
	}
	if b.fixed, err = newTrie(fixed); err != nil {
		return nil, err
	}
	for c := range b.ascii {
		b.ascii[c] = merges.None
		if s, ok := symbols[string([]byte{byte(c)})]; ok {
			b.ascii[c] = s
		}
	}
	return symbols, nil
}

// addMerges sets the merges of each piece: of all pairs of symbols that make it.
func (b *bpe) addMerges(symbols map[string]int32) {
	pieces := b.t.model.Pieces
	var byScore []int32
	for i := range pieces {
		if pieces[i].matched() {
			byScore = append(byScore, int32(i))
		}
	}
	slices.SortFunc(byScore, func(i, j int32) int { return cmp.Compare(pieces[j].Score, pieces[i].Score) })
	b.table = merges.NewTable(0)
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
				b.table.Add(left, right, merges.Merge{Rank: rank, ID: id})
			}
		}
	}
}

// fixedSymbol returns the symbol of a user-defined piece, which is negative so that it takes part
// in no merge, and the piece of such a symbol.
func fixedSymbol(id int32) int32 { return merges.None - 1 - id }

// originSymbol is a symbol that was merged into an unused piece.
type originSymbol struct{ symbol, length int32 }

// newScratch returns the memory of encoding.
func (t *Tokenizer) newScratch() any {
	sc := &scratch{}
	if b := t.bpe; b != nil {
		sc.word = merges.NewWord(b.table)
		if b.unused {
			sc.origins = map[int32][2]originSymbol{}
			sc.word.Proposed = func(left, right *merges.Symbol, m merges.Merge) {
				if t.model.Pieces[m.ID].Type == Unused {
					sc.origins[m.ID] = [2]originSymbol{{left.ID, left.Length}, {right.ID, right.Length}}
				}
			}
		}
	}
	return sc
}

// segment implements segmenter. It takes O(n log n) time for n characters.
func (b *bpe) segment(dst []segment, s []byte, sc *scratch) []segment {
	if len(s) == 0 {
		return dst
	}
	b.split(s, sc.word)
	if b.unused {
		clear(sc.origins)
	}
	sc.word.Apply(false)
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
		c := s[i]
		switch {
		case length > 0:
			id = fixedSymbol(id)
		case c < 128:
			length, id = 1, b.ascii[c]
		default:
			length = min(charLen(c), len(s)-i)
			n := 0
			if n, id = b.chars.longest(s[i : i+length]); n < length {
				id = merges.None
			}
		}
		word.Append(id, length)
		i += length
	}
}

// appendPieces appends the piece of a symbol, or, if it is unused, the pieces that it was merged
// from.
func (b *bpe) appendPieces(dst []segment, o originSymbol, sc *scratch) []segment {
	id := o.symbol
	if id < merges.None {
		id = fixedSymbol(id)
	}
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
