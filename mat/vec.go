package mat

import "fmt"

// The vector kernels. Reductions keep 16 partial results, lane l taking the elements j ≡ l (mod 16) in
// ascending order, and fold them in one tree: lane l with l+8, then l+4, l+2, l+1. "fma" is a fused multiply
// and add with one rounding. Slices that a kernel walks together must have equal lengths, else it panics.
// Unless said otherwise an output may be the same slice as an input, but must not overlap it otherwise.
// All of them may be called concurrently on outputs that do not overlap.

// Sum is Σ x[j]; 0 for an empty x.
func Sum(x []float32) float32 { return sumGeneric(x) }

// Dot is Σ x[j]·y[j], each lane a chain of fma.
func Dot(x, y []float32) float32 {
	same("Dot", len(x), len(y))
	return dotGeneric(x, y)
}

// SumSquaredDiff is Σ (x[j]-mean)², each lane a chain of fma.
func SumSquaredDiff(x []float32, mean float32) float32 { return sumSquaredDiffGeneric(x, mean) }

// Max is the largest x[j]; -Inf for an empty x. If x holds a NaN, the result is a NaN.
func Max(x []float32) float32 { return maxGeneric(x) }

// Add is y[j] += x[j].
func Add(y, x []float32) {
	same("Add", len(y), len(x))
	addGeneric(y, x)
}

// Axpy is y[j] = fma(a, x[j], y[j]).
func Axpy(y []float32, a float32, x []float32) {
	same("Axpy", len(y), len(x))
	axpyGeneric(y, a, x)
}

// Scale is y[j] *= a.
func Scale(y []float32, a float32) { scaleGeneric(y, a) }

// ScaleShift is y[j] = fma(y[j], a, b).
func ScaleShift(y []float32, a, b float32) { scaleShiftGeneric(y, a, b) }

// ScaleAdd is y[j] = fma(x[j], a, z[j]).
func ScaleAdd(y, x []float32, a float32, z []float32) {
	same("ScaleAdd", len(y), len(x), len(z))
	scaleAddGeneric(y, x, a, z)
}

// ExpSum is y[j] = exp(x[j]-shift), and returns Σ y[j]. With shift = Max(x) it is the numerator and the
// denominator of a softmax. The relative error is below 2e-7; results below the smallest normal number,
// 1.2e-38, are 0, above the largest +Inf, and a NaN stays one.
func ExpSum(y, x []float32, shift float32) float32 {
	same("ExpSum", len(y), len(x))
	return expSumGeneric(y, x, shift)
}

// SoftmaxGrad is dx[j] = p[j]·(dp[j]-dot)·scale, the derivative of p = softmax(scale·s) with respect to s,
// for dot = Dot(p, dp).
func SoftmaxGrad(dx, p, dp []float32, dot, scale float32) {
	same("SoftmaxGrad", len(dx), len(p), len(dp))
	softmaxGradGeneric(dx, p, dp, dot, scale)
}

// ReLUGrad sets dx[j] to 0 where y[j], the output of a ReLU, is not above 0.
func ReLUGrad(dx, y []float32) {
	same("ReLUGrad", len(dx), len(y))
	reluGradGeneric(dx, y)
}

// Normalize is y[j] = fma((x[j]-mean)·rstd, gain[j], bias[j]): one row of a layer norm.
func Normalize(y, x []float32, mean, rstd float32, gain, bias []float32) {
	same("Normalize", len(y), len(x), len(gain), len(bias))
	normalizeGeneric(y, x, mean, rstd, gain, bias)
}

// NormalizeSums returns Σ g[j] and Σ g[j]·x̂[j] (a chain of fma in each lane) for g = dy·gain and
// x̂ = (x-mean)·rstd, the two sums that the derivative of a layer norm needs.
func NormalizeSums(dy, x []float32, mean, rstd float32, gain []float32) (g, gx float32) {
	same("NormalizeSums", len(dy), len(x), len(gain))
	return normalizeSumsGeneric(dy, x, mean, rstd, gain)
}

// NormalizeGrad is dx[j] = rstd·(fma(-x̂[j], gx, g[j]) - g), with x̂ and g[j] as in NormalizeSums; g and gx
// are the means of its two sums.
func NormalizeGrad(dx, dy, x []float32, mean, rstd float32, gain []float32, g, gx float32) {
	same("NormalizeGrad", len(dx), len(dy), len(x), len(gain))
	normalizeGradGeneric(dx, dy, x, mean, rstd, gain, g, gx)
}

// NormalizeParamGrad is dgain[j] = fma(dy[j], (x[j]-mean)·rstd, dgain[j]) and dbias[j] += dy[j].
func NormalizeParamGrad(dgain, dbias, dy, x []float32, mean, rstd float32) {
	same("NormalizeParamGrad", len(dgain), len(dbias), len(dy), len(x))
	normalizeParamGradGeneric(dgain, dbias, dy, x, mean, rstd)
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

// Step applies the step to w, m and v for the gradient g.
func (a *Adam) Step(w, g, m, v []float32) {
	same("Adam.Step", len(w), len(g), len(m), len(v))
	adamGeneric(a, w, g, m, v)
}

func same(kernel string, n int, others ...int) {
	for _, o := range others {
		if o != n {
			panic(fmt.Sprintf("mat: %s of slices of %d and %v numbers", kernel, n, others))
		}
	}
}
