// Package dropout draws whether merges of byte-pair encoding are dropped (BPE-dropout), for the
// tokenizers of package text. It imports only the standard library.
package dropout

import (
	"fmt"
	"math/rand/v2"
)

// Merges draws whether merges are dropped. The draws are the same on every machine.
type Merges struct {
	random *rand.PCG
	below  uint64 // p·2^53 as an integer, so that draws do not depend on rounding
}

// New returns a Merges that drops each merge with probability p, or nil if p is 0. It panics if p
// is not in [0, 1].
func New(p float64, random *rand.PCG) *Merges {
	if !(p >= 0 && p <= 1) {
		panic(fmt.Sprintf("dropout probability %v, expected 0 to 1", p))
	}
	if p == 0 {
		return nil
	}
	return &Merges{random, uint64(p * (1 << 53))}
}

// Next draws for one merge and reports whether it is dropped.
func (m *Merges) Next() bool { return m.random.Uint64()>>11 < m.below }

// Any draws for up to n merges and reports whether one is dropped. If so, it restores the state of
// the random numbers, so that an encoding that drops merges draws the same.
func (m *Merges) Any(n int) bool {
	state := *m.random
	for range n {
		if m.Next() {
			*m.random = state
			return true
		}
	}
	return false
}
