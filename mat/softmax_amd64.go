//go:build !purego && !noasm

package mat

// rowsArgs describes rows of y, x and z, with cols elements each, 1 to softmaxCols. Strides count
// bytes.
type rowsArgs struct {
	y, x, z           *float32
	yRow, xRow, zRow  uintptr
	rows, cols, first int
	scale             float32
}

// softmaxCols is the maximum number of columns of softmaxRows and softmaxGradRows: two registers.
// Longer rows gain nothing from a call for many.
const softmaxCols = 32

// softmaxRows implements SoftmaxRows for nonempty rows and reports whether it did.
func softmaxRows(y, x Matrix, first int, scale float32) bool {
	if kernel != avx512 || first == 0 || y.Cols > softmaxCols {
		return false
	}
	s := rowsArgs{yRow: uintptr(y.RowStride) * size, xRow: uintptr(x.RowStride) * size, cols: y.Cols, scale: scale}
	for i, callRows := 0, max(1, run/y.Cols); i < y.Rows; i += callRows {
		s.y, s.x = &y.Data[i*y.RowStride], &x.Data[i*x.RowStride]
		s.rows, s.first = min(callRows, y.Rows-i), min(first, y.Cols)+i
		softmaxRowsAVX512(&s)
	}
	return true
}

// softmaxGradRows implements SoftmaxGradRows for nonempty rows and reports whether it did.
func softmaxGradRows(dx, p, dp Matrix, scale float32) bool {
	if kernel != avx512 || dx.Cols > softmaxCols {
		return false
	}
	s := rowsArgs{yRow: uintptr(dx.RowStride) * size, xRow: uintptr(p.RowStride) * size, zRow: uintptr(dp.RowStride) * size,
		cols: dx.Cols, scale: scale}
	for i, callRows := 0, max(1, run/dx.Cols); i < dx.Rows; i += callRows {
		s.y, s.x, s.z = &dx.Data[i*dx.RowStride], &p.Data[i*p.RowStride], &dp.Data[i*dp.RowStride]
		s.rows = min(callRows, dx.Rows-i)
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
func softmaxRowsAVX512(s *rowsArgs)

// softmaxGradRowsAVX512 is
//
//	for i := range rows {
//		p, dp := x[i*xRow:], z[i*zRow:]
//		softmaxGradAsm(y[i*yRow:], p, dp, cols, 0+dotAsm(p, dp, cols), scale)
//	}
//
//go:noescape
func softmaxGradRowsAVX512(s *rowsArgs)

// expSumAVX512 is expSumAsm, which jumps to it.
//
//go:noescape
func expSumAVX512(y, x *float32, n int, shift, scale float32) float32
