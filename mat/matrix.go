package mat

import (
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// Matrix is a view of float32 elements: element (i, j) is Data[i*RowStride+j*ColStride]. It owns no
// memory; copies share Data. At least one stride is 1 (ColStride in a row-major matrix, RowStride
// in its transpose), except in a matrix with one row or column. Strides are not negative.
//
// A row is contiguous if its elements are adjacent in Data: ColStride is 1, or there is one column.
// Operands that are only read may have overlapping rows, and a stride of 0 repeats a row or column.
// Results must have contiguous rows that do not overlap, as New, Of, RowRange and ColRange return.
// A matrix has at most 2^48-1 elements, counting repeated ones. Functions that take a matrix check
// all of this and panic with its shape; the methods check their own arguments.
//
// Data holds exactly the elements of m, in order, only if ColStride is 1 and RowStride is Cols.
// Only then may it be the argument of a function on slices: Data of a view of some columns contains
// the elements between its rows, which Scale, for example, would overwrite. Use Row for those.
type Matrix struct {
	Data                 []float32
	Rows, Cols           int
	RowStride, ColStride int
}

// New returns a rows × cols matrix of zeros, a large one in huge pages where Linux provides them.
// It panics if a size is negative or the matrix has more than 2^46-1 elements, on 32-bit machines
// 2^29-1.
func New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("mat: New of a %d × %d matrix: a size is negative", rows, cols))
	}
	if !fits(rows, cols, maxElements/4) { // 4 bytes each
		panic(fmt.Sprintf("mat: New of a %d × %d matrix: more than %d elements", rows, cols, maxElements/4))
	}
	data := make([]float32, rows*cols)
	HugePages(data)
	return Of(data, rows, cols)
}

