// Package hash has hashes of numbers and texts that are the same in every run and on every machine,
// which those of package hash/maphash are not. They do not resist attacks. It imports only the
// standard library.
package hash

import "math/bits"

// Mix maps a number to one whose bits all depend on all of its bits.
func Mix(x uint64) uint64 {
	x ^= 0x9E3779B97F4A7C15
	hi, lo := bits.Mul64(x, 0xD6E8FEB86659FD93)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}

// Combine returns the hash of two hashes in order.
func Combine(a, b uint64) uint64 { return Mix(bits.RotateLeft64(a, 32) ^ b) }

// Text returns a hash of s, which is UTF-8, and its number of characters. The two together take
// little more time than one of them.
func Text(s string) (h uint64, characters int) {
	h = uint64(len(s))
	characters = len(s)
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = Mix(h ^ x)
		characters -= continuations(x)
	}
	var end uint64
	for i := range len(s) {
		end |= uint64(s[i]) << (8 * i)
	}
	return Mix(h ^ end), characters - continuations(end)
}

// continuations returns the number of bytes of x that begin no character: 10xxxxxx.
func continuations(x uint64) int {
	return bits.OnesCount64(x >> 7 &^ (x >> 6) & 0x0101010101010101)
}

// Pair returns the hash of a source and its target.
func Pair(source, target string) uint64 {
	a, _ := Text(source)
	b, _ := Text(target)
	return Combine(a, b)
}
