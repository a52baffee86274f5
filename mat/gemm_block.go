//go:build (amd64 || arm64) && !purego && !noasm

package mat

import "sync"

// Blocking, after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008: a strip
// of a few rows of C is computed in registers, from a panel of B that stays in the first-level cache while
// strip after strip passes by. Chains are cut along k only by storing and loading C, so that no choice
// made here shows in the result.

// tile is the shape of a kernel, and the sizes of blocks that suit it.
type tile struct {
	rows, cols int // of C in registers; cols is a power of 2
	depth      int // k of a block
	high       int // rows of A in a block
	wide       int // columns of B in a block
}

// strip is one call of a kernel: C = or += A·B for m rows, at most those of a tile, and n columns, in
// panels of as many columns as a tile has:
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l*aK], b[j/cols*bPanel+l*bK+j%cols], x)
//			}
//			if bias != nil {
//				x += bias[j]
//			}
//			if relu != 0 && x < 0 {
//				x = 0
//			}
//			c[i*cRow+j] = x
//		}
//	}
//
// Its strides count bytes. Whole panels of B are read; of C, A and bias only what is named here. The C that the next
// call will need begins next bytes from c, and is fetched in the meantime.
type strip struct {
	c, a, b, bias    *float32
	cRow, aRow, aK   uintptr
	next             uintptr
	bK, bPanel       uintptr
	m, n, k          int
	accumulate, relu int
}

const (
	size = 4 // bytes of a float32

	fewRows  = 128     // so many rows of C or less read B where it is, if its rows are contiguous
	fewCols  = 32      // so many columns of C or less, or a B half as large as resident, read A where it is, whatever its strides
	shallow  = 32      // k of a block where B is read in place: so many rows are read side by side
	resident = 4 << 10 // numbers of B that stay in the first-level cache
	padB     = 8       // a transposed panel is written in so many rows at once
	padA     = 16      // a copied row of a panel may be written with so many numbers too many
)

