//go:build !purego && !noasm

package mat

import "sync"

// Blocking for AMX. It is so fast that reading and converting the operands takes most of the time,
// so each element is converted once: A for the rows of a block, B for each block of columns, by all
// threads together, which then divide the strips of C among them. A block of B stays in L2 across
// the strips of A. Over long k the chains are stored in C between blocks.
const (
	maxCallDepthBF16 = 512  // two bands of A stay in L1
	maxCallColsBF16  = 1024 // limits a call to a few microseconds
)

// bandsBF16 is a product with its packed block of A and of B.
type bandsBF16 struct {
	product
	w                     *workspaceBF16
	l, depth, paddedDepth int // k of the block: begin, size, and size rounded up to whole tiles
	i0, i1, j0, j1        int // rows and columns of the block
}

type workspaceBF16 struct{ a, b []uint16 }

var workspacesBF16 = sync.Pool{New: func() any { return new(workspaceBF16) }}

func (t *product) multiplyTilesBF16(p *Pool) {
	m, n, k := t.c.Rows, t.c.Cols, t.a.Cols
	x := bandsBF16{product: *t, w: workspacesBF16.Get().(*workspaceBF16)}
	defer workspacesBF16.Put(x.w)
	rows, cols, depth := planBF16(m, n, k, p.Threads(), &machineLimits)
	x.w.a, x.w.b = resized(x.w.a, rows*depth), resized(x.w.b, cols*depth)

	for i := 0; i < m; i += rows {
		x.i0, x.i1 = i, min(i+rows, m)
		for l := 0; l < k; l += depth {
			x.l, x.depth = l, min(depth, k-l)
			x.paddedDepth = ceil(x.depth, stepBF16)
			Each(p, ceilDiv(x.i1-i, bandBF16), packGrainBF16, packA{x})
			for j := 0; j < n; j += cols {
				x.j0, x.j1 = j, min(j+cols, n)
				Each(p, ceilDiv(x.j1-j, bandBF16), packGrainBF16, packB{x})
				x.multiply(p)
			}
		}
	}
}

const packGrainBF16 = 8 // grain of packing, in bands

type packA struct{ bandsBF16 }

// Range packs bands [lo, hi) of the block of A.
func (x *packA) Range(lo, hi int) {
	i := x.i0 + lo*bandBF16
	packBands(x.w.a[lo*bandBF16*x.paddedDepth:], x.a.Slice(i, min(x.i0+hi*bandBF16, x.i1), x.l, x.l+x.depth), x.paddedDepth, false)
}

type packB struct{ bandsBF16 }

// Range packs bands [lo, hi) of the block of B.
func (x *packB) Range(lo, hi int) {
	j := x.j0 + lo*bandBF16
	packBands(x.w.b[lo*bandBF16*x.paddedDepth:], x.b.Slice(x.l, x.l+x.depth, j, min(x.j0+hi*bandBF16, x.j1)).T(), x.paddedDepth, true)
}

// packBands packs the rows of y as bands of A or, with pairs, of B, padded to the given depth.
func packBands(dst []uint16, y Matrix, depth int, pairs bool) {
	band := bandBF16 * depth
	if y.ColStride == 1 || y.Cols == 1 {
		for i := 0; i < y.Rows; i += bandBF16 {
			to := &dst[i/bandBF16*band]
			packAlongK(to, &y.Data[i*y.RowStride], uintptr(y.RowStride)*size, min(bandBF16, y.Rows-i), y.Cols)
			if pairs {
				transposeTiles(to, 2*tileBF16, depth/stepBF16)
			}
		}
		return
	}
	for l := 0; l < y.Cols; l += stepBF16 {
		to := &dst[l*bandBF16]
		packAcrossK(to, uintptr(2*band), &y.Data[l*y.ColStride], uintptr(y.ColStride)*size, y.Rows, min(stepBF16, y.Cols-l))
		if !pairs {
			transposeTiles(to, uintptr(2*band), ceilDiv(y.Rows, bandBF16))
		}
	}
}

// multiplyTask is the loop over the tasks of a block of C.
type multiplyTask struct {
	bandsBF16
	tasks grid
}

func (x *bandsBF16) multiply(p *Pool) {
	t := multiplyTask{*x, planTasksBF16(x.i1-x.i0, x.j1-x.j0, x.paddedDepth, p.Threads(), &machineLimits)}
	Each(p, t.tasks.count(), 1, t)
}

// Range computes tasks [lo, hi).
func (t *multiplyTask) Range(lo, hi int) {
	var edge [stripBF16 * stripBF16]float32
	for task := lo; task < hi; task++ {
		i0, i1, j0, j1 := t.tasks.bounds(task)
		t.block(&edge, t.i0+i0, t.i0+i1, t.j0+j0, t.j0+j1)
	}
}

// block computes rows [i0, i1) and columns [j0, j1) of C over the block of k.
func (t *multiplyTask) block(edge *[stripBF16 * stripBF16]float32, i0, i1, j0, j1 int) {
	band := bandBF16 * t.paddedDepth
	s := bandStrip{edge: &edge[0], cRow: uintptr(t.c.RowStride) * size, aBand: uintptr(2 * band), bBand: uintptr(2 * band)}
	for j := j0; j < j1; j += maxCallColsBF16 {
		s.n = min(maxCallColsBF16, j1-j)
		for i := i0; i < i1; i += stripBF16 {
			s.m, s.c = min(stripBF16, i1-i), &t.c.Data[i*t.c.RowStride+j]
			first := (i - t.i0) / bandBF16 * band
			for l := 0; l < t.paddedDepth; l += maxCallDepthBF16 {
				s.a, s.b = &t.w.a[first+l*bandBF16], &t.w.b[(j-t.j0)*t.paddedDepth+l*bandBF16]
				s.k = min(maxCallDepthBF16, t.paddedDepth-l) / stepBF16
				s.accumulate = flag(t.o.Accumulate || t.l+l > 0)
				if t.l+min(l+maxCallDepthBF16, t.depth) == t.a.Cols { // end of the chains
					s.relu = flag(t.o.Activation == ReLU)
					if s.bias = nil; t.o.Bias != nil {
						s.bias = &t.o.Bias[j]
					}
				} else {
					s.bias, s.relu = nil, 0
				}
				stripTDPBF16PS(&s)
			}
		}
	}
	if t.l+t.depth == t.a.Cols {
		t.o.finish(t.c, i0, i1, j0, j1)
	}
}
