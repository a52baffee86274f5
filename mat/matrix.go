package mat

import (
	"fmt"
	"math"
	"math/bits"
)

// Matrix is a view of float32 numbers: element (i, j) is Data[i*RowStride+j*ColStride]. It owns nothing;
// copies share the numbers. One of the strides is 1: a row-major matrix has ColStride 1, its transpose
// RowStride 1.
type Matrix struct {
	Data                 []float32
	Rows, Cols           int
	RowStride, ColStride int
}

// New returns a rows × cols matrix of zeros. It panics if that is not a size.
func New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 || !fits(rows, cols, math.MaxInt/4) {
		panic(fmt.Sprintf("mat: a new %d × %d matrix", rows, cols))
	}
	return Of(make([]float32, rows*cols), rows, cols)
}

// Of views the first rows·cols numbers of data as a row-major matrix without gaps. It panics if there are
// too few.
func Of(data []float32, rows, cols int) Matrix {
	if rows < 0 || cols < 0 || !fits(rows, cols, len(data)) {
		panic(fmt.Sprintf("mat: %d numbers viewed as a %d × %d matrix", len(data), rows, cols))
	}
	return Matrix{data[:rows*cols], rows, cols, cols, 1}
}

// T is the transpose of m, as a view.
func (m Matrix) T() Matrix {
	return Matrix{m.Data, m.Cols, m.Rows, m.ColStride, m.RowStride}
}

// Slice views rows [r0, r1) and columns [c0, c1). It panics if they are not inside m.
func (m Matrix) Slice(r0, r1, c0, c1 int) Matrix {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || c0 < 0 || c1 < c0 || c1 > m.Cols {
		panic(fmt.Sprintf("mat: rows %d to %d and columns %d to %d of a %d × %d matrix", r0, r1, c0, c1, m.Rows, m.Cols))
	}
	s := Matrix{nil, r1 - r0, c1 - c0, m.RowStride, m.ColStride}
	if s.Rows > 0 && s.Cols > 0 {
		first := r0*m.RowStride + c0*m.ColStride
		s.Data = m.Data[first : first+s.extent()]
	}
	return s
}

// RowRange views rows [r0, r1), as Slice does.
func (m Matrix) RowRange(r0, r1 int) Matrix { return m.Slice(r0, r1, 0, m.Cols) }

// ColRange views columns [c0, c1), as Slice does.
func (m Matrix) ColRange(c0, c1 int) Matrix { return m.Slice(0, m.Rows, c0, c1) }

// Row is row i as a slice, for a matrix with ColStride 1. It panics for another, and if there is no row i.
func (m Matrix) Row(i int) []float32 {
	if m.ColStride != 1 {
		panic("mat: Row of a matrix whose rows are not contiguous")
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.RowStride:][:m.Cols:m.Cols]
}

// At is element (i, j), for tests and printing: loops want Row.
func (m Matrix) At(i, j int) float32 { return m.Data[i*m.RowStride+j*m.ColStride] }

// extent is the number of elements of Data from the first element of m to its last.
func (m Matrix) extent() int {
	if m.Rows == 0 || m.Cols == 0 {
		return 0
	}
	return (m.Rows-1)*m.RowStride + (m.Cols-1)*m.ColStride + 1
}

// fits reports whether a·b ≤ n, for numbers that are not negative and however large.
func fits(a, b, n int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo <= uint64(n)
}

// check panics unless the strides describe a matrix that lies inside its data, so that no kernel in
// assembly ever sees an address outside it.
func (m Matrix) check(name string) {
	if m.Rows >= 0 && m.Cols >= 0 && m.RowStride >= 0 && m.ColStride >= 0 {
		if m.Rows == 0 || m.Cols == 0 {
			return
		}
		oneIsOne := m.RowStride == 1 || m.ColStride == 1 || m.Rows == 1 || m.Cols == 1
		last := len(m.Data) - 1
		if oneIsOne && last >= 0 && fits(m.Rows-1, m.RowStride, last) && fits(m.Cols-1, m.ColStride, last-(m.Rows-1)*m.RowStride) {
			return
		}
	}
	panic(fmt.Sprintf("mat: %s is %d × %d with strides %d and %d over %d numbers",
		name, m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data)))
}
