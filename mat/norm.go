package mat

import (
	"fmt"
	"math"
)

// Layer norms, one row at a time, and their derivatives (section 3.1 of "Attention Is All You
// Need").

// Normalize computes y[j] = fma((x[j]-mean)·rstd, gain[j], bias[j]), one row of a layer norm, for
// mean = Sum(x)/n and rstd = 1/sqrt(SumSquaredDiff(x, mean)/n + eps). The error is at most
// 2^-24·(2·|(x[j]-mean)·rstd·gain[j]| + |y[j]|) to first order, in addition to the errors of
// mean and rstd. A nil bias is zeros.
func Normalize(y, x []float32, mean, rstd float32, gain, bias []float32) {
	if n := len(y); len(x) != n || len(gain) != n || bias != nil && len(bias) != n {
		panicLengths("Normalize", len(y), len(x), len(gain), len(bias))
	}
	for lo := 0; lo < len(y); lo += run {
		hi := min(lo+run, len(y))
		b := zeros[:hi-lo]
		if bias != nil {
			b = bias[lo:hi]
		}
		if kernel == generic {
			normalizeGeneric(y[lo:hi], x[lo:hi], mean, rstd, gain[lo:hi], b)
		} else {
			normalizeAsm(&y[lo], &x[lo], &gain[lo], &b[0], hi-lo, mean, rstd)
		}
	}
}

// zeros is the bias of a Normalize without one.
var zeros [run]float32

// NormalizeRows sets each row i of y [n × d] to the layer norm of that of x, as Normalize does, and
// mean[i] and rstd[i] to
//
//	mean = Sum(x)/d
//	rstd = 1/sqrt(SumSquaredDiff(x, mean)/d + eps)
//
// with the root and its reciprocal in float64. y may be x but must not overlap it partly. It panics
// if rows are not contiguous or the shapes do not match. It runs on the calling goroutine.
func NormalizeRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) {
	y.check("NormalizeRows: y", writes)
	x.check("NormalizeRows: x", readsRows)
	checkSameShape("NormalizeRows", &y, &x)
	n, d := y.Rows, y.Cols
	if len(mean) != n || len(rstd) != n || len(gain) != d || bias != nil && len(bias) != d {
		panic(fmt.Sprintf("mat: NormalizeRows of %d × %d, %d means, %d rstds, %d gains and %d biases",
			n, d, len(mean), len(rstd), len(gain), len(bias)))
	}
	if n == 0 || d == 0 || normalizeRows(y, x, mean, rstd, gain, bias, eps) {
		return
	}
	for i := range n {
		x := x.Row(i)
		mean[i] = Sum(x) / float32(d)
		rstd[i] = float32(1 / math.Sqrt(float64(SumSquaredDiff(x, mean[i])/float32(d)+eps)))
		Normalize(y.Row(i), x, mean[i], rstd[i], gain, bias)
	}
}

// NormalizeSums returns Σ g[j] and Σ g[j]·x̂[j] for g = dy·gain and x̂ = (x-mean)·rstd, the
// sums of the derivative of a layer norm. In the second sum each lane is a chain of fma.
func NormalizeSums(dy, x []float32, mean, rstd float32, gain []float32) (sumG, sumGX float32) {
	if n := len(dy); len(x) != n || len(gain) != n {
		panicLengths("NormalizeSums", len(dy), len(x), len(gain))
	}
	for lo := 0; lo < len(dy); lo += run {
		n := min(run, len(dy)-lo)
		var s, sx float32
		if kernel == generic {
			s, sx = normalizeSumsGeneric(dy[lo:lo+n], x[lo:lo+n], mean, rstd, gain[lo:lo+n])
		} else {
			s, sx = normalizeSumsAsm(&dy[lo], &x[lo], &gain[lo], n, mean, rstd)
		}
		sumG, sumGX = sumG+s, sumGX+sx
	}
	return sumG, sumGX
}

