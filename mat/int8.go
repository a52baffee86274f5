package mat

import "math"

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

// sizeInt8 returns the bytes of weights [k × n].
func sizeInt8(k, n int) int { return ceil(n, panelInt8) * groupsInt8(k) * groupInt8 }

// groupsInt8 returns the groups of k rows.
func groupsInt8(k int) int { return max(1, ceilDiv(k, groupInt8)) }

// Data returns the bytes in the order of LayoutOfInt8(w.Rows(), w.Cols()), for storage. They must
// not be changed.
func (w *Int8) Data() []int8 { return w.packed }

// LayoutOfInt8 returns the order of the bytes of an Int8 of k × n as the shape of an array: panels
// of 32 columns, groups of 4 rows, 32, 4. Element (l, j) of B has the index (j/32, l/4, j%32, l%4);
// elements outside B are zeros. It is the same for all kernels.
func LayoutOfInt8(k, n int) [4]int {
	return [4]int{ceilDiv(n, panelInt8), groupsInt8(k), panelInt8, groupInt8}
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
