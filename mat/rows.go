package mat

import "fmt"

// AddRows adds every row of m to sum [m.Cols]: sum[j] = (…((sum[j] + m[0][j]) + m[1][j]) + …), one
// chain of additions over the rows in order. It panics if the rows of m are not contiguous or sum
// has another length.
func AddRows(sum []float32, m Matrix) {
	m.check("AddRows: m", readsRows)
	if len(sum) != m.Cols {
		panic(fmt.Sprintf("mat: AddRows of %d × %d to %d elements", m.Rows, m.Cols, len(sum)))
	}
	done := 0
	for lo := 0; lo < m.Rows; lo += rowsRun {
		done = addRowsAsm(sum, m.RowRange(lo, min(lo+rowsRun, m.Rows)))
	}
	if done < m.Cols {
		for i := range m.Rows {
			Add(sum[done:], m.Row(i)[done:])
		}
	}
}

// rowsRun is the maximum number of rows of one call of assembly, a few microseconds.
const rowsRun = 4096
