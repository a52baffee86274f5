package merges

import (
	"hash/maphash"
	"sync"
)

const (
	cacheSlots = 1 << 14
	MaxWord    = 32 // bytes of a word in a Cache; longer ones are rare
	maxIDs     = 16 // of a word
)

// Cache is a hash table of the ids of recent words, with values, each word in one of two slots. Its
// 2 MB are allocated once, so that encoding allocates nothing. It is safe for concurrent use: a
// slot in use by another goroutine is a miss, so that lookups never wait.
type Cache[V any] struct {
	seed  maphash.Seed
	slots []slot[V]
}

type slot[V any] struct {
	mu    sync.Mutex
	n, m  uint8 // lengths of word and ids; 0 if the slot is empty
	word  [MaxWord]byte
	ids   [maxIDs]int32
	value V
}

// NewCache returns an empty cache.
func NewCache[V any]() *Cache[V] {
	return &Cache[V]{maphash.MakeSeed(), make([]slot[V], cacheSlots)}
}

// pair returns the slots of a word.
func (c *Cache[V]) pair(word []byte) (first, second *slot[V]) {
	hash := maphash.Bytes(c.seed, word)
	return &c.slots[hash%cacheSlots], &c.slots[hash>>32%cacheSlots]
}

// Find appends the ids of a word, which is not empty, to dst and returns its value. ok is false if
// the cache lacks it.
func (c *Cache[V]) Find(dst []int32, word []byte) (ids []int32, value V, ok bool) {
	if len(word) > MaxWord {
		return dst, value, false
	}
	first, second := c.pair(word)
	if ids, value, ok = first.find(dst, word); !ok {
		ids, value, ok = second.find(dst, word)
	}
	return ids, value, ok
}

func (s *slot[V]) find(dst []int32, word []byte) (ids []int32, value V, ok bool) {
	if !s.mu.TryLock() {
		return dst, value, false
	}
	defer s.mu.Unlock()
	if string(s.word[:s.n]) != string(word) {
		return dst, value, false
	}
	return append(dst, s.ids[:s.m]...), s.value, true
}

// Store remembers the ids and the value of a word, unless they are too long.
func (c *Cache[V]) Store(word []byte, ids []int32, value V) {
	if len(word) > MaxWord || len(ids) > maxIDs {
		return
	}
	first, second := c.pair(word)
	if !first.store(word, ids, value, false) {
		second.store(word, ids, value, true)
	}
}

// store stores a word in a slot that is empty, or any if replace is set, unless it is in use. It
// reports whether it did.
func (s *slot[V]) store(word []byte, ids []int32, value V, replace bool) bool {
	if !s.mu.TryLock() {
		return false
	}
	defer s.mu.Unlock()
	if s.n > 0 && !replace {
		return false
	}
	s.n, s.m, s.value = uint8(copy(s.word[:], word)), uint8(copy(s.ids[:], ids)), value
	return true
}
