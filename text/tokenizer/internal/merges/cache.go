package merges

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
)

const (
	cacheSlots = 1 << 14
	MaxWord    = 32 // bytes of a word in a Cache; longer ones are rare
	maxIDs     = 16 // of a word
)

// Cache is a hash table of the ids of recent words, each with a value of the caller, each word in
// one of two slots. Its 2 MB are allocated once, so that encoding allocates nothing. It is safe for
// concurrent use: a slot that another goroutine writes is a miss, so that lookups never wait.
type Cache struct {
	seed  maphash.Seed
	slots []slot
}

// slot is a word and its ids. A reader discards what it read if the version changed meanwhile.
type slot struct {
	version atomic.Uint32 // of the other fields, odd while they are written
	lengths atomic.Uint32 // of the word | of the ids<<8; 0 if the slot is empty
	value   atomic.Uint64
	word    [MaxWord / 8]atomic.Uint64
	ids     [maxIDs / 2]atomic.Uint64
}

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{maphash.MakeSeed(), make([]slot, cacheSlots)} }

// pair returns the slots of a word.
func (c *Cache) pair(word []byte) (first, second *slot) {
	hash := maphash.Bytes(c.seed, word)
	return &c.slots[hash%cacheSlots], &c.slots[hash>>32%cacheSlots]
}

// pack returns a word as numbers, with zeros after it.
func pack(word []byte) (packed [MaxWord / 8]uint64) {
	var b [MaxWord]byte
	copy(b[:], word)
	for i := range packed {
		packed[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return packed
}

// Find appends the ids of a word, which is not empty, to dst and returns its value. ok is false if
// the cache lacks it.
func (c *Cache) Find(dst []int32, word []byte) (ids []int32, value uint64, ok bool) {
	if len(word) > MaxWord {
		return dst, 0, false
	}
	packed := pack(word)
	first, second := c.pair(word)
	if ids, value, ok = first.find(dst, len(word), &packed); !ok {
		ids, value, ok = second.find(dst, len(word), &packed)
	}
	return ids, value, ok
}

func (s *slot) find(dst []int32, n int, word *[MaxWord / 8]uint64) (ids []int32, value uint64, ok bool) {
	version, lengths := s.version.Load(), s.lengths.Load()
	if version&1 != 0 || int(lengths&0xFF) != n {
		return dst, 0, false
	}
	for i := range (n + 7) / 8 {
		if s.word[i].Load() != word[i] {
			return dst, 0, false
		}
	}
	ids = dst
	for i := range lengths >> 8 {
		ids = append(ids, int32(s.ids[i/2].Load()>>(i&1*32)))
	}
	value = s.value.Load()
	if s.version.Load() != version {
		return dst, 0, false
	}
	return ids, value, true
}

// Store remembers the ids and the value of a word, unless they are too long.
func (c *Cache) Store(word []byte, ids []int32, value uint64) {
	if len(word) > MaxWord || len(ids) > maxIDs {
		return
	}
	first, second := c.pair(word)
	if first.lengths.Load() == 0 {
		first.store(word, ids, value)
	} else {
		second.store(word, ids, value)
	}
}

// store replaces the word of a slot, unless another goroutine writes it.
func (s *slot) store(word []byte, ids []int32, value uint64) {
	version := s.version.Load()
	if version&1 != 0 || !s.version.CompareAndSwap(version, version+1) {
		return
	}
	packed := pack(word)
	for i := range (len(word) + 7) / 8 {
		s.word[i].Store(packed[i])
	}
	for i := 0; i < len(ids); i += 2 {
		two := uint64(uint32(ids[i]))
		if i+1 < len(ids) {
			two |= uint64(ids[i+1]) << 32
		}
		s.ids[i/2].Store(two)
	}
	s.value.Store(value)
	s.lengths.Store(uint32(len(word) | len(ids)<<8))
	s.version.Store(version + 2)
}
