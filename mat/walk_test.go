//go:build (amd64 || arm64) && !purego && !noasm

package mat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// addLines adds the next lines of the walk to a set, as the comment of walk says.
func (w walk) addLines(set map[uintptr]bool, count int) {
	for range count {
		set[w.next/line] = true
		if w.next += line; w.left == 1 {
			w.next, w.left = w.next+w.jump, w.lines+1
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
						x.packed = Pack(nil, b).panels
					}
					t.Run(fmt.Sprintf("aT=%v bT=%v packed=%v", aT, bT, packed), func(t *testing.T) { testLookAhead(t, &x) })
				}
			}
		}
	})
}

func testLookAhead(t *testing.T, x *product) {
	q := x.shape(1)
	plan := planBlock(&q, &machineLimits)
	m, n, k := x.c.Rows, x.c.Cols, x.a.Cols
	p := blockLoop{product: x, blockPlan: &plan, workspace: new(workspace), tile: tileFor(kernel, n), i1: m, j1: n}
	p.packedA = make([]float32, m*paddedStride(k)+padA)
	p.rowStrips = divideRows(m, p.tile.rows)
	p.jBlocks, p.lBlocks = ceilDiv(n, p.cols), ceilDiv(k, p.depth)
	if p.jBlocks*p.lBlocks < 2 {
		t.Fatalf("plan %+v has one block of B, want several", plan)
	}
	for block := range p.jBlocks*p.lBlocks - 1 {
		now, next := p.blockB(block), p.blockB(block+1)
		p.next, p.walked = next, 0
		p.s.k, p.s.n = now.l1-now.l0, now.j1-now.j0
		fetchedB := map[uintptr]bool{}
		for strip, i := 0, 0; strip < p.rowStrips.strips; strip++ {
			p.s.m = p.rowStrips.rows(strip)
			i += p.s.m
			p.lookAhead(strip, i, now.j0, now.l0)
			lines := p.pace(strip)
			if p.s.walks[0].fast+p.s.walks[1].fast > 0 {
				lines = p.s.k &^ 3
			}
			p.s.walks[1].addLines(fetchedB, p.s.walks[1].panels*lines)
			if used := p.s.walks[0].panels + p.s.walks[1].panels; used > ceilDiv(p.s.n, p.tile.cols) {
				t.Fatalf("strip %d: walks of %d panels, it has %d", strip, used, ceilDiv(p.s.n, p.tile.cols))
			}
			if i == m || lines == 0 {
				continue
			}
			fetchedA, a := map[uintptr]bool{}, p.nextA(strip+1, i, now.j0, now.l0)
			p.s.walks[0].addLines(fetchedA, p.s.walks[0].panels*lines)
			expectLines(t, fmt.Sprintf("block %d, strip %d, A", block, strip), fetchedA, a)
		}
		expectLines(t, fmt.Sprintf("block %d, the next B", block), fetchedB, p.nextB())
	}
}

// expectLines fails if a line of the region is not in the set.
func expectLines(t *testing.T, name string, set map[uintptr]bool, want region) {
	t.Helper()
	for row := range want.rows {
		for i := range want.lines {
			if !set[(want.first+uintptr(row)*want.row)/line+uintptr(i)] {
				t.Fatalf("%s: line %d of row %d is not prefetched (%d of %d lines are)", name, i, row, len(set), want.count())
			}
		}
	}
}
