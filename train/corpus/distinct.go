package corpus

import "math/bits"

// hash returns a hash of s, the same in every run, and the number of characters of s, which is
// UTF-8. The two together take little more time than one of them.
func hash(s string) (h uint64, characters int) {
	h = uint64(len(s))
	characters = len(s)
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = mix(h ^ x)
		characters -= continuations(x)
	}
	var end uint64
	for i := range len(s) {
		end |= uint64(s[i]) << (8 * i)
	}
	return mix(h ^ end), characters - continuations(end)
}

// continuations returns the number of bytes of x that begin no character: 10xxxxxx.
func continuations(x uint64) int {
	return bits.OnesCount64(x >> 7 &^ (x >> 6) & 0x0101010101010101)
}

// hashPair returns the hash of a pair from the hashes of its sides.
func hashPair(source, target uint64) uint64 { return mix(bits.RotateLeft64(source, 32) ^ target) }

// mix maps a number to one whose bits all depend on all of its bits.
func mix(x uint64) uint64 {
	x ^= 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(x, 0xD6E8FEB86659FD93)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}

// hashTable is a set of hashes, in a table with linear probing. 0 is a free slot.
type hashTable []uint64

// newHashTable returns a table for n hashes, at most half full.
func newHashTable(n int) hashTable { return make(hashTable, 1<<bits.Len(uint(2*n-1))) }

// slot returns the index of h, or of the free slot for it.
func (t hashTable) slot(h uint64) int {
	mask := len(t) - 1
	i := int(h) & mask
	for t[i] != 0 && t[i] != h {
		i = (i + 1) & mask
	}
	return i
}

// distinct counts distinct hashes in bounded memory: the hashes whose first bits are 0, as many
// bits as keep their number below maxDistinct (Bar-Yossef et al. 2002, "Counting Distinct Elements
// in a Data Stream", algorithm 2). The zero value is ready to use.
type distinct struct {
	table hashTable
	n     int
	bits  int // first bits that are 0
}

// maxDistinct is the number of distinct hashes up to which their count is exact. Above it about
// half as many or more are in the table, so that the standard deviation of the count is about
// 1.5 %. The table fits into a processor's cache.
const maxDistinct = 1 << 13

// add adds a hash.
func (d *distinct) add(h uint64) {
	if h>>(64-d.bits) != 0 {
		return
	}
	if d.table == nil {
		d.table = newHashTable(maxDistinct)
	}
	i := d.table.slot(h)
	if d.table[i] != 0 || h == 0 {
		return
	}
	if d.n == maxDistinct {
		d.halve()
		d.add(h)
		return
	}
	d.table[i] = h
	d.n++
}

// halve keeps the hashes with one more first bit that is 0.
func (d *distinct) halve() {
	hashes := d.table
	d.table, d.n = newHashTable(maxDistinct), 0
	d.bits++
	for _, h := range hashes {
		if h != 0 {
			d.add(h)
		}
	}
}

// count returns the number of distinct hashes.
func (d *distinct) count() int { return d.n << d.bits }
