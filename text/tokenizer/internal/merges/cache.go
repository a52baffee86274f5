package merges

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
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
	seed  uint64 // of the hash
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
func NewCache() *Cache { return &Cache{rand.Uint64(), make([]slot, cacheSlots)} }

// packedWord is a word of n bytes as numbers, of 8 bytes each; of the last ones some may overlap.
type packedWord struct {
	n     int
	parts [MaxWord / 8]uint64
}

// pack has no loop over bytes, because processors cannot predict its end.
func pack(word []byte) (p packedWord) {
	p.n = len(word)
	last := 0
	for ; len(word) > 8; word = word[8:] {
		p.parts[last] = binary.LittleEndian.Uint64(word)
		last++
	}
	if n := len(word); n >= 4 {
		p.parts[last] = uint64(binary.LittleEndian.Uint32(word)) | uint64(binary.LittleEndian.Uint32(word[n-4:]))<<32
	} else {
		p.parts[last] = uint64(word[0]) | uint64(word[n/2])<<8 | uint64(word[n-1])<<16
	}
	return p
}

// pair returns the slots of a word.
func (c *Cache) pair(word *packedWord) (first, second *slot) {
	a, b := bits.Mul64(word.parts[0]^c.seed, word.parts[1]+c.seed)
	d, e := bits.Mul64(word.parts[2]^c.seed, word.parts[3]+c.seed)
	hash := a ^ b ^ d ^ e
	return &c.slots[hash%cacheSlots], &c.slots[hash>>32%cacheSlots]
}

// Find appends the ids of a word, which is not empty, to dst and returns its value. ok is false if
// the cache lacks it.
func (c *Cache) Find(dst []int32, word []byte) (ids []int32, value uint64, ok bool) {
	if len(word) > MaxWord {
		return dst, 0, false
	}
	packed := pack(word)
	first, second := c.pair(&packed)
	if ids, value, ok = first.find(dst, &packed); !ok {
		ids, value, ok = second.find(dst, &packed)
	}
	return ids, value, ok
}

func (s *slot) find(dst []int32, word *packedWord) (ids []int32, value uint64, ok bool) {
	version, lengths := s.version.Load(), s.lengths.Load()
	if version&1 != 0 || int(lengths&0xFF) != word.n {
		return dst, 0, false
	}
	for i, x := range word.parts {
		if s.word[i].Load() != x {
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
	packed := pack(word)
	first, second := c.pair(&packed)
	if first.lengths.Load() == 0 {
		first.store(&packed, ids, value)
	} else {
		second.store(&packed, ids, value)
	}
}

// store replaces the word of a slot, unless another goroutine writes it.
func (s *slot) store(word *packedWord, ids []int32, value uint64) {
	version := s.version.Load()
	if version&1 != 0 || !s.version.CompareAndSwap(version, version+1) {
		return
	}
	for i, x := range word.parts {
		s.word[i].Store(x)
	}
	for i := 0; i < len(ids); i += 2 {
		two := uint64(uint32(ids[i]))
		if i+1 < len(ids) {
			two |= uint64(ids[i+1]) << 32
		}
		s.ids[i/2].Store(two)
	}
	s.value.Store(value)
	s.lengths.Store(uint32(word.n | len(ids)<<8))
	s.version.Store(version + 2)
}
