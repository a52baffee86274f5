package train

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"tfm/text/internal/heap"
	"tfm/text/sentencepiece"
)

// trainBPE learns the pieces of byte-pair encoding of characters (Sennrich, Haddow and Birch 2016,
// "Neural Machine Translation of Rare Words with Subword Units"): it joins the most frequent pair
// of adjacent pieces again and again. Of equally frequent pairs it joins the one with fewer
// characters first, then the one whose text is less. Two pairs with the same text make one piece,
// and only the first is joined, as in spm_train.
func (t *Trainer) trainBPE(c *corpus, want int) []sentencepiece.Piece {
	j := newJoiner(c)
	pieces := make([]sentencepiece.Piece, 0, want)
	add := func(text string) {
		score := math.Copysign(float64(len(pieces)), -1) // spm_train writes -0 too
		pieces = append(pieces, sentencepiece.Piece{Text: text, Score: float32(score), Type: sentencepiece.Normal})
	}
	merges := want - len(c.chars)
	seen := map[string]bool{}
	for len(pieces) < merges {
		p, ok := j.mostFrequent()
		if !ok {
			break
		}
		text := j.text(p)
		if seen[text] {
			j.forget(p)
			continue
		}
		seen[text] = true
		add(text)
		j.join(p, text)
		if len(pieces)%1000 == 0 {
			t.Progress(Progress{len(pieces), want})
		}
	}
	for _, symbol := range c.byCount {
		add(string(c.chars[symbol]))
	}
	return pieces
}

// joiner holds the corpus as a sequence of symbols, which at first are characters, with the places
// of each pair. Joining a pair visits only its places.
//
// A symbol occupies one place for each character. Its first and last places hold its id, so that
// its neighbours are found from their lengths. A pair belongs to the first place of its
// left symbol. The places of a pair form a list in ascending order: they all arise when one of its
// symbols does.
type joiner struct {
	c        *corpus
	symbols  []joinedSymbol
	at       []int32 // the symbol whose first or last place this is
	fragment []int32
	pair     []int32 // the pair that begins here, or noPair
	next     []int32 // the next place of the pair, or noPlace
	prev     []int32

	pairs []joinedPair
	queue heap.Heap[queuedPair] // keys: minus an upper bound of the count

	// left and right are the pairs of each symbol with the one that join makes, which is their
	// right or left symbol: unset, noPair, or a pair. touched lists the symbols that have one.
	left, right []int32
	touched     []int32
	created     []int32 // pairs that are not in the queue yet
}

type joinedSymbol struct {
	text    string
	classes []charClass
}

// joinedPair is a pair of adjacent symbols.
type joinedPair struct {
	left, right int32
	count       int64
	first, last int32 // places
}

const (
	noPair  = -1
	unset   = -2
	noPlace = -1
)

// newJoiner returns a joiner of the characters.
func newJoiner(c *corpus) *joiner {
	n := len(c.symbols)
	places := make([]int32, 4*n)
	j := &joiner{
		c: c, at: append([]int32(nil), c.symbols...), fragment: places[:n],
		pair: places[n : 2*n], next: places[2*n : 3*n], prev: places[3*n:],
	}
	for i, r := range c.chars {
		j.symbols = append(j.symbols, joinedSymbol{string(r), c.classes[i : i+1]})
	}
	j.left, j.right = make([]int32, len(j.symbols)), make([]int32, len(j.symbols))
	for i := range j.left {
		j.left[i], j.right[i] = unset, unset
	}
	index := map[[2]int32]int32{}
	for f, count := range c.counts {
		for i := c.bounds[f]; i < c.bounds[f+1]; i++ {
			j.fragment[i], j.pair[i] = int32(f), noPair
			if i+1 == c.bounds[f+1] {
				continue
			}
			key := [2]int32{c.symbols[i], c.symbols[i+1]}
			p, ok := index[key]
			if !ok {
				p = j.newPair(key[0], key[1])
				index[key] = p
			}
			j.addPlace(p, i, count)
		}
	}
	j.queue.Before = j.before
	j.enqueue()
	return j
}

// newPair returns a new pair, or noPair if its text cannot be a piece.
func (j *joiner) newPair(left, right int32) int32 {
	if !j.valid(left, right) {
		return noPair
	}
	p := int32(len(j.pairs))
	j.pairs = append(j.pairs, joinedPair{left, right, 0, noPlace, noPlace})
	j.created = append(j.created, p)
	return p
}

// valid reports whether the text of a pair can be a piece.
func (j *joiner) valid(left, right int32) bool {
	var state pieceState
	var ok bool
	last := reserved
	for _, classes := range [2][]charClass{j.symbols[left].classes, j.symbols[right].classes} {
		for _, class := range classes {
			if state, ok = j.c.rules.extend(state, class); !ok {
				return false
			}
			last = class
		}
	}
	return j.c.rules.complete(state, last)
}

