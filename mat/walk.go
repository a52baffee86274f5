//go:build (amd64 || arm64) && !purego && !noasm

package mat

import "unsafe"

// walk is a region of memory that a strip prefetches, row by row: for the given number of panels
// the first walk, then the second.
//
//	next += line
//	if left--; left == 0 {
//		next, left = next+jump, lines
//	}
//
// A strip with all rows of the tile does so once for each 4 of k, or 4 times if fast is set, which
// needs a multiple of 4 lines. That for AVX2 does so for each k while it packs B. With fewer rows
// the kernel for AVX-512 does so for each k, and the others not at all.
type walk struct {
	next, jump          uintptr
	left, lines, panels int
	fast                int
}

// region is rows of lines to prefetch, row bytes apart.
type region struct {
	first, row  uintptr
	rows, lines int
}

// regionOf returns the region of rows × cols floats from x on, row floats apart.
func regionOf(x []float32, row, rows, cols int) region {
	first := address(x)
	return region{first, uintptr(row) * size, rows, ceilDiv(int(first%line)/size+cols, line/size)}
}

// count returns the lines of the region.
func (r *region) count() int { return r.rows * r.lines }

// walkFrom returns the walk that begins with the given line of the region.
func (r *region) walkFrom(n int) walk {
	row, i := n/r.lines, n%r.lines
	return walk{next: r.first + uintptr(row)*r.row + uintptr(i*line), jump: r.row - uintptr(r.lines*line), left: r.lines - i, lines: r.lines}
}

// lookAhead makes strip n prefetch the A of the next strip, whose rows begin at i, then a part of
// the next block of B, in time for its first strip.
func (p *blockLoop) lookAhead(n, i, j, l int) {
	s := &p.s
	s.walks = [2]walk{}
	if s.k < 4 {
		return
	}
	a, b := region{}, p.nextB()
	if i < p.i1 {
		a = p.nextA(n+1, i, j, l)
	}
	panels, lines, fast := ceilDiv(s.n, p.tile.cols), p.pace(n), 0
	switch {
	case lines == 0:
		return
	case p.tile == &tiles[avx512] && s.m == p.tile.rows && p.rowStrips.strips*(panels*lines-a.count()) < 2*b.count():
		lines, fast = s.k&^3, 1
	}
	if a.rows > 0 {
		s.walks[0] = a.walkFrom(0)
		s.walks[0].panels, s.walks[0].fast = min(ceilDiv(a.count(), lines), panels), fast
		panels -= s.walks[0].panels
	}
	if panels > 0 && p.walked < b.count() && (p.rowStrips.strips-n)*panels*lines < 2*b.count() {
		s.walks[1] = b.walkFrom(p.walked)
		s.walks[1].panels, s.walks[1].fast = panels, fast
		p.walked += panels * lines
	}
}

// pace returns the lines that strip n prefetches for each panel, unless its walk is fast.
func (p *blockLoop) pace(n int) int {
	all, wide := p.s.m == p.tile.rows, p.tile == &tiles[avx512]
	switch {
	case all && (wide || !p.packs(n)):
		return p.s.k / 4
	case all || wide:
		return p.s.k
	}
	return 0
}

// nextA returns the region of strip n of A, from row i on.
func (p *blockLoop) nextA(n, i, j, l int) region {
	a, k, m := &p.a, p.s.k, p.rowStrips.rows(n)
	switch {
	case p.packA && j > p.j0:
		return regionOf(p.packedA[(i-p.i0)*k:], 0, 1, m*k)
	case p.packA:
		return regionOf(a.Data[i+l*a.ColStride:], a.ColStride, k, m)
	case p.copyA && j > p.j0:
		return regionOf(p.copied(i), 0, 1, m*paddedStride(k))
	case a.ColStride == 1:
		return regionOf(a.Data[i*a.RowStride+l:], a.RowStride, m, k)
	}
	return regionOf(a.Data[i+l*a.ColStride:], a.ColStride, k, m)
}

// nextB returns the region of the next block of B.
func (p *blockLoop) nextB() region {
	b, x := &p.b, &p.next
	k, n := x.l1-x.l0, x.j1-x.j0
	switch {
	case n == 0:
		return region{}
	case p.packed != nil:
		panel := p.tile.panelFloats(p.a.Cols)
		return regionOf(p.packed[x.j0/p.tile.cols*panel+x.l0*p.tile.cols:], panel, ceilDiv(n, p.tile.cols), k*p.tile.cols)
	case b.ColStride == 1:
		return regionOf(b.Data[x.l0*b.RowStride+x.j0:], b.RowStride, k, n)
	}
	return regionOf(b.Data[x.j0*b.ColStride+x.l0:], b.ColStride, n, k)
}

// lookBelow makes a strip prefetch one line of each row of its panel of B, 16 rows ahead.
// Processors fetch the other line with it. Rows after the last one do no harm.
func (p *blockLoop) lookBelow(j, l int) {
	const rows = 16
	s, row := &p.s, uintptr(p.b.RowStride)*size
	r := region{address(p.b.Data[j:]) + uintptr(l+rows)*row, row, s.k, 1}
	s.walks[0] = r.walkFrom(0)
	s.walks[0].panels = 1
}

// address returns the address of x for prefetching, which never faults.
func address(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }
