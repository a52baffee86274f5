package mat

import "fmt"

// SoftmaxRows sets row i of y [n × m] to the softmax of scale times the first first+i numbers of row i of x [n × m], or
// of all m if those are fewer, as Softmax does, and the numbers behind them to 0: attention whose queries see one
// key more each (section 3.2.3), or with first ≥ m, that sees all. y may be x, but must not overlap it otherwise. It panics if
// the shapes differ, rows are not contiguous or first < 0.
func SoftmaxRows(y, x Matrix, first int, scale float32) {
	y.check("SoftmaxRows: y", writes)
	x.check("SoftmaxRows: x", readsRows)
	checkShapes("SoftmaxRows", &y, &x)
	if first < 0 {
		panic(fmt.Sprintf("mat: SoftmaxRows of the first %d numbers", first))
	}
	if y.Rows == 0 || y.Cols == 0 || softmaxRows(y, x, first, scale) {
		return
	}
	for i := range y.Rows {
		to, n := y.Row(i), min(first+i, y.Cols)
		Softmax(to[:n], x.Row(i)[:n], scale)
		clear(to[n:])
	}
}

// SoftmaxGradRows is SoftmaxGrad for each row of dx, p and dp [n × m] with the dot of that row: the derivative of
// SoftmaxRows. dx may be one of the others, but must not overlap them otherwise. It panics if the shapes differ or rows are
// not contiguous.
func SoftmaxGradRows(dx, p, dp Matrix, scale float32) {
	dx.check("SoftmaxGradRows: dx", writes)
	p.check("SoftmaxGradRows: p", readsRows)
	dp.check("SoftmaxGradRows: dp", readsRows)
	checkShapes("SoftmaxGradRows", &dx, &p)
	checkShapes("SoftmaxGradRows", &dx, &dp)
	if dx.Rows == 0 || dx.Cols == 0 || softmaxGradRows(dx, p, dp, scale) {
		return
	}
	for i := range dx.Rows {
		p, dp := p.Row(i), dp.Row(i)
		SoftmaxGrad(dx.Row(i), p, dp, Dot(p, dp), scale)
	}
}

// checkShapes panics unless y and x have one shape.
func checkShapes(function string, y, x *Matrix) {
	if y.Rows != x.Rows || y.Cols != x.Cols {
		panic(fmt.Sprintf("mat: %s of %d × %d and %d × %d numbers", function, y.Rows, y.Cols, x.Rows, x.Cols))
	}
}
