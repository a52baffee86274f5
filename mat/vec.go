package mat

import (
	"fmt"
	"math"
)

// The vector kernels. doc.go defines their reductions, lengths, overlaps and errors. All may be
// called concurrently for outputs that do not overlap.
//
// A call of assembly cannot be preempted, so each processes one run. Functions named …Asm are
// assembly, those named …Generic the portable replacement.

// run is the maximum number of elements of one call of assembly, a few microseconds. Reductions
// depend on it.
const run = 8192

// Sum returns Σ x[j], or 0 for an empty x.
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

// Dot returns Σ x[j]·y[j]; each lane is a chain of fma.
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

// SumSquaredDiff returns Σ (x[j]-mean)²; each lane is a chain of fma.
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

// Max returns the largest x[j]: +0 for zeros of either sign, -Inf for an empty x, and NaN if x
// contains a NaN.
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

// Add computes y[j] += x[j].
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

// Axpy computes y[j] = fma(a, x[j], y[j]).
func Axpy(a float32, x, y []float32) {
	if len(y) != len(x) {
		panicLengths("Axpy", len(x), len(y))
	}
	if kernel == generic {
		axpyGeneric(y, a, x)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		axpyAsm(&y[lo], &x[lo], min(run, len(y)-lo), a)
	}
}

// Scal computes x[j] *= a.
func Scal(a float32, x []float32) {
	if kernel == generic {
		scalGeneric(x, a)
		return
	}
	for lo := 0; lo < len(x); lo += run {
		scalAsm(&x[lo], min(run, len(x)-lo), a)
	}
}

// ScaleShift computes y[j] = fma(y[j], a, b).
func ScaleShift(y []float32, a, b float32) {
	if kernel == generic {
		scaleShiftGeneric(y, a, b)
		return
	}
	for lo := 0; lo < len(y); lo += run {
		scaleShiftAsm(&y[lo], min(run, len(y)-lo), a, b)
	}
}

// AxpyTo computes dst[j] = fma(a, x[j], y[j]).
func AxpyTo(dst []float32, a float32, x, y []float32) {
	if n := len(dst); len(x) != n || len(y) != n {
		panicLengths("AxpyTo", len(dst), len(x), len(y))
	}
	if kernel == generic {
		axpyToGeneric(dst, a, x, y)
		return
	}
	for lo := 0; lo < len(dst); lo += run {
		axpyToAsm(&dst[lo], &x[lo], &y[lo], min(run, len(dst)-lo), a)
	}
}

// panicLengths panics with unequal lengths. It formats a copy, so that the caller's slice does not
// escape to the heap.
//
//go:noinline
func panicLengths(kernel string, lengths ...int) {
	panic(fmt.Sprintf("mat: %s of slices of unequal lengths %v", kernel, append([]int(nil), lengths...)))
}
