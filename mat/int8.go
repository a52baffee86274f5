package mat

import (
	"fmt"
	"math"
)

// Int8 holds the weights of a matrix product, B [k × n], as signed bytes with one scale for each
// column (an output channel): B[l, j] ≈ weights[j, l]·scales[j]. They are packed in a layout
// that all kernels share. An Int8 is immutable and may be used concurrently.
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
// 1/127 of that magnitude. It panics if k is above 132,104, as NewInt8 does. A column with a NaN or
// an infinity becomes zeros with a NaN as its scale. It runs on the calling goroutine.
//
// The error of an element is at most (½ + 2^-15)·scale.
func QuantizeInt8(b Matrix) *Int8 {
	b.check("B", reads)
	k, n := b.Rows, b.Cols
	checkInt8(k, n)
	q := quantization{m: b.T(), q: make([]int8, n*k), stride: k, scales: make([]float32, n)}
	q.Range(0, n)
	return NewInt8(k, n, q.q, q.scales)
}

// NewInt8 returns the weights B [k × n] from stored values: weights has n rows of k bytes, row j
// for column j of B, and scales has n factors. Both are copied. It panics if the lengths do not
// match, and if k is above 132,104, beyond which a sum of products may overflow 32 bits. All bytes
// are allowed, including -128, and all scales, but a scale that is not finite makes its column of
// every product NaN.
func NewInt8(k, n int, weights []int8, scales []float32) *Int8 {
	checkInt8(k, n)
	if len(weights) != k*n || len(scales) != n {
		panic(fmt.Sprintf("mat: %d weights and %d scales for int8 weights %d × %d, expected %d and %d", len(weights), len(scales), k, n, k*n, n))
	}
	columns, groups := ceil(n, panelInt8), max(1, ceil(k, groupInt8)/groupInt8)
	w := &Int8{k, n, groups, make([]int8, columns*groups*groupInt8), make([]float32, columns), make([]int32, columns)}
	copy(w.scales, scales)
	for j := range n {
		column := w.packed[w.at(j):]
		var sum int32
		for l, v := range weights[j*k:][:k] {
			column[l/groupInt8*bytesInt8+l%groupInt8] = v
			sum += int32(v)
		}
		w.start[j] = -128 * sum
	}
	return w
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

// Weights returns a new slice of the bytes, in the order of NewInt8.
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

// Scales returns a new slice of the scales of the columns.
func (w *Int8) Scales() []float32 { return append([]float32{}, w.scales[:w.cols]...) }
