package mat

import (
	"fmt"
	"math"
	"math/bits"
)

// Matrix is a view of float32 numbers: element (i, j) is Data[i*RowStride+j*ColStride]. It owns
// nothing; copies share the numbers. One of the strides is 1 (a row-major matrix has ColStride 1,
// its transpose RowStride 1), unless there is at most one row or column; neither is negative.
//
// Operands that are only read may have rows that overlap, and a stride of 0 repeats one row or
// column. Results must have contiguous rows that do not overlap. A matrix has at most 2^48-1
// elements, repeated ones counted. Functions of this package check all that and panic with the
// shape; those of Matrix check what they are asked for.
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

// Of views the first rows·cols numbers of data as a row-major matrix without gaps. It panics if
// there are too few.
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

// Row returns row i as a slice of m's numbers. It panics if there is no row i or its numbers are
// not contiguous: those of a matrix are if ColStride is 1 or it has at most one column.
func (m Matrix) Row(i int) []float32 {
	if m.ColStride != 1 && m.Cols > 1 || uint(i) >= uint(m.Rows) {
		panic(indexError{i, 0, m})
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.RowStride:][:m.Cols:m.Cols]
}

// At returns element (i, j), for tests and printing: loops want Row. It panics if there is no such
// element.
func (m Matrix) At(i, j int) float32 {
	if uint(i) >= uint(m.Rows) || uint(j) >= uint(m.Cols) {
		panic(indexError{i, j, m})
	}
	return m.Data[i*m.RowStride+j*m.ColStride]
}

// indexError is the panic of Row(i) and At(i, j), as a value because a call would keep them from
// being inlined.
type indexError struct {
	i, j int
	m    Matrix
}

func (e indexError) Error() string {
	return fmt.Sprintf("mat: row %d, column %d of a %d × %d matrix with strides %d and %d",
		e.i, e.j, e.m.Rows, e.m.Cols, e.m.RowStride, e.m.ColStride)
}

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

// access is what a function does with a matrix, and so what check demands of it.
type access uint8

const (
	reads     access = iota // any strides, 0 and overlaps too
	readsRows               // contiguous rows
	writes                  // contiguous rows that do not overlap
)

// maxElements limits the elements of a matrix, because overlapping rows may be more than its data.
// The size in bytes of a packed copy fits an int for all of them.
const maxElements = 1<<min(48, bits.UintSize-1) - 1

// check panics unless m is inside its data and can be used as access says. Every function that
// gives the address of a matrix to assembly calls it first.
func (m *Matrix) check(name string, use access) {
	if m.Rows >= 0 && m.Cols >= 0 && m.RowStride >= 0 && m.ColStride >= 0 && max(m.Rows, m.Cols) <= maxElements {
		if m.Rows == 0 || m.Cols == 0 {
			return
		}
		last := len(m.Data) - 1
		inside := last >= 0 && fits(m.Rows, m.Cols, maxElements) &&
			fits(m.Rows-1, m.RowStride, last) && fits(m.Cols-1, m.ColStride, last-(m.Rows-1)*m.RowStride)
		contiguous := m.ColStride == 1 || m.Cols == 1
		switch use {
		case reads:
			contiguous = contiguous || m.RowStride == 1 || m.Rows == 1
		case writes:
			contiguous = contiguous && (m.RowStride >= m.Cols || m.Rows == 1)
		}
		if inside && contiguous {
			return
		}
	}
	demands := [...]string{
		reads:     "one stride must be 1",
		readsRows: "its rows must be contiguous",
		writes:    "its rows must be contiguous and must not overlap",
	}
	panic(fmt.Sprintf("mat: %s is %d × %d with strides %d and %d over %d numbers; %s, inside the numbers",
		name, m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data), demands[use]))
}

// saturatingProduct is a·b·c, or the largest int if that is larger, for numbers that are not
// negative.
func saturatingProduct(a, b, c int) int {
	if c == 0 || fits(a, b, math.MaxInt) && fits(a*b, c, math.MaxInt) {
		return a * b * c
	}
	return math.MaxInt
}
