package mat

import (
	"math"
	"unsafe"
)

// Quantization of the rows of activations and of the columns of weights, to signed bytes with one
// scale a row or column.

// quantization is a loop over the rows of m: row i becomes scales[i] and the quantized elements at
// q[i*stride].
type quantization struct {
	m      Matrix
	form   formInt8
	q      []int8
	stride int
	scales []float32
}

// formInt8 is the form in which a kernel reads quantized activations.
type formInt8 uint8

const (
	signed  formInt8 = iota // bytes
	shifted                 // unsigned bytes, plus 128
	wide                    // 16-bit integers, little-endian
)

const (
	blockInt8    = 32       // elements quantized together
	minScaleInt8 = 0x1p-126 // smaller scales are denormal and too inexact
	infinity     = 0x7F800000
	gatherRows   = 16 // rows of a transpose that are gathered together: elements of a cache line
)

// width returns the bytes of an element.
func (f formInt8) width() int {
	if f == wide {
		return 2
	}
	return 1
}

// Range quantizes rows [lo, hi).
func (t *quantization) Range(lo, hi int) {
	if t.m.ColStride == 1 {
		for i := lo; i < hi; i++ {
			t.row(i, t.m.Row(i))
		}
		return
	}
	w := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(w)
	k := t.m.Cols
	w.rows = resized(w.rows, gatherRows*k)
	for ; lo < hi; lo += gatherRows {
		n := min(gatherRows, hi-lo)
		for l := range k {
			for i := range n {
				w.rows[i*k+l] = t.m.At(lo+i, l)
			}
		}
		for i := range n {
			t.row(lo+i, w.rows[i*k:][:k])
		}
	}
}

// row quantizes x into row i.
func (t *quantization) row(i int, x []float32) {
	q := t.q[i*t.stride:][:len(x)*t.form.width()]
	top := maxAbsBits(x)
	if top >= infinity {
		t.scales[i] = float32(math.NaN())
		clear(q)
		return
	}
	t.scales[i] = max(math.Float32frombits(top)/127, minScaleInt8)
	t.form.quantize(q, x, 1/t.scales[i])
}

// maxAbsBits returns the largest |x[j]| as the bits of a float32, in which a NaN is above an
// infinity, or 0 for an empty x.
func maxAbsBits(x []float32) uint32 {
	if kernel == generic {
		return maxAbsGeneric(x)
	}
	var top uint32
	for len(x) >= blockInt8 {
		n := min(run, len(x)) &^ (blockInt8 - 1)
		top = max(top, maxAbsAsm(&x[0], n))
		x = x[n:]
	}
	if len(x) > 0 {
		var tail [blockInt8]float32
		copy(tail[:], x)
		top = max(top, maxAbsAsm(&tail[0], blockInt8))
	}
	return top
}

// quantize writes x[j]·r to q in form f, rounded to float32 and then to the nearest integer, ties
// to even, which must be within ±127.
func (f formInt8) quantize(q []int8, x []float32, r float32) {
	if kernel == generic {
		f.quantizeGeneric(q, x, r)
		return
	}
	for len(x) >= blockInt8 {
		n := min(run, len(x)) &^ (blockInt8 - 1)
		f.quantizeAsm(&q[0], &x[0], n, r)
		q, x = q[n*f.width():], x[n:]
	}
	if len(x) > 0 {
		var tail [blockInt8]float32
		var bytes [2 * blockInt8]int8
		copy(tail[:], x)
		f.quantizeAsm(&bytes[0], &tail[0], blockInt8, r)
		copy(q, bytes[:len(x)*f.width()])
	}
}

// quantizeCols is the parallel loop of SetCols: panels of b become those of w from column j on.
type quantizeCols struct {
	w *Int8
	j int
	b Matrix
}

// Range quantizes panels [lo, hi) of b.
func (t *quantizeCols) Range(lo, hi int) {
	s := workspacesInt8.Get().(*workspaceInt8)
	defer workspacesInt8.Put(s)
	w := t.w
	for ; lo < hi; lo++ {
		first := lo * panelInt8
		b := t.b.ColRange(first, min(first+panelInt8, t.b.Cols))
		columns := b.T()
		if b.RowStride != 1 {
			columns = s.transpose(b)
		}
		stride := w.groups * groupInt8
		s.bytes = resized(s.bytes, panelInt8*stride)
		clear(s.bytes) // elements outside B
		q := quantization{m: columns, q: s.bytes, stride: stride, scales: w.scales[t.j+first:]}
		q.Range(0, b.Cols)
		panel := (t.j + first) / panelInt8
		interleave(w.packed[panel*w.groups*bytesInt8:][:w.groups*bytesInt8], s.bytes, w.groups)
		w.sumPanels(panel, panel+1)
	}
}

// transpose returns the transpose of b [k × up to 32] with contiguous rows, in s.rows.
func (s *workspaceInt8) transpose(b Matrix) Matrix {
	const width = 16 // columns that transposePanel writes together, in padB rows
	k := b.Rows
	s.rows = resized(s.rows, ceil(b.Cols, padB)*ceil(k, width))
	to := Matrix{s.rows, b.Cols, k, ceil(k, width), 1}
	if kernel == generic || b.ColStride != 1 {
		for l := range k {
			for j := range b.Cols {
				to.Row(j)[l] = b.At(l, j)
			}
		}
		return to
	}
	for l := 0; l < k; l += width {
		transposePanel(&to.Data[l], uintptr(to.RowStride)*size, &b.Data[l*b.RowStride], uintptr(b.RowStride)*size, min(width, k-l), b.Cols)
	}
	return to
}

// interleave copies 32 rows of groups·4 bytes to a panel:
//
//	panel[g*128+j*4+i] = rows[(j*groups+g)*4+i]
func interleave(panel, rows []int8, groups int) {
	const width, depth = 16, 512 // of one call
	done := 0
	if kernel != generic {
		done = groups &^ (padB - 1) // transposePanel writes padB rows together
	}
	for g := 0; g < done; g += depth {
		for j := 0; j < panelInt8; j += width {
			// transposePanel only copies: its elements may be any 4 bytes
			transposePanel((*float32)(unsafe.Pointer(&panel[g*bytesInt8+j*groupInt8])), bytesInt8,
				(*float32)(unsafe.Pointer(&rows[(j*groups+g)*groupInt8])), uintptr(groups*groupInt8), width, min(depth, done-g))
		}
	}
	for g := done; g < groups; g++ {
		for j := range panelInt8 {
			copy(panel[g*bytesInt8+j*groupInt8:][:groupInt8], rows[(j*groups+g)*groupInt8:])
		}
	}
}

// sumColumns sets w.start.
func (w *Int8) sumColumns(p *Pool) {
	if w.cols > 0 {
		Each(p, ceilDiv(w.cols, panelInt8), max(1, 1<<18/(w.groups*bytesInt8)), sumPanels{w})
	}
}

type sumPanels struct{ w *Int8 }

func (t *sumPanels) Range(lo, hi int) { t.w.sumPanels(lo, hi) }

// sumPanels sets w.start for panels [lo, hi).
func (w *Int8) sumPanels(lo, hi int) {
	for ; lo < hi; lo++ {
		sums := w.start[lo*panelInt8:][:panelInt8]
		sumGroups(sums, w.packed[lo*w.groups*bytesInt8:][:w.groups*bytesInt8])
		for j := range sums {
			sums[j] *= -128
		}
	}
}
