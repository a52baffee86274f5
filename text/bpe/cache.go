package bpe

import (
	"hash/maphash"
	"sync"
)

const (
	cacheSlots   = 1 << 15
	cacheMaxWord = 32 // bytes, and so ids; longer words are rare
)

// wordCache holds the ids of recent words in a fixed number of slots, one word each, chosen by
// hash. A new word replaces the one in its slot. The 6 MB are allocated once, so that encoding
// allocates nothing. It is safe for concurrent use: a slot that another goroutine is using counts
// as a miss, so nobody waits.
type wordCache struct {
	seed  maphash.Seed
	slots []cacheSlot
}

type cacheSlot struct {
	mu   sync.Mutex
	n, m uint8 // the lengths of word and ids; 0 for no word
	word [cacheMaxWord]byte
	ids  [cacheMaxWord]int32
}

func (c *wordCache) init() {
	c.seed = maphash.MakeSeed()
	c.slots = make([]cacheSlot, cacheSlots)
}

func (c *wordCache) slot(word []byte) *cacheSlot {
	return &c.slots[maphash.Bytes(c.seed, word)%cacheSlots]
}

// lookup appends the ids of word and reports whether the slot has them.
func (s *cacheSlot) lookup(dst []int32, word []byte) ([]int32, bool) {
	if len(word) > cacheMaxWord || !s.mu.TryLock() {
		return dst, false
	}
	defer s.mu.Unlock()
	if string(s.word[:s.n]) != string(word) {
		return dst, false
	}
	return append(dst, s.ids[:s.m]...), true
}

func (s *cacheSlot) store(word []byte, ids []int32) {
	if len(word) > cacheMaxWord || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.n, s.m = uint8(copy(s.word[:], word)), uint8(copy(s.ids[:], ids))
}
