//go:build !purego && !noasm

package mat

// rowsCols is the number of columns that the routines below process together: four registers.
const rowsCols = 64

// addRowsAsm is AddRows for the first columns, whose number it returns. m has at least one row.
func addRowsAsm(sum []float32, m Matrix) int {
	if kernel != avx512 {
		return 0
	}
	n := m.Cols &^ (rowsCols - 1)
	for j := 0; j < n; j += rowsCols {
		addRowsAVX512(&sum[j], &m.Data[j], uintptr(m.RowStride)*size, m.Rows)
	}
	return n
}

// addRowsAVX512 adds 64 columns of rows that are row bytes apart:
//
//	for range rows {
//		for j := range 64 {
//			sum[j] += x[j]
//		}
//		x += row
//	}
//
//go:noescape
func addRowsAVX512(sum, x *float32, row uintptr, rows int)

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

// normArgs describes rows of y and x, with cols elements each, 1 to run. Strides count bytes.
type normArgs struct {
	y, x, gain, bias, mean, rstd *float32
	yRow, xRow                   uintptr
	rows, cols                   int
	d, eps                       float32 // d is cols
}

// layerNormRows implements LayerNormRows for nonempty rows and reports whether it did.
func layerNormRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) bool {
	if kernel == generic || y.Cols > run {
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
		layerNormRowsAsm(&s)
	}
	return true
}

// layerNormRowsAsm, in transformer_amd64.s, is
//
//	for i := range rows {
//		mean[i] = sumAsm(x[i*xRow:], cols) / d
//		rstd[i] = float32(1 / sqrt(float64(sumSquaredDiffAsm(x[i*xRow:], cols, mean[i])/d + eps)))
//		layerNormAsm(y[i*yRow:], x[i*xRow:], gain, bias, cols, mean[i], rstd[i])
//	}
//
//go:noescape
func layerNormRowsAsm(s *normArgs)
