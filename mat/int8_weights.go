package mat

import (
	"fmt"
	"math"
	"unsafe"
)

// This file makes int8 weights: from a matrix, from bytes and scales, or from stored bytes.

// QuantizeInt8 rounds B [k × n], row-major or a transpose, to signed bytes, column by column with
// the rule of GemmInt8: the element of the largest magnitude becomes 127 or -127, and the scale is
// 1/127 of that magnitude. It panics if k is above 132,104, as PackInt8 does. A column with a NaN
// or an infinity becomes zeros with a NaN as its scale. The threads of p divide the columns.
//
// The error of an element is at most (½ + 2^-15)·scale.
func QuantizeInt8(p *Pool, b Matrix) *Int8 {
	b.check("B", reads)
	w := NewInt8(b.Rows, b.Cols)
	w.SetCols(p, 0, b)
	return w
}

// NewInt8 returns weights B [k × n] of zeros, for SetCols. It panics as PackInt8 does.
func NewInt8(k, n int) *Int8 {
	checkInt8(k, n)
	return int8Of(make([]int8, sizeInt8(k, n)), k, n)
}

// int8Of returns the weights B [k × n] with data and scales of 0. The caller sets w.start.
func int8Of(data []int8, k, n int) *Int8 {
	columns := ceil(n, panelInt8)
	return &Int8{k, n, groupsInt8(k), data, make([]float32, columns), make([]int32, columns)}
}

// SetCols rounds b to columns [j, j+b.Cols) of w as QuantizeInt8 does, for a matrix that is
// quantized in parts. It panics if j is not a multiple of 32, or if b.Cols is not and j+b.Cols is
// not n. Calls for different columns may run concurrently, but no product may use w at the same
// time.
func (w *Int8) SetCols(p *Pool, j int, b Matrix) {
	b.check("B", reads)
	checkCols("Int8", w.rows, w.cols, j, b)
	Each(p, ceilDiv(b.Cols, panelInt8), 1, quantizeCols{w, j, b})
}

// PackInt8 packs weights that are quantized already, B [k × n]: weights has n rows of k bytes, row
// j for column j of B, and scales has n factors. Both are copied. It panics if the lengths do not
// match, and if k is above 132,104, beyond which a sum of products may overflow 32 bits. All bytes
// are allowed, including -128, and all scales, but a scale that is not finite makes its column of
// every product NaN. The threads of p divide the columns.
func PackInt8(p *Pool, weights []int8, scales []float32, k, n int) *Int8 {
	checkInt8(k, n)
	if len(weights) != k*n || len(scales) != n {
		panic(fmt.Sprintf("mat: %d weights and %d scales for int8 weights %d × %d, expected %d and %d", len(weights), len(scales), k, n, k*n, n))
	}
	w := NewInt8(k, n)
	copy(w.scales, scales)
	for j := range n {
		column := w.packed[w.at(j):]
		for l, v := range weights[j*k:][:k] {
			column[l/groupInt8*bytesInt8+l%groupInt8] = v
		}
	}
	w.sumColumns(p)
	return w
}

// Int8Of returns the weights B [k × n] with data, which Data returned on this machine or another,
// and with n scales. It keeps data, which only SetCols may change, and copies the scales. It panics
// as PackInt8 does. The threads of p divide the columns, because it reads all bytes once.
func Int8Of(p *Pool, data []int8, scales []float32, k, n int) *Int8 {
	checkInt8(k, n)
	if len(data) != sizeInt8(k, n) || len(scales) != n {
		panic(fmt.Sprintf("mat: %d packed bytes and %d scales for int8 weights %d × %d, expected %d and %d",
			len(data), len(scales), k, n, sizeInt8(k, n), n))
	}
	w := int8Of(data, k, n)
	copy(w.scales, scales)
	w.sumColumns(p)
	return w
}

func checkInt8(k, n int) {
	if k < 0 || n < 0 || k > maxDepthInt8 || !fits(k+groupInt8, n+panelInt8, math.MaxInt/2) {
		panic(fmt.Sprintf("mat: int8 weights %d × %d: negative size, overflow, or more than %d rows", k, n, maxDepthInt8))
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
