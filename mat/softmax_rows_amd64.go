//go:build !purego && !noasm

package mat

// rowsOf is rows of cols numbers, from 1 to run, of y, x and z. Strides count bytes.
type rowsOf struct {
	y, x, z           *float32
	yRow, xRow, zRow  uintptr
	rows, cols, first int
	scale             float32
}

// softmaxRows does what SoftmaxRows does with rows that are not empty, and reports whether it did.
func softmaxRows(y, x Matrix, first int, scale float32) bool {
	if kernel != avx512 || first == 0 || y.Cols > run {
		return false
	}
	s := rowsOf{yRow: uintptr(y.RowStride) * size, xRow: uintptr(x.RowStride) * size, cols: y.Cols, scale: scale}
	for i, most := 0, max(1, run/y.Cols); i < y.Rows; i += most {
		s.y, s.x = &y.Data[i*y.RowStride], &x.Data[i*x.RowStride]
		s.rows, s.first = min(most, y.Rows-i), min(first, y.Cols)+i
		softmaxRowsAVX512(&s)
	}
	return true
}

// softmaxGradRows is the same for SoftmaxGradRows.
func softmaxGradRows(dx, p, dp Matrix, scale float32) bool {
	if kernel != avx512 || dx.Cols > run {
		return false
	}
	s := rowsOf{yRow: uintptr(dx.RowStride) * size, xRow: uintptr(p.RowStride) * size, zRow: uintptr(dp.RowStride) * size,
		cols: dx.Cols, scale: scale}
	for i, most := 0, max(1, run/dx.Cols); i < dx.Rows; i += most {
		s.y, s.x, s.z = &dx.Data[i*dx.RowStride], &p.Data[i*p.RowStride], &dp.Data[i*dp.RowStride]
		s.rows = min(most, dx.Rows-i)
		softmaxGradRowsAVX512(&s)
	}
	return true
}

// softmaxRowsAVX512 is
//
//	for i := range rows {
//		n := min(first+i, cols) // at least 1
//		softmaxAsm(y[i*yRow:], x[i*xRow:], n, scale)
//		clear(y[i*yRow:][n:cols])
//	}
//
//go:noescape
func softmaxRowsAVX512(s *rowsOf)

// softmaxGradRowsAVX512 is
//
//	for i := range rows {
//		p, dp := x[i*xRow:], z[i*zRow:]
//		softmaxGradAsm(y[i*yRow:], p, dp, cols, 0+dotAsm(p, dp, cols), scale)
//	}
//
//go:noescape
func softmaxGradRowsAVX512(s *rowsOf)
