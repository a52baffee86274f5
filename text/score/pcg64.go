package score

import "math/bits"

// pcg64 generates the random numbers of numpy.random.default_rng: the generator PCG64 (XSL-RR
// 128/64; O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
// for Random Number Generation"), seeded by SeedSequence. It follows numpy 2's
// numpy/random/src/pcg64/pcg64.h, numpy/random/src/distributions/distributions.c and
// numpy/random/bit_generator.pyx. Generators in math/rand/v2 have other outputs.
type pcg64 struct {
	state, increment uint128
	half             uint32 // upper half of the last output, if hasHalf
	hasHalf          bool
}

type uint128 struct{ hi, lo uint64 }

func (x uint128) add(y uint128) uint128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return uint128{hi, lo}
}

func (x uint128) mul(y uint128) uint128 {
	hi, lo := bits.Mul64(x.lo, y.lo)
	return uint128{hi + x.hi*y.lo + x.lo*y.hi, lo}
}

// newPCG64 returns the generator of numpy.random.default_rng(seed).
func newPCG64(seed uint64) *pcg64 {
	words := seedWords(seed)
	stream := uint128{words[2], words[3]}
	g := &pcg64{increment: stream.add(stream).add(uint128{lo: 1})}
	g.step()
	g.state = g.state.add(uint128{words[0], words[1]})
	g.step()
	return g
}

// seedWords returns numpy's SeedSequence(seed).generate_state(4, uint64).
func seedWords(seed uint64) (words [4]uint64) {
	constant := uint32(0x43b0d7e5)
	hash := func(x, factor uint32) uint32 {
		x ^= constant
		constant *= factor
		x *= constant
		return x ^ x>>16
	}
	var pool [4]uint32
	entropy := [len(pool)]uint32{uint32(seed), uint32(seed >> 32)}
	for i := range pool {
		pool[i] = hash(entropy[i], 0x931e8875)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				x := 0xca01f9dd*pool[to] - 0x4973f715*hash(pool[from], 0x931e8875)
				pool[to] = x ^ x>>16
			}
		}
	}
	constant = 0x8b51f9dd
	for i := range 2 * len(words) {
		words[i/2] |= uint64(hash(pool[i%len(pool)], 0x58f38ded)) << (32 * (i % 2))
	}
	return words
}

func (g *pcg64) step() {
	g.state = g.state.mul(uint128{0x2360ed051fc65da4, 0x4385df649fccf645}).add(g.increment)
}

func (g *pcg64) uint64() uint64 {
	g.step()
	return bits.RotateLeft64(g.state.hi^g.state.lo, -int(g.state.hi>>58))
}

// uint32 returns the lower half of an output and then its upper half.
func (g *pcg64) uint32() uint32 {
	if g.hasHalf {
		g.hasHalf = false
		return g.half
	}
	x := g.uint64()
	g.half, g.hasHalf = uint32(x>>32), true
	return uint32(x)
}

// choose fills dst with numbers below n, as numpy's Generator.choice(n, len(dst)) does (Lemire
// 2019, "Fast Random Integer Generation in an Interval"). For n of 1 numpy draws nothing.
func (g *pcg64) choose(dst []uint32, n uint32) {
	if n == 1 {
		clear(dst)
		return
	}
	minimum := -n % n // products whose lower half is smaller would make some numbers more likely
	for i := range dst {
		product := uint64(g.uint32()) * uint64(n)
		for uint32(product) < minimum {
			product = uint64(g.uint32()) * uint64(n)
		}
		dst[i] = uint32(product >> 32)
	}
}

// coins draws booleans as one call of numpy's Generator.integers(2, dtype=bool) does: the bits of
// 32-bit numbers from the lowest to the highest.
type coins struct {
	from   *pcg64
	bits   uint32
	unused int // number of bits
}

// flip sets the first n bits of dst.
func (c *coins) flip(dst []uint64, n int) {
	clear(dst)
	for i := 0; i < n; {
		if c.unused == 0 {
			c.bits, c.unused = c.from.uint32(), 32
		}
		count := min(c.unused, n-i, 64-i%64)
		dst[i/64] |= uint64(c.bits) & (1<<count - 1) << (i % 64)
		c.bits >>= count
		c.unused -= count
		i += count
	}
}