// Of returns a contiguous row-major view of the first rows·cols elements of data. It panics if
// data is shorter. For rows that begin stride elements apart, use
//
//	Matrix{Data: data, Rows: rows, Cols: cols, RowStride: stride, ColStride: 1}
func Of(data []float32, rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("mat: Of a %d × %d matrix: a size is negative", rows, cols))
	}
	if !fits(rows, cols, len(data)) {
		panic(fmt.Sprintf("mat: %d elements for a %d × %d matrix, which has %d", len(data), rows, cols, saturatingProduct(rows, cols, 1)))
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
// contiguous, as in a transpose.
func (m Matrix) Row(i int) []float32 {
	if m.ColStride != 1 && m.Cols > 1 || uint(i) >= uint(m.Rows) {
		panic(rowError{i, m})
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.RowStride:][:m.Cols:m.Cols]
}

// At returns element (i, j). It panics if that is outside m. Loops should use Row, which is faster.
func (m Matrix) At(i, j int) float32 {
	if uint(i) >= uint(m.Rows) || uint(j) >= uint(m.Cols) {
		panic(elementError{i, j, m})
	}
	return m.Data[i*m.RowStride+j*m.ColStride]
}

// rowError and elementError are the panic values of Row and At. They are formatted later because a
// call of fmt would keep Row and At from being inlined.
type rowError struct {
	i int
	m Matrix
}

func (e rowError) Error() string {
	m := &e.m
	switch {
	case m.ColStride == 1 || m.Cols <= 1:
		return fmt.Sprintf("mat: row %d of a %d × %d matrix", e.i, m.Rows, m.Cols)
	case m.RowStride == 1:
		return fmt.Sprintf("mat: Row of a transpose (%d × %d, strides 1 and %d): rows are not contiguous", m.Rows, m.Cols, m.ColStride)
	}
	return fmt.Sprintf("mat: Row of a %d × %d matrix with strides %d and %d: rows are not contiguous", m.Rows, m.Cols, m.RowStride, m.ColStride)
}

type elementError struct {
	i, j int
	m    Matrix
}

func (e elementError) Error() string {
	return fmt.Sprintf("mat: element (%d, %d) of a %d × %d matrix", e.i, e.j, e.m.Rows, e.m.Cols)
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

// check panics unless m is valid for use. Every function that passes the address of a matrix to
// assembly calls it or valid first.
func (m *Matrix) check(name string, use access) {
	if !m.valid(use) {
		panic("mat: " + m.fault(name, use))
	}
}

// valid reports whether m is inside its data and has a layout that use accepts.
func (m *Matrix) valid(use access) bool {
	if m.Rows < 0 || m.Cols < 0 || m.RowStride < 0 || m.ColStride < 0 || max(m.Rows, m.Cols) > maxElements {
		return false
	}
	if m.Rows == 0 || m.Cols == 0 {
		return true
	}
	last := len(m.Data) - 1
	if last < 0 || !fits(m.Rows, m.Cols, maxElements) ||
		!fits(m.Rows-1, m.RowStride, last) || !fits(m.Cols-1, m.ColStride, last-(m.Rows-1)*m.RowStride) {
		return false
	}
	contiguous := m.ColStride == 1 || m.Cols == 1
	switch use {
	case reads:
		return contiguous || m.RowStride == 1 || m.Rows == 1
	case writes:
		return contiguous && (m.RowStride >= m.Cols || m.Rows == 1)
	}
	return contiguous
}

// fault describes why m is not valid for use.
func (m *Matrix) fault(name string, use access) string {
	s := fmt.Sprintf("%s is %d × %d with strides %d and %d: ", name, m.Rows, m.Cols, m.RowStride, m.ColStride)
	if m.Rows < 0 || m.Cols < 0 || m.RowStride < 0 || m.ColStride < 0 {
		return s + "a size or stride is negative"
	}
	if max(m.Rows, m.Cols) > maxElements || !fits(m.Rows, m.Cols, maxElements) {
		return s + fmt.Sprintf("more than %d elements", maxElements)
	}
	needed := 1
	for _, n := range [2]int{saturatingProduct(m.Rows-1, m.RowStride, 1), saturatingProduct(m.Cols-1, m.ColStride, 1)} {
		needed += min(n, math.MaxInt-needed)
	}
	switch {
	case needed > len(m.Data):
		return s + fmt.Sprintf("it needs %d elements, Data has %d", needed, len(m.Data))
	case use == reads:
		return s + "one stride must be 1"
	case m.ColStride == 1 || m.Cols == 1:
		return s + "rows overlap"
	case m.RowStride == 1:
		return s + "a transpose; rows must be contiguous"
	}
	return s + "rows must be contiguous"
}

// overlaps reports whether two valid matrices share an element. Different columns of one matrix
// do not.
func (m *Matrix) overlaps(x *Matrix) bool {
	a, b := unsafe.SliceData(m.Data), unsafe.SliceData(x.Data)
	offset := (int(uintptr(unsafe.Pointer(b))) - int(uintptr(unsafe.Pointer(a)))) / size
	return offset < len(m.Data) && -offset < len(x.Data) && overlap(m, x, offset)
}

// runs are n runs of length adjacent elements. Consecutive runs begin stride ≥ length apart.
type runs struct{ n, length, stride int }

// runs returns the elements of m.
func (m *Matrix) runs() runs {
	s := runs{m.Rows, m.Cols, m.RowStride}
	if m.ColStride != 1 && m.Cols > 1 {
		s = runs{m.Cols, m.Rows, m.ColStride}
	}
	if m.Rows == 0 || m.Cols == 0 {
		return runs{}
	}
	if s.n == 1 || s.stride <= s.length {
		s.length += (s.n - 1) * s.stride
		s.n, s.stride = 1, s.length
	}
	return s
}

// overlap reports whether x, which begins offset elements after m, shares an element with m.
func overlap(m, x *Matrix, offset int) bool {
	if offset < 0 {
		m, x, offset = x, m, -offset
	}
	a, b := m.runs(), x.runs()
	if a.n == 0 || b.n == 0 {
		return false
	}
	end := (a.n-1)*a.stride + a.length
	for i := 0; i < b.n && offset < end; i++ {
		// This run of b overlaps runs first to last of a.
		first, last := (offset-a.length+a.stride)/a.stride, (offset+b.length-1)/a.stride
		if first <= min(last, a.n-1) {
			return true
		}
		if b.stride == a.stride {
			return false // the next run of b is where this one is, relative to a later run of a
		}
		offset += b.stride
	}
	return false
}

// saturatingProduct returns a·b·c, or math.MaxInt on overflow. The arguments must not be negative.
func saturatingProduct(a, b, c int) int {
	over, ab := bits.Mul(uint(a), uint(b))
	high, abc := bits.Mul(ab, uint(c))
	if c != 0 && over != 0 || high != 0 || abc > math.MaxInt {
		return math.MaxInt
	}
	return int(abc)
}
