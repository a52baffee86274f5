package merges

import "math/rand/v2"

// Merge is what two adjacent symbols make.
type Merge struct {
	Rank int32 // merges of smaller ranks are applied first
	ID   int32 // of the new symbol
}

// Table is a hash table of merges by the two symbols they join. NewTable returns an empty one. It
// is safe for concurrent use by readers.
type Table struct {
	slots  []tableSlot // a power of two of them, at least 3 of 4 free
	size   int
	factor uint64 // of the hash; random, so that no file can make merges collide
	shift  int
}

// tableSlot is free if its merge has noRank.
type tableSlot struct {
	pair  uint64 // left<<32 | right
	merge Merge
}

// NewTable returns an empty table with room for n merges. More make it grow.
func NewTable(n int) *Table {
	t := &Table{factor: rand.Uint64() | 1}
	size := 4
	t.shift = 62
	for size < 4*n {
		size *= 2
		t.shift--
	}
	t.alloc(size)
	return t
}

func (t *Table) alloc(size int) {
	t.slots = make([]tableSlot, size)
	for i := range t.slots {
		t.slots[i].merge.Rank = noRank
	}
}

// slot returns the slot of a pair, or the free slot where it belongs.
func (t *Table) slot(pair uint64) *tableSlot {
	for i := int(pair * t.factor >> (t.shift & 63)); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.pair == pair || s.merge.Rank == noRank {
			return s
		}
	}
}

func pairOf(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// Find returns the merge of two symbols. ok is false if they have none.
func (t *Table) Find(left, right int32) (m Merge, ok bool) {
	m = t.slot(pairOf(left, right)).merge
	return m, m.Rank != noRank
}

// Add adds the merge of two symbols, unless they have one.
func (t *Table) Add(left, right int32, m Merge) {
	pair := pairOf(left, right)
	s := t.slot(pair)
	if s.merge.Rank != noRank {
		return
	}
	*s = tableSlot{pair, m}
	if t.size++; 4*t.size <= len(t.slots) {
		return
	}
	old := t.slots
	t.shift--
	t.alloc(2 * len(old))
	for _, s := range old {
		if s.merge.Rank != noRank {
			*t.slot(s.pair) = s
		}
	}
}
