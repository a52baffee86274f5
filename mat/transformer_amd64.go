//go:build !purego && !noasm

package mat

// rowsArgs describes rows of y, x and z, with cols elements each, 1 to run. Strides count bytes.
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

// normArgs describes rows of y and x, with cols elements each, 1 to run. Strides count bytes.
type normArgs struct {
	y, x, gain, bias, mean, rstd *float32
	yRow, xRow                   uintptr
	rows, cols                   int
	d, eps                       float32 // d is cols
}

// layerNormRows implements LayerNormRows for nonempty rows and reports whether it did.
func layerNormRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) bool {
	if kernel != avx512 || y.Cols > run {
		return false
	}
	if bias == nil {
		bias = zeros[:]
	}
	s := normArgs{gain: &gain[0], bias: &bias[0], yRow: uintptr(y.RowStride) * size, xRow: uintptr(x.RowStride) * size,
		cols: y.Cols, d: float32(y.Cols), eps: eps}
	for i, callRows := 0, max(1, run/y.Cols); i < y.Rows; i += callRows {
		s.y, s.x, s.mean, s.rstd = &y.Data[i*y.RowStride], &x.Data[i*x.RowStride], &mean[i], &rstd[i]
		s.rows = min(callRows, y.Rows-i)
		layerNormRowsAVX512(&s)
	}
	return true
}

// layerNormRowsAVX512 is
//
//	for i := range rows {
//		mean[i] = sumAsm(x[i*xRow:], cols) / d
//		rstd[i] = float32(1 / sqrt(float64(sumSquaredDiffAsm(x[i*xRow:], cols, mean[i])/d + eps)))
//		layerNormAsm(y[i*yRow:], x[i*xRow:], gain, bias, cols, mean[i], rstd[i])
//	}
//
//go:noescape
func layerNormRowsAVX512(s *normArgs)

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

// layerNormParamGradRowsAsm is LayerNormParamGradRows for the first columns, whose number it
// returns. There is at least one row.
func layerNormParamGradRowsAsm(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) int {
	if kernel != avx512 {
		return 0
	}
	n := dy.Cols &^ (rowsCols - 1)
	for j := 0; j < n; j += rowsCols {
		layerNormParamGradRowsAVX512(&dgain[j], &dbias[j], &dy.Data[j], &x.Data[j], uintptr(dy.RowStride)*size, uintptr(x.RowStride)*size, &mean[0], &rstd[0], dy.Rows)
	}
	return n
}

// layerNormParamGradRowsAVX512 is layerNormParamGradAsm for 64 columns of several rows, which are
// dyRow and xRow bytes apart.
//
//go:noescape
func layerNormParamGradRowsAVX512(dgain, dbias, dy, x *float32, dyRow, xRow uintptr, mean, rstd *float32, rows int)