// addPlace adds a place to the end of the list of a pair.
func (j *joiner) addPlace(p, i int32, count int64) {
	j.pair[i] = p
	if p == noPair {
		return
	}
	d := &j.pairs[p]
	d.count += count
	j.next[i], j.prev[i] = noPlace, d.last
	if d.last == noPlace {
		d.first = i
	} else {
		j.next[d.last] = i
	}
	d.last = i
}

// removePlace removes a place from the list of its pair.
func (j *joiner) removePlace(i int32, count int64) {
	p := j.pair[i]
	if p == noPair {
		return
	}
	j.pair[i] = noPair
	d := &j.pairs[p]
	d.count -= count
	if prev := j.prev[i]; prev == noPlace {
		d.first = j.next[i]
	} else {
		j.next[prev] = j.next[i]
	}
	if next := j.next[i]; next == noPlace {
		d.last = j.prev[i]
	} else {
		j.prev[next] = j.prev[i]
	}
}

// text returns the text of a pair.
func (j *joiner) text(p int32) string {
	d := &j.pairs[p]
	return j.symbols[d.left].text + j.symbols[d.right].text
}

// forget removes a pair without joining it.
func (j *joiner) forget(p int32) {
	d := &j.pairs[p]
	for i := d.first; i != noPlace; i = j.next[i] {
		j.pair[i] = noPair
	}
	d.count, d.first, d.last = 0, noPlace, noPlace
}

// join replaces a pair by a new symbol at all its places, from left to right.
func (j *joiner) join(p int32, text string) {
	symbol := int32(len(j.symbols))
	leftSymbol, rightSymbol := &j.symbols[j.pairs[p].left], &j.symbols[j.pairs[p].right]
	leftLen, rightLen := int32(len(leftSymbol.classes)), int32(len(rightSymbol.classes))
	j.symbols = append(j.symbols, joinedSymbol{text, slices.Concat(leftSymbol.classes, rightSymbol.classes)})
	j.left, j.right = append(j.left, unset), append(j.right, unset)

	for i := j.pairs[p].first; i != noPlace; i = j.pairs[p].first {
		f := j.fragment[i]
		lo, hi, count := j.c.bounds[f], j.c.bounds[f+1], j.c.counts[f]
		right := i + leftLen
		end := right + rightLen
		j.removePlace(i, count)
		j.removePlace(right, count)
		j.at[i], j.at[end-1] = symbol, symbol
		if i > lo {
			before := j.at[i-1]
			first := i - int32(len(j.symbols[before].classes))
			j.removePlace(first, count)
			if j.left[before] == unset {
				j.left[before] = j.newPair(before, symbol)
				j.touched = append(j.touched, before)
			}
			j.addPlace(j.left[before], first, count)
		}
		if end < hi {
			after := j.at[end]
			if j.right[after] == unset {
				j.right[after] = j.newPair(symbol, after)
				j.touched = append(j.touched, after)
			}
			j.addPlace(j.right[after], i, count)
		}
	}
	for _, s := range j.touched {
		j.left[s], j.right[s] = unset, unset
	}
	j.touched = j.touched[:0]
	j.enqueue()
}

// enqueue moves the created pairs to the queue.
func (j *joiner) enqueue() {
	for _, p := range j.created {
		if d := &j.pairs[p]; d.count > 0 {
			j.queue.Push(-d.count, queuedPair{j.order(p), p})
		}
	}
	j.created = j.created[:0]
}

// mostFrequent removes the most frequent pair from the queue and returns it, and false if the queue
// is empty. The counts in the queue are upper bounds, because those of a pair only fall.
func (j *joiner) mostFrequent() (int32, bool) {
	for j.queue.Len() > 0 {
		key, q := j.queue.Pop()
		switch d := &j.pairs[q.pair]; {
		case d.count == -key:
			return q.pair, true
		case d.count > 0:
			j.queue.Push(-d.count, q)
		}
	}
	return 0, false
}

// order returns a number that orders equally frequent pairs, as far as 64 bits do: the number of
// characters, and the first bytes of the text.
func (j *joiner) order(p int32) uint64 {
	text := j.text(p)
	order := [8]byte{}
	binary.BigEndian.PutUint16(order[:], uint16(utf8.RuneCountInString(text)))
	copy(order[2:], text)
	return binary.BigEndian.Uint64(order[:])
}

// queuedPair is a pair in the queue.
type queuedPair struct {
	order uint64
	pair  int32
}

// before reports whether p is joined before q if they are equally frequent.
func (j *joiner) before(p, q queuedPair) bool {
	if p.order != q.order {
		return p.order < q.order
	}
	if c := cmp.Compare(j.text(p.pair), j.text(q.pair)); c != 0 {
		return c < 0
	}
	return p.pair < q.pair
}