// NormalizeGrad computes dx[j] = (fma(-x̂[j], c, g[j]) - meanG)·rstd, the derivative of a layer
// norm, with x̂ and g[j] as in NormalizeSums. meanG is the mean of g[j], and c that of
// g[j]·x̂[j]; other norms have another c, or a meanG of 0.
func NormalizeGrad(dx, dy, x []float32, mean, rstd float32, gain []float32, meanG, c float32) {
	if n := len(dx); len(dy) != n || len(x) != n || len(gain) != n {
		panicLengths("NormalizeGrad", len(dx), len(dy), len(x), len(gain))
	}
	if kernel == generic {
		normalizeGradGeneric(dx, dy, x, mean, rstd, gain, meanG, c)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		normalizeGradAsm(&dx[lo], &dy[lo], &x[lo], &gain[lo], min(run, len(dx)-lo), mean, rstd, meanG, c)
	}
}

// normalizeParamGrad is NormalizeParamGradRows for one row.
func normalizeParamGrad(dgain, dbias, dy, x []float32, mean, rstd float32) {
	if n := len(dgain); len(dbias) != n || len(dy) != n || len(x) != n {
		panicLengths("normalizeParamGrad", len(dgain), len(dbias), len(dy), len(x))
	}
	if kernel == generic {
		normalizeParamGradGeneric(dgain, dbias, dy, x, mean, rstd)
		return
	}
	for lo := 0; lo < len(dy); lo += run {
		normalizeParamGradAsm(&dgain[lo], &dbias[lo], &dy[lo], &x[lo], min(run, len(dy)-lo), mean, rstd)
	}
}

// NormalizeParamGradRows accumulates the gradients of the gain and bias of a layer norm, for each
// row of dy and x [n × d] in order, with mean and rstd [n]:
//
//	dgain[j] = fma(dy[j], (x[j]-mean)·rstd, dgain[j])
//	dbias[j] += dy[j]
//
// With a nil dbias it computes dgain alone. It panics if rows are not contiguous or the shapes do
// not match. dgain and dbias must not overlap each other, dy or x.
func NormalizeParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	dy.check("NormalizeParamGradRows: dy", readsRows)
	x.check("NormalizeParamGradRows: x", readsRows)
	n, d := dy.Rows, dy.Cols
	if x.Rows != n || x.Cols != d || len(dgain) != d || dbias != nil && len(dbias) != d || len(mean) != n || len(rstd) != n {
		panic(fmt.Sprintf("mat: NormalizeParamGradRows of dy %d × %d, x %d × %d, %d gains, %d biases, %d means and %d rstds",
			n, d, x.Rows, x.Cols, len(dgain), len(dbias), len(mean), len(rstd)))
	}
	if dbias != nil {
		normalizeParamGradRows(dgain, dbias, dy, x, mean, rstd)
		return
	}
	var discarded [64]float32 // dbias of some columns: the kernels compute both gradients
	for lo := 0; lo < d; lo += len(discarded) {
		hi := min(lo+len(discarded), d)
		normalizeParamGradRows(dgain[lo:hi], discarded[:hi-lo], dy.ColRange(lo, hi), x.ColRange(lo, hi), mean, rstd)
	}
}

// normalizeParamGradRows is NormalizeParamGradRows for checked arguments with a dbias.
func normalizeParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	done := 0
	for lo := 0; lo < dy.Rows; lo += rowsRun {
		hi := min(lo+rowsRun, dy.Rows)
		done = normalizeParamGradRowsAsm(dgain, dbias, dy.RowRange(lo, hi), x.RowRange(lo, hi), mean[lo:hi], rstd[lo:hi])
	}
	if done < dy.Cols {
		for i := range dy.Rows {
			normalizeParamGrad(dgain[done:], dbias[done:], dy.Row(i)[done:], x.Row(i)[done:], mean[i], rstd[i])
		}
	}
}
