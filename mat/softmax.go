package mat

import (
	"fmt"
	"math"
)

// Softmax and its derivative, for one row and for the rows of a matrix (section 3.2.1 of "Attention
// Is All You Need").

// ExpSum computes y[j] = exp(x[j]-shift) and returns Σ y[j]. With shift = Max(x) these are the
// numerator and the denominator of a softmax. The relative error of the exponential is below 1e-7.
// Results below 2^-125.5 (1.7e-38) are 0, those above the largest float32 are +Inf.
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

// Softmax computes the softmax of scale·x, for scale > 0: y[j] = e[j]·(1/Σ e) with e[j] =
// exp((x[j]-Max(x))·scale) as in ExpSum. If all x[j] are -Inf, as in a fully masked row, y is
// zeros. If one is NaN or +Inf, all y[j] are NaN. It panics if the lengths differ or scale is not
// above 0.
//
// With t the largest (Max(x)-x[j])·scale, the relative error of an element is below
// (4·t + n/16 + 12)·2^-24 to first order, for n ≤ 8192 elements and results of at least 2^-126.
//
// In attention x is a row of Q·Kᵀ and scale is 1/√d_k (section 3.2.1).
func Softmax(y, x []float32, scale float32) {
	if len(y) != len(x) {
		panicLengths("Softmax", len(y), len(x))
	}
	checkScale("Softmax", scale)
	switch {
	case len(x) == 0:
	case len(x) <= run && kernel != generic:
		softmaxAsm(&y[0], &x[0], len(x), scale)
	default:
		// If all are -Inf, this shift avoids -Inf + Inf and the sum is 0; otherwise it is
		// at least 1.
		shift := max(Max(x), -math.MaxFloat32)
		sum := expSum(y, x, shift, scale)
		Scal(1/max(sum, 1), y)
	}
}

// SoftmaxGrad computes dx[j] = p[j]·(dp[j]-dot)·scale, the gradient with respect to s of p =
// softmax(scale·s), for dot = Dot(p, dp).
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

// SoftmaxRows sets row i of y [n × m] to the softmax of scale·x over the first visible+i elements
// of the row, at most m, as Softmax does; the other elements become 0. Causal attention (section
// 3.2.3) has visible = 1 plus the number of earlier keys; with visible ≥ m no element is masked.
// y may be x but must not overlap it partly. It panics if the shapes differ, rows are not
// contiguous, visible < 0 or scale is not above 0. It runs on the calling goroutine.
func SoftmaxRows(y, x Matrix, visible int, scale float32) {
	y.check("SoftmaxRows: y", writes)
	x.check("SoftmaxRows: x", readsRows)
	checkSameShape("SoftmaxRows", &y, &x)
	if visible < 0 {
		panic(fmt.Sprintf("mat: SoftmaxRows with visible = %d, expected 0 or more", visible))
	}
	checkScale("SoftmaxRows", scale)
	if y.Rows == 0 || y.Cols == 0 || softmaxRows(y, x, visible, scale) {
		return
	}
	for i := range y.Rows {
		to, n := y.Row(i), min(visible+i, y.Cols)
		Softmax(to[:n], x.Row(i)[:n], scale)
		clear(to[n:])
	}
}

// SoftmaxGradRows is SoftmaxGrad for each row of dx, p and dp [n × m], with dot the Dot of the
// row's p and dp: the derivative of SoftmaxRows. dx may be p or dp but must not overlap them
// partly. It panics if the shapes differ or rows are not contiguous.
func SoftmaxGradRows(dx, p, dp Matrix, scale float32) {
	dx.check("SoftmaxGradRows: dx", writes)
	p.check("SoftmaxGradRows: p", readsRows)
	dp.check("SoftmaxGradRows: dp", readsRows)
	checkSameShape("SoftmaxGradRows", &dx, &p)
	checkSameShape("SoftmaxGradRows", &dx, &dp)
	if dx.Rows == 0 || dx.Cols == 0 || softmaxGradRows(dx, p, dp, scale) {
		return
	}
	for i := range dx.Rows {
		p, dp := p.Row(i), dp.Row(i)
		SoftmaxGrad(dx.Row(i), p, dp, Dot(p, dp), scale)
	}
}

// checkScale panics unless scale is above 0: a softmax subtracts the largest element before it
// multiplies by scale.
func checkScale(function string, scale float32) {
	if !(scale > 0) {
		panic(fmt.Sprintf("mat: %s with scale %v, expected one above 0", function, scale))
	}
}

// checkSameShape panics unless y and x have the same shape.
func checkSameShape(function string, y, x *Matrix) {
	if y.Rows != x.Rows || y.Cols != x.Cols {
		panic(fmt.Sprintf("mat: %s of %d × %d and %d × %d matrices", function, y.Rows, y.Cols, x.Rows, x.Cols))
	}
}
