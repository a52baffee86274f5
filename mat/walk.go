package mat

import "unsafe"

// region is rows of lines to prefetch, row bytes apart.
type region struct {
	first       prefetchAddress
	row         uintptr
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
	return walk{next: r.first + prefetchAddress(row)*prefetchAddress(r.row) + prefetchAddress(i*line), jump: r.row - uintptr(r.lines*line), left: r.lines - i, lines: r.lines}
}

// lookAhead makes strip n prefetch the A of the next strip, whose rows begin at i, then a part of
// the next block of B, in time for its first strip.
func (p *blockLoop) lookAhead(w *workspace, n, i, j, k0 int) {
	s := &w.strip
	s.walks = [2]walk{}
	if s.k < 4 {
		return
	}
	a, b := region{}, p.nextB()
	if i < p.i1 {
		a = p.nextA(w, n+1, i, j, k0)
	}
	panels, lines, fast := ceilDiv(s.n, p.panel.cols), p.pace(w, n), 0
	switch {
	case lines == 0:
		return
	case p.step.kernel.walksFast && s.m == p.step.kernel.rows && !p.packs(w, n) && p.rowStrips.strips*(panels*lines-a.count()) < 2*b.count():
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
func (p *blockLoop) pace(w *workspace, n int) int {
	each := p.step.kernel.walkPart
	switch {
	case p.packs(w, n):
		each = p.step.kernel.walkPacking
	case w.strip.m == p.step.kernel.rows:
		each = p.step.kernel.walkFull
	}
	return w.strip.k / max(each, 1) * min(each, 1)
}

// nextA returns the region of strip n of A, from row i on.
func (p *blockLoop) nextA(w *workspace, n, i, j, k0 int) region {
	a, k, m := &p.product.a, w.strip.k, p.rowStrips.rows(n)
	switch {
	case p.step.packA && j > p.j0:
		return regionOf(w.packedA[(i-p.i0)*k:], 0, 1, m*k)
	case p.step.packA:
		return regionOf(a.Data[i+k0*a.ColStride:], a.ColStride, k, m)
	case p.step.copyA && j > p.j0:
		return regionOf(p.copied(w, i), 0, 1, m*paddedStride(k))
	case a.ColStride == 1:
		return regionOf(a.Data[i*a.RowStride+k0:], a.RowStride, m, k)
	}
	return regionOf(a.Data[i+k0*a.ColStride:], a.ColStride, k, m)
}

// nextB returns the region of the next block of B.
func (p *blockLoop) nextB() region {
	b, x := &p.product.b, &p.next
	k, n := x.k1-x.k0, x.j1-x.j0
	switch {
	case n == 0:
		return region{}
	case p.product.packed != nil:
		panel := p.panel.panelFloats(p.product.a.Cols)
		return regionOf(p.product.packed[x.j0/p.panel.cols*panel+x.k0*p.panel.cols:], panel, ceilDiv(n, p.panel.cols), k*p.panel.cols)
	case b.ColStride == 1:
		return regionOf(b.Data[x.k0*b.RowStride+x.j0:], b.RowStride, k, n)
	}
	return regionOf(b.Data[x.j0*b.ColStride+x.k0:], b.ColStride, n, k)
}

// lookBelow makes a strip prefetch one line of each row of its panel of B, 16 rows ahead.
// Processors fetch the other line with it. Rows after the last one do no harm.
func (p *blockLoop) lookBelow(w *workspace, j, k0 int) {
	const rows = 16
	s, row := &w.strip, uintptr(p.product.b.RowStride)*size
	r := region{address(p.product.b.Data[j:]) + prefetchAddress(k0+rows)*prefetchAddress(row), row, s.k, 1}
	s.walks[0] = r.walkFrom(0)
	s.walks[0].panels = 1
}

// address returns the address of x for prefetching.
func address(x []float32) prefetchAddress {
	return prefetchAddress(unsafe.Pointer(unsafe.SliceData(x)))
}
