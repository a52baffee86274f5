package mat

import (
	"fmt"
	"math"
)

// Int8 holds the weights of a matrix product, B [k × n], as signed bytes with one scale for each
// column (an output channel): B[l, j] ≈ weights[j, l]·scales[j]. They are packed in a layout
// that all kernels share. An Int8 may be used concurrently except during SetCols.
type Int8 struct {
	rows, cols int
	groups     int       // of rows, at least one
	packed     []int8    // panel by panel, group by group, column by column: 4 bytes
	scales     []float32 // for whole panels
	start      []int32   // -128·Σ of each column: initial sums of kernels with unsigned bytes
}

const (
	panelInt8    = 32                          // columns of a panel
	groupInt8    = 4                           // rows whose products one 32-bit lane sums
	bytesInt8    = panelInt8 * groupInt8       // of a group of a panel
	maxDepthInt8 = math.MaxInt32 / (127 * 128) // products whose sum always fits 32 bits
)

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

// sizeInt8 returns the bytes of weights [k × n].
func sizeInt8(k, n int) int { return ceil(n, panelInt8) * groupsInt8(k) * groupInt8 }

// groupsInt8 returns the groups of k rows.
func groupsInt8(k int) int { return max(1, ceilDiv(k, groupInt8)) }

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

// Data returns the bytes in the order of LayoutOfInt8(w.Rows(), w.Cols()), for storage. They must
// not be changed.
func (w *Int8) Data() []int8 { return w.packed }

// LayoutOfInt8 returns the order of the bytes of an Int8 of k × n as the shape of an array: panels
// of 32 columns, groups of 4 rows, 32, 4. Element (l, j) of B has the index (j/32, l/4, j%32, l%4);
// elements outside B are zeros. It is the same for all kernels.
func LayoutOfInt8(k, n int) [4]int {
	return [4]int{ceilDiv(n, panelInt8), groupsInt8(k), panelInt8, groupInt8}
}

func checkInt8(k, n int) {
	if k < 0 || n < 0 || k > maxDepthInt8 || !fits(k+groupInt8, n+panelInt8, math.MaxInt/2) {
		panic(fmt.Sprintf("mat: int8 weights %d × %d: negative size, overflow, or more than %d rows", k, n, maxDepthInt8))
	}
}

// at returns the index of column j in w.packed.
func (w *Int8) at(j int) int { return j/panelInt8*w.groups*bytesInt8 + j%panelInt8*groupInt8 }

// Rows returns k, the number of rows of B.
func (w *Int8) Rows() int { return w.rows }

// Cols returns n, the number of columns of B: output channels.
func (w *Int8) Cols() int { return w.cols }

// Weights returns a new slice of the bytes, in the order of PackInt8.
func (w *Int8) Weights() []int8 {
	weights := make([]int8, w.cols*w.rows)
	for j := range w.cols {
		column := w.packed[w.at(j):]
		for l := range w.rows {
			weights[j*w.rows+l] = column[l/groupInt8*bytesInt8+l%groupInt8]
		}
	}
	return weights
}

// Col sets dst [k] to column j of B: weights[j, l]·scales[j], rounded once.
func (w *Int8) Col(dst []float32, j int) {
	if len(dst) != w.rows || uint(j) >= uint(w.cols) {
		panicCol("Int8", len(dst), j, w.rows, w.cols)
	}
	column, scale := w.packed[w.at(j):], w.scales[j]
	for l := range dst {
		dst[l] = float32(column[l/groupInt8*bytesInt8+l%groupInt8]) * scale
	}
}

// Scales returns a new slice of the scales of the columns.
func (w *Int8) Scales() []float32 { return append([]float32{}, w.scales[:w.cols]...) }