// workspace is packed blocks of A and B.
type workspace struct{ packedA, packedB []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// evenly is the size of the fewest equal parts of n, none larger than most.
func evenly(n, most int) int {
	if n <= most {
		return n
	}
	parts := (n + most - 1) / most
	return (n + parts - 1) / parts
}

// grown is x with at least n numbers.
func grown(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}

// block computes rows [i0, i1) and columns [j0, j1) of C.
func (t *product) block(i0, i1, j0, j1 int) {
	if kernel == generic || t.a.Cols == 0 {
		t.blockGeneric(i0, i1, j0, j1)
		return
	}
	m, n, k := i1-i0, j1-j0, t.a.Cols
	p := pass{product: t, tile: tileFor(n)}
	p.packA = t.a.ColStride != 1 && t.a.RowStride == 1 && n > fewCols && n*k > resident/2
	p.packB = t.b.ColStride != 1 && n > 1 || m > fewRows

	high, wide, depth := m, n, k
	if p.packB {
		high, wide, depth = evenly(m, p.high), ceil(evenly(n, p.wide), p.tile.cols), evenly(k, p.depth)
	} else if k*n > 2*resident {
		depth = evenly(k, shallow)
	}
	if edge := n % p.tile.cols; p.packA || p.packB || edge != 0 {
		w := workspaces.Get().(*workspace)
		defer workspaces.Put(w)
		p.workspace = w
		if p.packA {
			p.packedA = grown(p.packedA, high*depth+padA)
		}
		width := p.tile.cols
		if p.packB {
			width = ceil(wide, p.tile.cols)
		}
		p.packedB = grown(p.packedB, width*ceil(depth, padB))
	}

	p.s.cRow = uintptr(t.c.RowStride) * size
	for j := j0; j < j1; j += wide {
		for l := 0; l < k; l += depth {
			p.s.k = min(depth, k-l)
			p.last = l+p.s.k == k
			p.s.accumulate = flag(t.o.Accumulate || l > 0)
			p.s.relu = flag(t.o.Activation == ReLU && p.last)
			for i := i0; i < i1; i += high {
				p.run(i, min(i+high, i1), j, min(j+wide, j1), l, i == i0)
			}
		}
	}
}

// pass is the work on a block of C over a part of k.
type pass struct {
	*product
	*tile
	*workspace
	packA, packB bool
	last         bool // part of k
	s            strip
}

// run computes rows [i0, i1) and columns [j0, j1) of C over s.k from l on. What is packed of B is packed the
// first time.
func (p *pass) run(i0, i1, j0, j1, l int, first bool) {
	s, b := &p.s, &p.b
	rows := divideRows(i1-i0, p.tile.rows)
	if p.packA {
		p.copyA(i0, l, rows)
	}
	panel := p.tile.cols * ceil(s.k, padB) // numbers of a packed panel
	step := max(p.tile.cols, resident/s.k&-p.tile.cols)
	for j := j0; j < j1; j += s.n {
		s.n = min(step, j1-j)
		if p.packB || s.n < p.tile.cols {
			packed := p.packedB
			if p.packB {
				packed = packed[(j-j0)/p.tile.cols*panel:]
			}
			if first {
				p.copyB(packed, panel, j, l)
			}
			s.b, s.bK, s.bPanel = &packed[0], uintptr(p.tile.cols)*size, uintptr(panel)*size
		} else {
			s.n &= -p.tile.cols
			s.b, s.bK, s.bPanel = &b.Data[l*b.RowStride+j], uintptr(b.RowStride)*size, uintptr(p.tile.cols)*size
		}
		if s.bias = nil; p.o.Bias != nil && p.last {
			s.bias = &p.o.Bias[j]
		}
		p.strips(i0, j, l, rows)
	}
	if p.last {
		p.o.finish(p.c, i0, i1, j0, j1)
	}
}

// strips computes the strips of rows from row i on, and of s.n columns from column j on.
func (p *pass) strips(i, j, l int, rows division) {
	s, a, c := &p.s, &p.a, &p.c
	for n, done := 0, 0; n < rows.parts; n++ {
		s.m = rows.part(n)
		s.c = &c.Data[(i+done)*c.RowStride+j]
		if p.packA {
			s.a, s.aRow, s.aK = &p.packedA[done*s.k], size, uintptr(s.m)*size
		} else {
			s.a = &a.Data[(i+done)*a.RowStride+l*a.ColStride]
			s.aRow, s.aK = uintptr(a.RowStride)*size, uintptr(a.ColStride)*size
		}
		if s.next = uintptr(s.m) * s.cRow; n+1 == rows.parts {
			s.next = uintptr(s.n)*size - uintptr(done)*s.cRow // the first one of the columns that follow
		}
		p.tile.run(s)
		done += s.m
	}
}

// copyA packs rows of A, whose columns are contiguous, as strips will read them.
func (p *pass) copyA(i, l int, rows division) {
	a := &p.a
	for n, done := 0, 0; n < rows.parts; n++ {
		m := rows.part(n)
		copyPanel(&p.packedA[done*p.s.k], uintptr(m)*size, &a.Data[i+done+l*a.ColStride], uintptr(a.ColStride)*size, m, p.s.k)
		done += m
	}
}

// copyB packs s.n columns of B from column j on as panels, each of so many numbers.
func (p *pass) copyB(packed []float32, panel, j, l int) {
	b, k := &p.b, uintptr(p.tile.cols)*size
	for n := 0; n < p.s.n; n += p.tile.cols {
		to, w := &packed[n/p.tile.cols*panel], min(p.s.n-n, p.tile.cols)
		if b.ColStride == 1 || b.Cols == 1 {
			copyPanel(to, k, &b.Data[l*b.RowStride+j+n], uintptr(b.RowStride)*size, w, p.s.k)
		} else {
			transposePanel(to, k, &b.Data[l+(j+n)*b.ColStride], uintptr(b.ColStride)*size, w, p.s.k)
		}
	}
}

// division is rows divided evenly into strips, for the fewer rows a strip has the less it makes of what it reads.
type division struct{ parts, least, more int }

func divideRows(n, most int) division {
	parts := (n + most - 1) / most
	return division{parts, n / parts, n % parts}
}

// part is the size of part i.
func (d division) part(i int) int {
	if i < d.more {
		return d.least + 1
	}
	return d.least
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
