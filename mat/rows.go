package mat

import "fmt"

// AddRows adds every row of m to sum [m.Cols]: sum[j] = (…((sum[j] + m[0][j]) + m[1][j]) + …), one
// chain over the rows in order. The rows of m must be contiguous. It panics if they are not or the
// lengths differ.
func AddRows(sum []float32, m Matrix) {
	m.check("AddRows: m", readsRows)
	if len(sum) != m.Cols {
		panic(fmt.Sprintf("mat: AddRows of rows %d × %d to %d numbers", m.Rows, m.Cols, len(sum)))
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

// rowsRun is how many rows one call of an assembly routine takes: a few microseconds.
const rowsRun = 4096
