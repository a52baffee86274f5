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
