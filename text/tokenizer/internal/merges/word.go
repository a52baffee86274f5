package merges

import "math"

// None is the index of no symbol, and the id of text that no merge has.
const None = -1

// noRank is the rank of no merge.
const noRank = math.MaxInt32

// Symbol is an element of a Word, in a list linked by index.
type Symbol struct {
	ID     int32 // a negative one takes part in no merge
	Length int32 // bytes
	Next   int32 // or None

	prev  int32 // or None
	merge Merge // with the next symbol
}

// Word is the symbols of a word while merges are applied to it. The first symbol remains at index
// 0. A Word is reusable, and not safe for concurrent use.
type Word struct {
	Symbols []Symbol

	// Proposed is called with each merge that two symbols could make, unless it is nil.
	Proposed func(left, right *Symbol, m Merge)

	table   *Table
	queue   Queue[struct{}] // keys: rank<<32 | index of the left symbol; some are stale
	applied []int32         // symbols that were merged in this step
}

// NewWord returns a Word without symbols, for the merges of a table.
func NewWord(t *Table) *Word {
	return &Word{table: t, queue: Queue[struct{}]{Before: func(a, b struct{}) bool { return false }}}
}

// Reset removes all symbols.
func (w *Word) Reset() { w.Symbols = w.Symbols[:0] }

// Append appends a symbol.
func (w *Word) Append(id int32, length int) {
	n := int32(len(w.Symbols))
	w.Symbols = append(w.Symbols, Symbol{ID: id, Length: int32(length), prev: n - 1, Next: n + 1})
}

// Apply applies merges until none is left, each step the first of the smallest rank, or if all, all
// of that rank from left to right, which makes a difference if a merge can have a smaller rank than
// those that make its symbols. A word of n symbols takes O(n log n) time: it has at most n-1
// merges, and each adds at most two to the queue.
func (w *Word) Apply(all bool) {
	w.Symbols[len(w.Symbols)-1].Next = None
	w.queue.Reset()
	for i := range w.Symbols {
		w.propose(int32(i))
	}
	for w.queue.Len() > 0 {
		rank := w.queue.FirstKey() >> 32
		i, ok := w.take()
		if !ok {
			continue
		}
		w.applied = append(w.applied[:0], i)
		for all && w.queue.Len() > 0 && w.queue.FirstKey()>>32 == rank {
			if i, ok = w.take(); ok {
				w.applied = append(w.applied, i)
			}
		}
		last := int32(None)
		for _, i := range w.applied {
			if prev := w.Symbols[i].prev; prev != last { // else it was proposed
				w.propose(prev)
			}
			w.propose(i)
			last = i
		}
	}
}

// take removes the first merge from the queue and applies it at symbol i. ok is false if it is
// stale.
func (w *Word) take() (i int32, ok bool) {
	key, _ := w.queue.Pop()
	i = int32(key)
	if int64(w.Symbols[i].merge.Rank) != key>>32 {
		return i, false
	}
	w.join(i)
	return i, true
}

// propose adds the merge of a symbol with the next one to the queue.
func (w *Word) propose(i int32) {
	if i == None {
		return
	}
	left := &w.Symbols[i]
	left.merge.Rank = noRank
	if left.Next == None || left.ID < 0 {
		return
	}
	right := &w.Symbols[left.Next]
	if right.ID < 0 {
		return
	}
	if m, ok := w.table.Find(left.ID, right.ID); ok {
		left.merge = m
		if w.Proposed != nil {
			w.Proposed(left, right, m)
		}
		w.queue.Push(int64(m.Rank)<<32|int64(i), struct{}{})
	}
}

// join replaces a symbol and the next one by what they make.
func (w *Word) join(i int32) {
	left := &w.Symbols[i]
	right := &w.Symbols[left.Next]
	left.ID = left.merge.ID
	left.Length += right.Length
	left.Next = right.Next
	if left.Next != None {
		w.Symbols[left.Next].prev = i
	}
	left.merge.Rank, right.merge.Rank = noRank, noRank
}
