package mat

import (
	"fmt"
	"strconv"
)

// Activation is an activation function, applied element by element. GemmOptions applies it to a
// product while the result is in cache.
type Activation uint8

const (
	Identity    Activation = iota // x
	ReLU                          // max(x, 0); -0 and NaN are unchanged
	GELU                          // x·Φ(x), Φ the standard normal distribution function
	GELUTanh                      // x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, approximates GELU
	SiLU                          // x/(1 + e^-x), also called Swish
	activations                   // the number of activations
)

var activationNames = [activations]string{"identity", "relu", "gelu", "gelu-tanh", "silu"}

// Activations returns all activation functions but Identity.
func Activations() (all []Activation) {
	for f := Identity + 1; f < activations; f++ {
		all = append(all, f)
	}
	return all
}

// String returns the name of f, such as "gelu-tanh".
func (f Activation) String() string {
	if f >= activations {
		return "Activation(" + strconv.Itoa(int(f)) + ")"
	}
	return activationNames[f]
}

// Apply computes y[j] = f(x[j]). y may be x but must not overlap it partly. It panics if the
// lengths differ. It may be called concurrently for different y.
//
// GELU, GELUTanh and SiLU have f(+Inf) = +Inf, f(-Inf) = f(±0) = 0 and f(NaN) = NaN. Their
// relative error is below 5e-7 (GELU) and 2.5e-7 (GELUTanh, SiLU) for every x, in the negative tail
// too, if the magnitude of the result is at least 2^-126; for smaller ones the absolute error is
// below 3·2^-149. The absolute error for x < 0 is below 1e-7. In portable Go the relative errors
// are below 6e-7 and 3e-7.
//
// Sources: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016; Elfwing, Uchibe and Doya,
// "Sigmoid-weighted linear units for neural network function approximation in reinforcement
// learning", 2018.
func (f Activation) Apply(y, x []float32) {
	if len(y) != len(x) {
		panicLengths("Activation.Apply", len(y), len(x))
	}
	f.check()
	switch {
	case f == Identity:
		copy(y, x)
		return
	case kernel == generic:
		f.applyGeneric(y, x)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		y, x, n := &y[lo], &x[lo], min(run, len(y)-lo)
		switch f {
		case ReLU:
			reluAsm(y, x, n)
		case GELU:
			geluAsm(y, x, n)
		case GELUTanh:
			geluTanhAsm(y, x, n)
		case SiLU:
			siluAsm(y, x, n)
		}
	}
}

// Grad computes dx[j] *= f'(x[j]), with x the input of f. For ReLU that sets dx[j] to 0 unless x[j]
// > 0, so x may be the output of ReLU instead of its input. dx may be x but must not overlap it
// partly. It panics if the lengths differ. It may be called concurrently for different dx.
//
// GELU, GELUTanh and SiLU have f'(+Inf) = 1, f'(-Inf) = 0 and f'(NaN) = NaN. The absolute error of
// f'(x) is below 1.5e-7 for every x. The relative error is below 7e-7 if |f'(x)| is at least 2^-126
// (below that the absolute error is below 3·2^-149) and x is not within 0.4 of the root of f', at
// -0.75 for GELU and -1.28 for SiLU.
func (f Activation) Grad(dx, x []float32) {
	if len(dx) != len(x) {
		panicLengths("Activation.Grad", len(dx), len(x))
	}
	f.check()
	switch {
	case f == Identity:
		return
	case kernel == generic:
		f.gradGeneric(dx, x)
		return
	}
	for lo := 0; lo < len(dx); lo += run {
		dx, x, n := &dx[lo], &x[lo], min(run, len(dx)-lo)
		switch f {
		case ReLU:
			reluGradAsm(dx, x, n)
		case GELU:
			geluGradAsm(dx, x, n)
		case GELUTanh:
			geluTanhGradAsm(dx, x, n)
		case SiLU:
			siluGradAsm(dx, x, n)
		}
	}
}

