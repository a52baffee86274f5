package mat

import (
	"fmt"
	"math"
)

// Int8 is the weights of a matrix product, B [k × n], as signed bytes with one scale for each
// column, an output channel: B[l, j] ≈ weights[j, l]·scales[j]. It holds them as the kernels read
// them, in a form that is the same for all, and never changes: it may be used concurrently.
type Int8 struct {
	rows, cols int
	groups     int       // of rows, at least one
	packed     []int8    // panel after panel; in it group after group; in that column after column, the 4 bytes of a group
	scales     []float32 // for whole panels
	start      []int32   // -128·Σ of a column: what kernels that take activations as unsigned bytes, 128 more, begin with
}

const (
	panelInt8    = 32                          // columns side by side
	groupInt8    = 4                           // rows of which a 32-bit lane has the products' sum
	bytesInt8    = panelInt8 * groupInt8       // of a group of a panel
	maxDepthInt8 = math.MaxInt32 / (127 * 128) // products whose sum 32 bits surely hold
)

// QuantizeInt8 rounds B [k × n], row-major or a transpose of that, to signed bytes, column for
// column by the rule of GemmInt8: the largest element becomes 127 or -127, and the scale is a 127th
// of it. It panics where NewInt8 does. A column that holds a NaN or an infinity gets zeros and a
// NaN as its scale.
//
// No element of a column is further than (½ + 2^-15) times the scale from what stands for it.
func QuantizeInt8(b Matrix) *Int8 {
	b.check("B", reads)
	k, n := b.Rows, b.Cols
	checkInt8(k, n)
	q := quantization{m: b.T(), q: make([]int8, n*k), stride: k, scales: make([]float32, n)}
	q.Range(0, n)
	return NewInt8(k, n, q.q, q.scales)
}

// NewInt8 makes the weights B [k × n] of stored numbers: weights has n rows of k bytes, row j the
// elements of column j, and scales n numbers that they are multiplied by. Both are copied. It
// panics if there are more or fewer numbers, and if k is above 132,104, beyond which a sum of
// products might not fit into 32 bits. Any bytes are allowed, -128 too, and any scales, though one
// that is not finite makes NaN of its column of every product.
func NewInt8(k, n int, weights []int8, scales []float32) *Int8 {
	checkInt8(k, n)
	if len(weights) != k*n || len(scales) != n {
		panic(fmt.Sprintf("mat: %d weights and %d scales for int8 weights %d × %d", len(weights), len(scales), k, n))
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
		panic(fmt.Sprintf("mat: int8 weights %d × %d: a size that is negative or too large, or sums of more than %d products", k, n, maxDepthInt8))
	}
}

// at is where column j begins in w.packed.
func (w *Int8) at(j int) int { return j/panelInt8*w.groups*bytesInt8 + j%panelInt8*groupInt8 }

// Rows is k, the number of rows of B.
func (w *Int8) Rows() int { return w.rows }

// Cols is n, the number of columns of B: output channels.
func (w *Int8) Cols() int { return w.cols }

// Weights returns the bytes in the order that NewInt8 takes, in a new slice.
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

// Scales returns the scales of the columns, in a new slice.
func (w *Int8) Scales() []float32 { return append([]float32{}, w.scales[:w.cols]...) }
