package mat

import (
	"fmt"
	"math"
)

// Softmax and its derivative, for one row and for the rows of a matrix (section 3.2.1 of "Attention
// Is All You Need"). vec.go says what holds of all vector kernels.

// ExpSum is y[j] = exp(x[j]-shift), and returns Σ y[j]. With shift = Max(x) it is the numerator and
// the denominator of a softmax. The relative error of the exponential is below 1e-7; results below
// 2^-125.5 (1.7e-38) are 0, above the largest number +Inf, and a NaN stays one.
func ExpSum(y, x []float32, shift float32) float32 {
	if len(y) != len(x) {
		panicLengths("ExpSum", len(y), len(x))
	}
	return expSum(y, x, shift, 1)
}

// expSum is ExpSum with y[j] = exp((x[j]-shift)·scale).
func expSum(y, x []float32, shift, scale float32) float32 {
	var s float32
	for lo := 0; lo < len(x); lo += run {
		n := min(run, len(x)-lo)
		if kernel == generic {
			s += expSumGeneric(y[lo:lo+n], x[lo:lo+n], shift, scale)
		} else {
			s += expSumAsm(&y[lo], &x[lo], n, shift, scale)
		}
	}
	return s
}

// Softmax is y[j] = e[j]·(1/Σ e), where e[j] = exp((x[j]-max)·scale) is computed as by ExpSum, max
// is the largest x[j], and scale is above 0: the softmax of scale·x. If all x[j] are -Inf, as in a
// row of which everything is masked, y is zeros; if one is NaN or +Inf, all y[j] are NaN.
//
// With t the largest (max-x[j])·scale, the relative error of an element of n is below
// (4·t + n/16 + 12)·2^-24 to first order (n ≤ 8192), as long as it is at least 2^-126.
//
// In attention x is a row of Q·Kᵀ and scale is 1/√d_k (section 3.2.1).
func Softmax(y, x []float32, scale float32) {
	if len(y) != len(x) {
		panicLengths("Softmax", len(y), len(x))
	}
	switch {
	case len(x) == 0:
	case len(x) <= run && kernel != generic:
		softmaxAsm(&y[0], &x[0], len(x), scale)
	default:
		// Where all are -Inf, this shift keeps the exponents from being -Inf + Inf, and the sum is
		// 0. Else it is at least 1.
		shift := max(Max(x), -math.MaxFloat32)
		sum := expSum(y, x, shift, scale)
		Scale(y, 1/max(sum, 1))
	}
}

// SoftmaxGrad is dx[j] = p[j]·(dp[j]-dot)·scale, the derivative of p = softmax(scale·s) with
// respect to s, for dot = Dot(p, dp).
func SoftmaxGrad(dx, p, dp []float32, dot, scale float32) {
	if n := len(dx); len(p) != n || len(dp) != n {
		panicLengths("SoftmaxGrad", len(dx), len(p), len(dp))
	}
	if kernel == generic {
		softmaxGradGeneric(dx, p, dp, dot, scale)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		softmaxGradAsm(&dx[lo], &p[lo], &dp[lo], min(run, len(dx)-lo), dot, scale)
	}
}

// SoftmaxRows sets row i of y [n × m] to the softmax of scale times the first first+i numbers of
// row i of x [n × m], or of all m if those are fewer, as Softmax does, and the numbers behind them
// to 0: attention whose queries see one key more each (section 3.2.3), or with first ≥ m, that sees
// all. y may be x, but must not overlap it otherwise. It panics if the shapes differ, rows are not
// contiguous or first < 0.
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

// SoftmaxGradRows is SoftmaxGrad for each row of dx, p and dp [n × m] with the dot of that row: the
// derivative of SoftmaxRows. dx may be one of the others, but must not overlap them otherwise. It
// panics if the shapes differ or rows are not contiguous.
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
