//go:build !purego && !noasm

package mat

// rowsCols is how many columns the routines below take at a time: four registers.
const rowsCols = 64

// addRowsAsm is AddRows for as many columns as it returns, the first ones. m has at least one row.
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

// normalizeParamGradRowsAsm is NormalizeParamGradRows for as many columns as it returns, the first ones. There is at least
// one row.
func normalizeParamGradRowsAsm(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) int {
	if kernel != avx512 {
		return 0
	}
	n := dy.Cols &^ (rowsCols - 1)
	for j := 0; j < n; j += rowsCols {
		normalizeParamGradRowsAVX512(&dgain[j], &dbias[j], &dy.Data[j], &x.Data[j], uintptr(dy.RowStride)*size, uintptr(x.RowStride)*size, &mean[0], &rstd[0], dy.Rows)
	}
	return n
}

// addRowsAVX512 adds 64 columns of rows, which begin row bytes from one another:
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

// normalizeParamGradRowsAVX512 is the same for normalizeParamGradAsm, with dyRow and xRow bytes from row to row.
//
//go:noescape
func normalizeParamGradRowsAVX512(dgain, dbias, dy, x *float32, dyRow, xRow uintptr, mean, rstd *float32, rows int)
