package text

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

const (
	cacheSlots   = 1 << 15
	cacheMaxWord = 32 // bytes; longer words are rare and would only take room
)

// wordCache remembers the ids of words. It has a fixed number of slots, one
// word each, chosen by hash, and the newest word stays: at most some 5 MB. It
// is safe for concurrent use without locks.
type wordCache struct {
	seed  maphash.Seed
	slots []cacheSlot
}

type cacheSlot struct{ atomic.Pointer[cachedWord] }

type cachedWord struct {
	word string
	ids  []int32
}

func (c *wordCache) init() {
	c.seed = maphash.MakeSeed()
	c.slots = make([]cacheSlot, cacheSlots)
}

func (c *wordCache) slot(word []byte) *cacheSlot {
	return &c.slots[maphash.Bytes(c.seed, word)%cacheSlots]
}

func (s *cacheSlot) lookup(word []byte) ([]int32, bool) {
	if e := s.Load(); e != nil && e.word == string(word) {
		return e.ids, true
	}
	return nil, false
}

func (s *cacheSlot) store(word []byte, ids []int32) {
	if len(word) <= cacheMaxWord {
		s.Store(&cachedWord{string(word), slices.Clone(ids)})
	}
}
