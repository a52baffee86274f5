package mat

import "fmt"

// AddRows adds every row of m to sum [m.Cols]: sum[j] = (…((sum[j] + m[0][j]) + m[1][j]) + …), one chain over the rows in
// order. The rows of m must be contiguous. It panics if they are not or the lengths differ.
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

// NormalizeParamGradRows is NormalizeParamGrad for each row of dy and x in order, with the means and rstds of the rows. The
// rows must be contiguous. It panics if they are not or the shapes differ.
func NormalizeParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	dy.check("NormalizeParamGradRows: dy", readsRows)
	x.check("NormalizeParamGradRows: x", readsRows)
	if n, d := dy.Rows, dy.Cols; x.Rows != n || x.Cols != d || len(dgain) != d || len(dbias) != d || len(mean) != n || len(rstd) != n {
		panic(fmt.Sprintf("mat: NormalizeParamGradRows of dy %d × %d, x %d × %d, %d gains, %d biases, %d means and %d rstds",
			n, d, x.Rows, x.Cols, len(dgain), len(dbias), len(mean), len(rstd)))
	}
	done := 0
	for lo := 0; lo < dy.Rows; lo += rowsRun {
		hi := min(lo+rowsRun, dy.Rows)
		done = normalizeParamGradRowsAsm(dgain, dbias, dy.RowRange(lo, hi), x.RowRange(lo, hi), mean[lo:hi], rstd[lo:hi])
	}
	if done < dy.Cols {
		for i := range dy.Rows {
			NormalizeParamGrad(dgain[done:], dbias[done:], dy.Row(i)[done:], x.Row(i)[done:], mean[i], rstd[i])
		}
	}
}

// rowsRun is how many rows one call of an assembly routine takes: a few microseconds.
const rowsRun = 4096
