//go:build (amd64 || arm64) && !purego && !noasm

package mat

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// within reports whether address points into x.
func within(address uintptr, x []float32) bool {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	return address >= first && address < first+uintptr(len(x))*size
}

// A strip prefetches the memory that is read or packed next. That is never B itself if B is packed.
func TestPrefetch(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		if kernel == generic {
			t.Skip("portable kernels: no prefetch")
		}
		r := rand.New(rand.NewPCG(11, 12))
		const m, n, k = 150, 200, 600
		a, b := operand(r, m, k, false, normal), operand(r, k, n, false, normal)
		w := Pack(nil, b)
		for _, packed := range [][]float32{nil, w.panels} {
			x := product{c: New(m, n), a: a, b: b, packed: packed}
			q := x.shape(1)
			plan := planBlock(&q, &machineLimits)
			p := blockLoop{product: &x, blockPlan: &plan, tile: tileFor(kernel, n), i1: m, j1: n}
			p.rowStrips = divideRows(m, p.tile.rows)
			p.s.n = p.cols
			fetched := map[string]int{}
			for l := 0; l < k; l += p.depth {
				p.s.k = min(p.depth, k-l)
				p.lastDepth = l+p.s.k == k
				for strip, i := 0, 0; strip < p.rowStrips.strips; strip++ {
					i += p.rowStrips.rows(strip)
					p.setPrefetch(strip, i, 0, l)
					switch ahead := p.s.ahead; {
					case ahead == 0:
						fetched["nothing"]++
					case within(ahead, packed):
						fetched["packed B"]++
					case within(ahead, b.Data):
						fetched["B"]++
					case within(ahead, a.Data):
						fetched["A"]++
					default:
						t.Errorf("strip %d at k = %d prefetches another address", strip, l)
					}
				}
			}
			if (fetched["B"] > 0) != (packed == nil) || (fetched["packed B"] > 0) != (packed != nil) || fetched["A"] == 0 {
				t.Errorf("packed %v: the strips prefetch %v, want A and one form of B", packed != nil, fetched)
			}
		}
	})
}
