package merges

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
)

const (
	cacheSlots = 1 << 14
	maxWord    = 32 // bytes of a word in a Cache; longer ones are rare
	maxIDs     = 16 // of a word
)

// Cache is a hash table of words with their ids, each in one of two slots. It keeps the first words
// that it is given, which the most frequent ones are among, so that encoding allocates nothing once
// its 2 MB are full. It is safe for concurrent use, and lookups never wait.
type Cache struct {
	seed  maphash.Seed
	slots [cacheSlots]atomic.Pointer[cached]
}

type cached struct {
	word string
	ids  []int32
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{seed: maphash.MakeSeed()} }

// slotsOf returns the slots of a word.
func (c *Cache) slotsOf(word []byte) [2]*atomic.Pointer[cached] {
	hash := maphash.Bytes(c.seed, word)
	return [2]*atomic.Pointer[cached]{&c.slots[hash%cacheSlots], &c.slots[hash>>32%cacheSlots]}
}

// Find appends the ids of a word to dst. ok is false if the cache lacks it.
func (c *Cache) Find(dst []int32, word []byte) (ids []int32, ok bool) {
	if len(word) > maxWord {
		return dst, false
	}
	for _, s := range c.slotsOf(word) {
		if x := s.Load(); x != nil && x.word == string(word) {
			return append(dst, x.ids...), true
		}
	}
	return dst, false
}

// Store remembers the ids of a word, unless they are too long or other words have its slots.
func (c *Cache) Store(word []byte, ids []int32) {
	if len(word) > maxWord || len(ids) > maxIDs {
		return
	}
	for _, s := range c.slotsOf(word) {
		if s.Load() == nil {
			s.Store(&cached{string(word), slices.Clone(ids)})
			return
		}
	}
}
