package mat

import (
	"fmt"
	"math"
	"math/bits"
)

// Matrix is a view of float32 elements: element (i, j) is Data[i*RowStride+j*ColStride]. It owns no
// memory; copies share Data. At least one stride is 1 (ColStride in a row-major matrix, RowStride
// in its transpose), except in a matrix with one row or column. Strides are not negative.
//
// Operands that are only read may have overlapping rows, and a stride of 0 repeats a row or column.
// Results must have contiguous rows that do not overlap. A matrix has at most 2^48-1 elements,
// counting repeated ones. Functions that take a matrix check all of this and panic with its shape;
// the methods check their own arguments.
type Matrix struct {
	Data                 []float32
	Rows, Cols           int
	RowStride, ColStride int
}

// New returns a rows × cols matrix of zeros. It panics if the size is negative or overflows.
func New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 || !fits(rows, cols, math.MaxInt/4) {
		panic(fmt.Sprintf("mat: New of a %d × %d matrix", rows, cols))
	}
	return Of(make([]float32, rows*cols), rows, cols)
}

// Of returns a contiguous row-major view of the first rows·cols elements of data. It panics if data
// is shorter. For rows that are stride elements apart, use Matrix{data, rows, cols, stride, 1}.
func Of(data []float32, rows, cols int) Matrix {
	if rows < 0 || cols < 0 || !fits(rows, cols, len(data)) {
		panic(fmt.Sprintf("mat: %d elements for a %d × %d matrix", len(data), rows, cols))
	}
	return Matrix{data[:rows*cols], rows, cols, cols, 1}
}

// T returns the transpose of m as a view.
func (m Matrix) T() Matrix {
	return Matrix{m.Data, m.Cols, m.Rows, m.ColStride, m.RowStride}
}

// Slice returns a view of rows [r0, r1) and columns [c0, c1). It panics if they are not inside m.
func (m Matrix) Slice(r0, r1, c0, c1 int) Matrix {
	if r0 < 0 || r1 < r0 || r1 > m.Rows || c0 < 0 || c1 < c0 || c1 > m.Cols {
		panic(fmt.Sprintf("mat: Slice of rows [%d, %d), columns [%d, %d) of a %d × %d matrix", r0, r1, c0, c1, m.Rows, m.Cols))
	}
	s := Matrix{nil, r1 - r0, c1 - c0, m.RowStride, m.ColStride}
	if s.Rows > 0 && s.Cols > 0 {
		first := r0*m.RowStride + c0*m.ColStride
		s.Data = m.Data[first : first+s.extent()]
	}
	return s
}

// RowRange returns a view of rows [r0, r1), as Slice does.
func (m Matrix) RowRange(r0, r1 int) Matrix { return m.Slice(r0, r1, 0, m.Cols) }

// ColRange returns a view of columns [c0, c1), as Slice does.
func (m Matrix) ColRange(c0, c1 int) Matrix { return m.Slice(0, m.Rows, c0, c1) }

// Row returns row i as a slice of m.Data. It panics if i is out of range or the row is not
// contiguous, that is if ColStride is not 1 and m has more than one column.
func (m Matrix) Row(i int) []float32 {
	if m.ColStride != 1 && m.Cols > 1 || uint(i) >= uint(m.Rows) {
		panic(indexError{i, 0, m})
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.RowStride:][:m.Cols:m.Cols]
}

// At returns element (i, j). It panics if that is outside m. Loops should use Row, which is faster.
func (m Matrix) At(i, j int) float32 {
	if uint(i) >= uint(m.Rows) || uint(j) >= uint(m.Cols) {
		panic(indexError{i, j, m})
	}
	return m.Data[i*m.RowStride+j*m.ColStride]
}

// indexError is the panic value of Row and At. It is formatted later because a call of fmt would
// keep them from being inlined.
type indexError struct {
	i, j int
	m    Matrix
}

func (e indexError) Error() string {
	return fmt.Sprintf("mat: row %d, column %d of a %d × %d matrix with strides %d and %d",
		e.i, e.j, e.m.Rows, e.m.Cols, e.m.RowStride, e.m.ColStride)
}

// extent returns the number of elements of Data from the first element of m to the last.
func (m Matrix) extent() int {
	if m.Rows == 0 || m.Cols == 0 {
		return 0
	}
	return (m.Rows-1)*m.RowStride + (m.Cols-1)*m.ColStride + 1
}

// fits reports whether a·b ≤ n, without overflow. The arguments must not be negative.
func fits(a, b, n int) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return hi == 0 && lo <= uint64(n)
}

// access is how a function uses a matrix, and determines which layouts check accepts.
type access uint8

const (
	reads     access = iota // any strides, including 0 and overlapping rows
	readsRows               // contiguous rows
	writes                  // contiguous rows that do not overlap
)

// maxElements limits the number of elements of a matrix, which may exceed its data where rows
// overlap. It keeps the byte size of a packed copy within an int.
const maxElements = 1<<min(48, bits.UintSize-1) - 1

// check panics unless m is inside its data and has a layout that use accepts. Every function that
// passes the address of a matrix to assembly calls it first.
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
	requirements := [...]string{
		reads:     "one stride must be 1",
		readsRows: "rows must be contiguous",
		writes:    "rows must be contiguous and must not overlap",
	}
	panic(fmt.Sprintf("mat: %s is %d × %d with strides %d and %d over %d elements; it must fit them and %s",
		name, m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data), requirements[use]))
}

// saturatingProduct returns a·b·c, or math.MaxInt on overflow. The arguments must not be negative.
func saturatingProduct(a, b, c int) int {
	if c == 0 || fits(a, b, math.MaxInt) && fits(a*b, c, math.MaxInt) {
		return a * b * c
	}
	return math.MaxInt
}
