package clean

import "math/bits"

// mix maps a number to one whose bits all depend on all of its bits.
func mix(x uint64) uint64 {
	x ^= 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(x, 0xD6E8FEB86659FD93)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}

// combine returns the hash of two hashes in order.
func combine(a, b uint64) uint64 { return mix(bits.RotateLeft64(a, 32) ^ b) }

// hashText returns a hash of s, the same in every run.
func hashText(s string) uint64 {
	h := uint64(len(s))
	for ; len(s) >= 8; s = s[8:] {
		h = mix(h ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56))
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return mix(h ^ tail)
}

// hashWords returns a hash of words in which all numbers are equal, the same in every run.
func hashWords(words []word) uint64 {
	h := uint64(len(words))
	for _, w := range words {
		if w.isNumber() {
			w = anyNumber
		}
		h = mix(h ^ uint64(w))
	}
	return h
}

// hashCounts counts occurrences of hashes, in a table with linear probing. The zero value is ready
// to use.
type hashCounts struct {
	hashes []uint64 // 0: free
	counts []uint32
	n      int
}

// add counts an occurrence of h, and returns the number of those before it.
func (t *hashCounts) add(h uint64) int {
	if 2*t.n >= len(t.hashes) {
		t.grow()
	}
	h = max(h, 1)
	i := t.slot(h)
	if t.hashes[i] == 0 {
		t.hashes[i] = h
		t.n++
	}
	before := t.counts[i]
	t.counts[i] = before + min(1, ^before)
	return int(before)
}

// slot returns the index of h, or of the free slot for it.
func (t *hashCounts) slot(h uint64) int {
	mask := len(t.hashes) - 1
	i := int(h>>1) & mask
	for t.hashes[i] != 0 && t.hashes[i] != h {
		i = (i + 1) & mask
	}
	return i
}

// grow doubles the table.
func (t *hashCounts) grow() {
	old := *t
	size := max(1<<10, 2*len(old.hashes))
	t.hashes, t.counts = make([]uint64, size), make([]uint32, size)
	for i, h := range old.hashes {
		if h != 0 {
			j := t.slot(h)
			t.hashes[j], t.counts[j] = h, old.counts[i]
		}
	}
}