// GELU, GELUTanh and SiLU are x·D(x) with D(x) + D(-x) = 1, so they are computed from n = -|x|:
//
//	f(x) = max(x, 0) + n·D(n)
//	f'(x) = g if x < 0 else 1 - g    with g = D(n) + n·D'(n)
//
// where D(n) is e^t times a factor of moderate size. Each is one fixed sequence of float32
// operations; "fma" has one rounding:
//
//	n = max(-|x|, limit)                       a NaN remains a NaN
//	SiLU      t = n
//	GELU      t = n·h, h = -n/2                the exponent, and its rounding error, which in the
//	          tl = fma(n, h, -t)               tail affects many digits of e^t
//	GELUTanh  s = n·n
//	          q = fma(c3, s, c1)
//	          l = fma(c3, fma(n, n, -s), fma(c3Lo, s, fma(c3, s, c1 - q))) + c1Lo
//	          t = n·q
//	          tl = fma(n, l, fma(n, q, -t))
//	e = 2^32·e^(t+tl)                          as exp.go, with 1.5·2^23 + 158, unclamped,
//	                                           and r + tl instead of r
//	d = fma(e, 2^-32, 1)                       not for GELU
//	r = P(n)/Q(n)                              GELU only
//	y = fma(m, 2^-32, max(x, 0))               m = (n·e)/d, or (n·e)·r for GELU
//	dx = dx·fma(g, 2^-32, 0) if the sign of x is negative, else dx·fma(-g, 2^-32, 1)
//	SiLU      g = (e·(d + n))/(d·d)
//	GELU      g = e·fma(n, 1/√(2π), r)
//	GELUTanh  g = (e·fma(n, fma(3·c3, s, c1), d))/(d·d)
//
// The factor 2^32 keeps the values of the tail normal until the last operation. At the limit e^t is
// below 2^-157.5 and the factor of e is 0. c1 = √(8/π) and c3 = 0.044715·c1 are the
// coefficients of 2·√(2/π)·(x + 0.044715·x³), each a sum of two float32; c1 is a multiple of
// 2^-20, so that c1 - q is exact. P and Q, by Horner's scheme, are the minimax rational function
// for e^(n²/2)·Φ(n) from limit to 0, with a relative error of 7e-9 and all terms of one sign.

// Indices of actConst, from which assembly loads its constants.
const (
	actRound = iota
	actShrink
	actOne
	siluLimit
	geluLimit
	geluHalf
	geluDensity
	geluP // of degree 4
	_
	_
	_
	_
	geluQ // of degree 5, without the constant 1
	_
	_
	_
	_
	tanhLimit
	tanhC1
	tanhC3
	tanhC1Lo
	tanhC3Lo
	tanh3C3
)

var actConst = [...]float32{
	actRound:    0x1.8p23 + 158,
	actShrink:   0x1p-32,
	actOne:      1,
	siluLimit:   -109.51725452847135889, // -158·ln 2
	geluLimit:   -14.799814494004400114, // -√(2·158·ln 2)
	geluHalf:    -0.5,
	geluDensity: 0.39894228040143267794,
	geluP:       0.00414592301788215803, -0.0408321283532487929, 0.18382417030567125,
	-0.439088399942346588, 0.50000000311046952,
	geluQ: -0.0103921746383829058, 0.102357148130225189, -0.471025897550590132,
	1.20494717027492191, -1.6760618017243435,
	tanhLimit: -10.889513329305382455, // where t is -158·ln 2
	tanhC1:    0x1.98845p0,
	tanhC3:    0x1.2444f2p-4,
	tanhC1Lo:  1.5957691216057307118 - 0x1.98845p0,
	tanhC3Lo:  0.071354816272600248776 - 0x1.2444f2p-4,
	tanh3C3:   3 * 0.071354816272600248776,
}

// check panics if the activation does not exist.
func (f Activation) check() {
	if f >= activations {
		panic("mat: " + f.fault())
	}
}

// fault describes an activation that does not exist.
func (f Activation) fault() string {
	last := activations - 1
	return fmt.Sprintf("unknown activation %d, expected 0 (%v) to %d (%v)", uint8(f), Identity, uint8(last), last)
}
