package mat

import (
	"fmt"
	"math"
)

// Layer norms, one row at a time, and their derivatives (section 3.1 of "Attention Is All You
// Need").

// LayerNorm computes y[j] = fma((x[j]-mean)·rstd, gain[j], bias[j]), one row of a layer norm, for
// mean = Sum(x)/n and rstd = 1/sqrt(SumSquaredDiff(x, mean)/n + eps). The error is at most
// 2^-24·(2·|(x[j]-mean)·rstd·gain[j]| + |y[j]|) to first order, in addition to the errors of
// mean and rstd. A nil bias is zeros.
func LayerNorm(y, x []float32, mean, rstd float32, gain, bias []float32) {
	if n := len(y); len(x) != n || len(gain) != n || bias != nil && len(bias) != n {
		panicLengths("LayerNorm", len(y), len(x), len(gain), len(bias))
	}
	for lo := 0; lo < len(y); lo += run {
		hi := min(lo+run, len(y))
		b := zeros[:hi-lo]
		if bias != nil {
			b = bias[lo:hi]
		}
		if kernel == generic {
			layerNormGeneric(y[lo:hi], x[lo:hi], mean, rstd, gain[lo:hi], b)
		} else {
			layerNormAsm(&y[lo], &x[lo], &gain[lo], &b[0], hi-lo, mean, rstd)
		}
	}
}

// zeros is the bias of a LayerNorm without one.
var zeros [run]float32

// LayerNormRows sets each row i of y [n × d] to the layer norm of that of x, as LayerNorm does, and
// mean[i] and rstd[i] to
//
//	mean = Sum(x)/d
//	rstd = 1/sqrt(SumSquaredDiff(x, mean)/d + eps)
//
// with the root and its reciprocal in float64. y may be x but must not overlap it partly. It panics
// if rows are not contiguous or the shapes do not match. It runs on the calling goroutine.
func LayerNormRows(y, x Matrix, mean, rstd, gain, bias []float32, eps float32) {
	y.check("LayerNormRows: y", writes)
	x.check("LayerNormRows: x", readsRows)
	checkSameShape("LayerNormRows", &y, &x)
	n, d := y.Rows, y.Cols
	if len(mean) != n || len(rstd) != n || len(gain) != d || bias != nil && len(bias) != d {
		panic(fmt.Sprintf("mat: LayerNormRows of %d × %d, %d means, %d rstds, %d gains and %d biases",
			n, d, len(mean), len(rstd), len(gain), len(bias)))
	}
	if n == 0 || d == 0 || layerNormRows(y, x, mean, rstd, gain, bias, eps) {
		return
	}
	for i := range n {
		x := x.Row(i)
		mean[i] = Sum(x) / float32(d)
		rstd[i] = float32(1 / math.Sqrt(float64(SumSquaredDiff(x, mean[i])/float32(d)+eps)))
		LayerNorm(y.Row(i), x, mean[i], rstd[i], gain, bias)
	}
}

// LayerNormGradSums returns Σ g[j] and Σ g[j]·x̂[j] for g = dy·gain and x̂ = (x-mean)·rstd, the
// sums of the derivative of a layer norm. In the second sum each lane is a chain of fma.
func LayerNormGradSums(dy, x []float32, mean, rstd float32, gain []float32) (sumG, sumGX float32) {
	if n := len(dy); len(x) != n || len(gain) != n {
		panicLengths("LayerNormGradSums", len(dy), len(x), len(gain))
	}
	for lo := 0; lo < len(dy); lo += run {
		n := min(run, len(dy)-lo)
		var s, sx float32
		if kernel == generic {
			s, sx = layerNormGradSumsGeneric(dy[lo:lo+n], x[lo:lo+n], mean, rstd, gain[lo:lo+n])
		} else {
			s, sx = layerNormGradSumsAsm(&dy[lo], &x[lo], &gain[lo], n, mean, rstd)
		}
		sumG, sumGX = sumG+s, sumGX+sx
	}
	return sumG, sumGX
}

