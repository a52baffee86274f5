package mat

import "fmt"

// AddRows adds every row of m to sum [m.Cols]: sum[j] = (…((sum[j] + m[0][j]) + m[1][j]) + …), one chain over the rows in
// order. The rows of m must be contiguous. It panics if the lengths differ.
func AddRows(sum []float32, m Matrix) {
	m.check("the rows")
	if len(sum) != m.Cols || m.ColStride != 1 && m.Cols > 1 {
		panic(fmt.Sprintf("mat: AddRows of rows %d × %d (strides %d and %d) to %d numbers", m.Rows, m.Cols, m.RowStride, m.ColStride, len(sum)))
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
// rows must be contiguous. It panics if the shapes differ.
func NormalizeParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	dy.check("dy")
	x.check("x")
	if n, d := dy.Rows, dy.Cols; x.Rows != n || x.Cols != d || len(dgain) != d || len(dbias) != d || len(mean) != n || len(rstd) != n ||
		d > 1 && (dy.ColStride != 1 || x.ColStride != 1) {
		panic(fmt.Sprintf("mat: NormalizeParamGradRows of dy %d × %d (strides %d and %d), x %d × %d (strides %d and %d), %d gains, %d biases, %d means and %d rstds",
			n, d, dy.RowStride, dy.ColStride, x.Rows, x.Cols, x.RowStride, x.ColStride, len(dgain), len(dbias), len(mean), len(rstd)))
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
