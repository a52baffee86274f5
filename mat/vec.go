package mat

import (
	"fmt"
	"math"
)

// The vector kernels. Reductions keep 16 partial results, lane l taking the elements j ≡ l (mod 16) in
// ascending order, and fold them in one tree: lane l with l+8, then l+4, l+2, l+1. A vector of more than 8192
// elements is cut into runs of 8192, whose results are added in ascending order; so a sum of n terms is off by at most
// (min(n, 8192)/16 + 5 + n/8192)·2^-24·Σ|term| to first order, beside what the terms are off. "fma" is a fused multiply
// and add with one rounding. Slices that a kernel walks together must have equal lengths, else it panics.
// Unless said otherwise an output may be the same slice as an input, but must not overlap it otherwise.
// All of them may be called concurrently on outputs that do not overlap.
//
// The assembly of an instruction set takes the work of one run at a time, because a call of assembly cannot
// be preempted: its functions are the ones named …Asm, which the portable …Generic ones stand in for.

// run is the number of elements that one call of assembly works on at most, some microseconds. It is part
// of the definition of the reductions.
const run = 8192

// Sum is Σ x[j]; 0 for an empty x.
func Sum(x []float32) float32 {
	var s float32
	for lo := 0; lo < len(x); lo += run {
		n := min(run, len(x)-lo)
		if kernel == generic {
			s += sumGeneric(x[lo : lo+n])
		} else {
			s += sumAsm(&x[lo], n)
		}
	}
	return s
}

// Dot is Σ x[j]·y[j], each lane a chain of fma.
func Dot(x, y []float32) float32 {
	if len(y) != len(x) {
		differ("Dot", len(x), len(y))
	}
	var s float32
	for lo := 0; lo < len(x); lo += run {
		n := min(run, len(x)-lo)
		if kernel == generic {
			s += dotGeneric(x[lo:lo+n], y[lo:lo+n])
		} else {
			s += dotAsm(&x[lo], &y[lo], n)
		}
	}
	return s
}

// SumSquaredDiff is Σ (x[j]-mean)², each lane a chain of fma.
func SumSquaredDiff(x []float32, mean float32) float32 {
	var s float32
	for lo := 0; lo < len(x); lo += run {
		n := min(run, len(x)-lo)
		if kernel == generic {
			s += sumSquaredDiffGeneric(x[lo:lo+n], mean)
		} else {
			s += sumSquaredDiffAsm(&x[lo], n, mean)
		}
	}
	return s
}

// Max is the largest x[j], +0 if that is a zero of either sign; -Inf for an empty x. If x holds a NaN, the
// result is a NaN.
func Max(x []float32) float32 {
	if kernel == generic {
		return maxGeneric(x)
	}
	m := float32(math.Inf(-1))
	for lo := 0; lo < len(x); lo += run {
		m = max(m, maxAsm(&x[lo], min(run, len(x)-lo)))
	}
	return m
}

// Add is y[j] += x[j].
func Add(y, x []float32) {
	if len(y) != len(x) {
		differ("Add", len(y), len(x))
	}
	if kernel == generic {
		addGeneric(y, x)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		addAsm(&y[lo], &x[lo], min(run, len(y)-lo))
	}
}

// Axpy is y[j] = fma(a, x[j], y[j]).
func Axpy(y []float32, a float32, x []float32) {
	if len(y) != len(x) {
		differ("Axpy", len(y), len(x))
	}
	if kernel == generic {
		axpyGeneric(y, a, x)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		axpyAsm(&y[lo], &x[lo], min(run, len(y)-lo), a)
	}
}

// Scale is y[j] *= a.
func Scale(y []float32, a float32) {
	if kernel == generic {
		scaleGeneric(y, a)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		scaleAsm(&y[lo], min(run, len(y)-lo), a)
	}
}

