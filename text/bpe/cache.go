package bpe

import (
	"hash/maphash"
	"sync"
)

const (
	cacheSlots   = 1 << 15
	cacheMaxWord = 32 // bytes, and therefore ids; longer words are rare
)

// wordCache is a direct-mapped cache of the ids of recent words. Its 6 MB are allocated once, so
// that encoding allocates nothing. It is safe for concurrent use: a slot in use by another
// goroutine is a miss, so that lookups never wait.
type wordCache struct {
	seed  maphash.Seed
	slots []cacheSlot
}

type cacheSlot struct {
	mu   sync.Mutex
	n, m uint8 // lengths of word and ids; 0 if the slot is empty
	word [cacheMaxWord]byte
	ids  [cacheMaxWord]int32
}

func (c *wordCache) init() {
	c.seed = maphash.MakeSeed()
	c.slots = make([]cacheSlot, cacheSlots)
}

// slot returns the slot of word, which may hold another word.
func (c *wordCache) slot(word []byte) *cacheSlot {
	return &c.slots[maphash.Bytes(c.seed, word)%cacheSlots]
}

// lookup appends the ids of word to dst if the slot holds them, and reports whether it does.
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

// store replaces the word of the slot, unless the new word is too long or the slot is in use.
func (s *cacheSlot) store(word []byte, ids []int32) {
	if len(word) > cacheMaxWord || !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.n, s.m = uint8(copy(s.word[:], word)), uint8(copy(s.ids[:], ids))
}