// LayerNormGrad computes dx[j] = (fma(-x̂[j], c, g[j]) - meanG)·rstd, the derivative of a layer
// norm, with x̂ and g[j] as in LayerNormGradSums. meanG is the mean of g[j], and c that of
// g[j]·x̂[j]; other norms have another c, or a meanG of 0.
func LayerNormGrad(dx, dy, x []float32, mean, rstd float32, gain []float32, meanG, c float32) {
	if n := len(dx); len(dy) != n || len(x) != n || len(gain) != n {
		panicLengths("LayerNormGrad", len(dx), len(dy), len(x), len(gain))
	}
	if kernel == generic {
		layerNormGradGeneric(dx, dy, x, mean, rstd, gain, meanG, c)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		layerNormGradAsm(&dx[lo], &dy[lo], &x[lo], &gain[lo], min(run, len(dx)-lo), mean, rstd, meanG, c)
	}
}

// layerNormParamGrad is LayerNormParamGradRows for one row.
func layerNormParamGrad(dgain, dbias, dy, x []float32, mean, rstd float32) {
	if n := len(dgain); len(dbias) != n || len(dy) != n || len(x) != n {
		panicLengths("layerNormParamGrad", len(dgain), len(dbias), len(dy), len(x))
	}
	if kernel == generic {
		layerNormParamGradGeneric(dgain, dbias, dy, x, mean, rstd)
		return
	}
	for lo := 0; lo < len(dy); lo += run {
		layerNormParamGradAsm(&dgain[lo], &dbias[lo], &dy[lo], &x[lo], min(run, len(dy)-lo), mean, rstd)
	}
}

// LayerNormParamGradRows accumulates the gradients of the gain and bias of a layer norm, for each
// row of dy and x [n × d] in order, with mean and rstd [n]:
//
//	dgain[j] = fma(dy[j], (x[j]-mean)·rstd, dgain[j])
//	dbias[j] += dy[j]
//
// With a nil dbias it computes dgain alone. It panics if rows are not contiguous or the shapes do
// not match. dgain and dbias must not overlap each other, dy or x.
func LayerNormParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	dy.check("LayerNormParamGradRows: dy", readsRows)
	x.check("LayerNormParamGradRows: x", readsRows)
	n, d := dy.Rows, dy.Cols
	if x.Rows != n || x.Cols != d || len(dgain) != d || dbias != nil && len(dbias) != d || len(mean) != n || len(rstd) != n {
		panic(fmt.Sprintf("mat: LayerNormParamGradRows of dy %d × %d, x %d × %d, %d gains, %d biases, %d means and %d rstds",
			n, d, x.Rows, x.Cols, len(dgain), len(dbias), len(mean), len(rstd)))
	}
	if dbias != nil {
		layerNormParamGradRows(dgain, dbias, dy, x, mean, rstd)
		return
	}
	var discarded [64]float32 // dbias of some columns: the kernels compute both gradients
	for lo := 0; lo < d; lo += len(discarded) {
		hi := min(lo+len(discarded), d)
		layerNormParamGradRows(dgain[lo:hi], discarded[:hi-lo], dy.ColRange(lo, hi), x.ColRange(lo, hi), mean, rstd)
	}
}

// layerNormParamGradRows is LayerNormParamGradRows for checked arguments with a dbias.
func layerNormParamGradRows(dgain, dbias []float32, dy, x Matrix, mean, rstd []float32) {
	done := 0
	for lo := 0; lo < dy.Rows; lo += rowsRun {
		hi := min(lo+rowsRun, dy.Rows)
		done = layerNormParamGradRowsAsm(dgain, dbias, dy.RowRange(lo, hi), x.RowRange(lo, hi), mean[lo:hi], rstd[lo:hi])
	}
	if done < dy.Cols {
		for i := range dy.Rows {
			layerNormParamGrad(dgain[done:], dbias[done:], dy.Row(i)[done:], x.Row(i)[done:], mean[i], rstd[i])
		}
	}
}