// ScaleShift is y[j] = fma(y[j], a, b).
func ScaleShift(y []float32, a, b float32) {
	if kernel == generic {
		scaleShiftGeneric(y, a, b)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		scaleShiftAsm(&y[lo], min(run, len(y)-lo), a, b)
	}
}

// ScaleAdd is y[j] = fma(x[j], a, z[j]).
func ScaleAdd(y, x []float32, a float32, z []float32) {
	if n := len(y); len(x) != n || len(z) != n {
		differ("ScaleAdd", len(y), len(x), len(z))
	}
	if kernel == generic {
		scaleAddGeneric(y, x, a, z)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		scaleAddAsm(&y[lo], &x[lo], &z[lo], min(run, len(y)-lo), a)
	}
}

// ExpSum is y[j] = exp(x[j]-shift), and returns Σ y[j]. With shift = Max(x) it is the numerator and the
// denominator of a softmax. The relative error of the exponential is below 1e-7; results below 2^-125.5
// (1.7e-38) are 0, above the largest number +Inf, and a NaN stays one.
func ExpSum(y, x []float32, shift float32) float32 {
	if len(y) != len(x) {
		differ("ExpSum", len(y), len(x))
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

// Softmax is y[j] = e[j]·(1/Σ e), where e[j] = exp((x[j]-max)·scale) is computed as by ExpSum, max is the
// largest x[j], and scale is above 0: the softmax of scale·x. If all x[j] are -Inf, as in a row of which
// everything is masked, y is zeros; if one is NaN or +Inf, all y[j] are NaN.
//
// With t the largest (max-x[j])·scale, the relative error of an element of n is below
// (4·t + n/16 + 12)·2^-24 to first order (n ≤ 8192), as long as it is at least 2^-126.
//
// In attention x is a row of Q·Kᵀ and scale is 1/√d_k (section 3.2.1).
func Softmax(y, x []float32, scale float32) {
	if len(y) != len(x) {
		differ("Softmax", len(y), len(x))
	}
	switch {
	case len(x) == 0:
	case len(x) <= run && kernel != generic:
		softmaxAsm(&y[0], &x[0], len(x), scale)
	default:
		// Where all are -Inf, this shift keeps the exponents from being -Inf + Inf, and the sum is 0. Else it is at least 1.
		shift := max(Max(x), -math.MaxFloat32)
		sum := expSum(y, x, shift, scale)
		Scale(y, 1/max(sum, 1))
	}
}

// SoftmaxGrad is dx[j] = p[j]·(dp[j]-dot)·scale, the derivative of p = softmax(scale·s) with respect to s,
// for dot = Dot(p, dp).
func SoftmaxGrad(dx, p, dp []float32, dot, scale float32) {
	if n := len(dx); len(p) != n || len(dp) != n {
		differ("SoftmaxGrad", len(dx), len(p), len(dp))
	}
	if kernel == generic {
		softmaxGradGeneric(dx, p, dp, dot, scale)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		softmaxGradAsm(&dx[lo], &p[lo], &dp[lo], min(run, len(dx)-lo), dot, scale)
	}
}

// Normalize is y[j] = fma((x[j]-mean)·rstd, gain[j], bias[j]): one row of a layer norm. To first order it is off by at
// most 2^-24·(2·|(x[j]-mean)·rstd·gain[j]| + |y[j]|), beside what mean and rstd are off.
func Normalize(y, x []float32, mean, rstd float32, gain, bias []float32) {
	if n := len(y); len(x) != n || len(gain) != n || len(bias) != n {
		differ("Normalize", len(y), len(x), len(gain), len(bias))
	}
	if kernel == generic {
		normalizeGeneric(y, x, mean, rstd, gain, bias)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		normalizeAsm(&y[lo], &x[lo], &gain[lo], &bias[lo], min(run, len(y)-lo), mean, rstd)
	}
}

// NormalizeSums returns Σ g[j] and Σ g[j]·x̂[j] (a chain of fma in each lane) for g = dy·gain and
// x̂ = (x-mean)·rstd, the two sums that the derivative of a layer norm needs.
func NormalizeSums(dy, x []float32, mean, rstd float32, gain []float32) (g, gx float32) {
	if n := len(dy); len(x) != n || len(gain) != n {
		differ("NormalizeSums", len(dy), len(x), len(gain))
	}
	for lo := 0; lo < len(dy); lo += run {
		n := min(run, len(dy)-lo)
		var s, sx float32
		if kernel == generic {
			s, sx = normalizeSumsGeneric(dy[lo:lo+n], x[lo:lo+n], mean, rstd, gain[lo:lo+n])
		} else {
			s, sx = normalizeSumsAsm(&dy[lo], &x[lo], &gain[lo], n, mean, rstd)
		}
		g, gx = g+s, gx+sx
	}
	return g, gx
}

// NormalizeGrad is dx[j] = (fma(-x̂[j], gx, g[j]) - g)·rstd, with x̂ and g[j] as in NormalizeSums; g and gx
// are the means of its two sums.
func NormalizeGrad(dx, dy, x []float32, mean, rstd float32, gain []float32, g, gx float32) {
	if n := len(dx); len(dy) != n || len(x) != n || len(gain) != n {
		differ("NormalizeGrad", len(dx), len(dy), len(x), len(gain))
	}
	if kernel == generic {
		normalizeGradGeneric(dx, dy, x, mean, rstd, gain, g, gx)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		normalizeGradAsm(&dx[lo], &dy[lo], &x[lo], &gain[lo], min(run, len(dx)-lo), mean, rstd, g, gx)
	}
}

// NormalizeParamGrad is dgain[j] = fma(dy[j], (x[j]-mean)·rstd, dgain[j]) and dbias[j] += dy[j]. The two
// outputs must not overlap each other or the inputs.
func NormalizeParamGrad(dgain, dbias, dy, x []float32, mean, rstd float32) {
	if n := len(dgain); len(dbias) != n || len(dy) != n || len(x) != n {
		differ("NormalizeParamGrad", len(dgain), len(dbias), len(dy), len(x))
	}
	if kernel == generic {
		normalizeParamGradGeneric(dgain, dbias, dy, x, mean, rstd)
		return
	}
	for lo := 0; lo < len(dy); lo += run {
		normalizeParamGradAsm(&dgain[lo], &dbias[lo], &dy[lo], &x[lo], min(run, len(dy)-lo), mean, rstd)
	}
}

// Adam is one step of Adam on a run of parameters, with the corrections for the bias of the moments already
// in Rate and Second:
//
//	g' = g·Clip
//	m  = fma(Beta1, m, (1-Beta1)·g')
//	v  = fma(Beta2, v, ((1-Beta2)·g')·g')
//	w  = w - (Rate·m) / (sqrt(v·Second) + Eps)
//
// Source: Kingma and Ba, 2015, algorithm 1, with Rate = α/(1-Beta1^t) and Second = 1/(1-Beta2^t).
type Adam struct {
	Beta1, Beta2, Eps  float32
	Rate, Second, Clip float32
}

// Step applies the step to w, m and v for the gradient g. The four must not overlap.
func (a *Adam) Step(w, g, m, v []float32) {
	if n := len(w); len(g) != n || len(m) != n || len(v) != n {
		differ("Adam.Step", len(w), len(g), len(m), len(v))
	}
	if kernel == generic {
		adamGeneric(a, w, g, m, v)
		return
	}
	for lo := 0; lo < len(w); lo += run {
		adamAsm(a, &w[lo], &g[lo], &m[lo], &v[lo], min(run, len(w)-lo))
	}
}

// differ panics with the lengths, which are not equal. It formats a copy of them, so that a caller's are not
// allocated.
//
//go:noinline
func differ(kernel string, lengths ...int) {
	panic(fmt.Sprintf("mat: %s of slices of %v numbers", kernel, append([]int(nil), lengths...)))
}
