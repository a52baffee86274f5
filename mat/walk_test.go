package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// addLines adds the next lines of the walk to a set, as the comment of walk says.
func (w walk) addLines(set map[prefetchAddress]bool, count int) {
	for range count {
		set[w.next/line] = true
		if w.next += line; w.left == 1 {
			w.next, w.left = w.next+prefetchAddress(w.jump), w.lines+1
		}
		w.left--
	}
}

// The strips of a block prefetch all of the next block of B, and each strip all of the A of the
// next one, if the block has enough panels for that.
func TestLookAhead(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		if kernel == generic {
			t.Skip("portable kernels: no prefetch")
		}
		r := rand.New(rand.NewPCG(11, 12))
		const m, n, k = 300, 768, 1280
		for _, aT := range []bool{false, true} {
			for _, bT := range []bool{false, true} {
				for _, packed := range []bool{false, true} {
					a, b := operand(r, m, k, aT, normal), operand(r, k, n, bT, normal)
					x := product{c: New(m, n), a: a, b: b}
					if packed {
						x.packed = Pack(nil, b).data
					}
					t.Run(fmt.Sprintf("aT=%v bT=%v packed=%v", aT, bT, packed), func(t *testing.T) { testLookAhead(t, &x) })
				}
			}
		}
	})
}

func testLookAhead(t *testing.T, x *product) {
	q := x.shape(1)
	s := q.stripsStep(&machineLimits)
	s.j1, s.k1 = x.c.Cols, x.a.Cols
	m, n, k := x.c.Rows, x.c.Cols, x.a.Cols
	p := blockLoop{product: x, step: &s, panel: stripKernel(kernel, n), i1: m, j1: n}
	w := new(workspace)
	w.packedA = make([]float32, m*paddedStride(k)+padA)
	p.rowStrips = divideRows(m, s.kernel.rows)
	p.jBlocks, p.kBlocks = ceilDiv(n, s.cols), ceilDiv(k, s.depth)
	if p.jBlocks*p.kBlocks < 2 {
		t.Fatalf("step %+v has one block of B, want several", s)
	}
	for block := range p.jBlocks*p.kBlocks - 1 {
		now, next := p.blockB(block), p.blockB(block+1)
		p.next, p.walked = next, 0
		w.strip.k, w.strip.n = now.k1-now.k0, now.j1-now.j0
		fetchedB := map[prefetchAddress]bool{}
		for strip, i := 0, 0; strip < p.rowStrips.strips; strip++ {
			w.strip.m = p.rowStrips.rows(strip)
			i += w.strip.m
			p.lookAhead(w, strip, i, now.j0, now.k0)
			lines := p.pace(w, strip)
			if w.strip.walks[0].fast+w.strip.walks[1].fast > 0 {
				lines = w.strip.k &^ 3
			}
			w.strip.walks[1].addLines(fetchedB, w.strip.walks[1].panels*lines)
			if used := w.strip.walks[0].panels + w.strip.walks[1].panels; used > ceilDiv(w.strip.n, p.panel.cols) {
				t.Fatalf("strip %d: walks of %d panels, it has %d", strip, used, ceilDiv(w.strip.n, p.panel.cols))
			}
			if i == m {
				continue
			}
			fetchedA, a := map[prefetchAddress]bool{}, p.nextA(w, strip+1, i, now.j0, now.k0)
			if ceilDiv(w.strip.n, p.panel.cols)*lines < a.count() { // too few panels
				continue
			}
			w.strip.walks[0].addLines(fetchedA, w.strip.walks[0].panels*lines)
			expectLines(t, fmt.Sprintf("block %d, strip %d, A", block, strip), fetchedA, a)
		}
		expectLines(t, fmt.Sprintf("block %d, the next B", block), fetchedB, p.nextB())
	}
}

// expectLines fails if a line of the region is not in the set.
func expectLines(t *testing.T, name string, set map[prefetchAddress]bool, want region) {
	t.Helper()
	for row := range want.rows {
		for i := range want.lines {
			if !set[(want.first+prefetchAddress(row)*prefetchAddress(want.row))/line+prefetchAddress(i)] {
				t.Fatalf("%s: line %d of row %d is not prefetched (%d of %d lines are)", name, i, row, len(set), want.count())
			}
		}
	}
}
