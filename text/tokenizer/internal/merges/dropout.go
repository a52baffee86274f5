package merges

import (
	"fmt"
	"math/rand/v2"
)

// Dropout draws whether merges are dropped. The draws are the same on every machine.
type Dropout struct {
	random *rand.PCG
	below  uint64 // p·2^53 as an integer, so that draws do not depend on rounding
}

// NewDropout returns a Dropout that drops each merge with probability p, or nil if p is 0. It
// panics if p is not in [0, 1].
func NewDropout(p float64, random *rand.PCG) *Dropout {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("dropout probability %v, expected 0 to 1", p))
	}
	if p == 0 {
		return nil
	}
	return &Dropout{random, uint64(p * (1 << 53))}
}

// Next draws for one merge and reports whether it is dropped.
func (d *Dropout) Next() bool { return d.random.Uint64()>>11 < d.below }

// Any draws for up to n merges and reports whether one is dropped. If so, it restores the state of
// the random numbers, so that an encoding that drops merges draws the same.
func (d *Dropout) Any(n int) bool {
	state := *d.random
	for range n {
		if d.Next() {
			*d.random = state
			return true
		}
	}
	return false
}
