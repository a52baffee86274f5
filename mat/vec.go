package mat

import (
	"fmt"
	"math"
)

// Vectors: sums, maxima and linear combinations. Reductions keep 16 partial results, lane l taking
// the elements j ≡ l (mod 16) in ascending order, and fold them in one tree: lane l with l+8, then
// l+4, l+2, l+1. A vector of more than 8192 elements is cut into runs of 8192, whose results are
// added in ascending order; so a sum of n terms is off by at most (min(n, 8192)/16 + 5 +
// n/8192)·2^-24·Σ|term| to first order, beside what the terms are off. "fma" is a fused multiply
// and add with one rounding. Slices that a kernel walks together must have equal lengths, else it
// panics. Unless said otherwise an output may be the same slice as an input, but must not overlap
// it otherwise. All of them may be called concurrently on outputs that do not overlap.
//
// The assembly of an instruction set takes the work of one run at a time, because a call of
// assembly cannot be preempted: its functions are the ones named …Asm, which the portable …Generic
// ones stand in for.

// run is the number of elements that one call of assembly works on at most, some microseconds. It
// is part of the definition of the reductions.
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
		panicLengths("Dot", len(x), len(y))
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

// Max is the largest x[j], +0 if that is a zero of either sign; -Inf for an empty x. If x holds a
// NaN, the result is a NaN.
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
		panicLengths("Add", len(y), len(x))
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
		panicLengths("Axpy", len(y), len(x))
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
		panicLengths("ScaleAdd", len(y), len(x), len(z))
	}
	if kernel == generic {
		scaleAddGeneric(y, x, a, z)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		scaleAddAsm(&y[lo], &x[lo], &z[lo], min(run, len(y)-lo), a)
	}
}

// panicLengths panics with the lengths, which are not equal. It formats a copy of them, so that a
// caller's are not allocated.
//
//go:noinline
func panicLengths(kernel string, lengths ...int) {
	panic(fmt.Sprintf("mat: %s of slices of %v numbers", kernel, append([]int(nil), lengths...)))
}
