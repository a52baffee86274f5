// Package exact has functions of float64 that return the same bits on every machine: each is one
// fixed sequence of IEEE operations. Those of package math differ, because some have assembly on
// some machines and the compiler fuses multiplications and additions on others. They are for
// tables, schedules and scores, not for speed.
package exact

import "math"

// Exp returns e^x, with a relative error below 3e-16.
func Exp(x float64) float64 {
	switch {
	case x != x || x > 709.78:
		return x * math.Inf(1) // NaN or +Inf
	case x < -745.2:
		return 0
	}
	// x = k·ln 2 + r, |r| ≤ ln2/2, and e^r by 14 terms of its series: an error below half a
	// bit.
	const ln2Hi, ln2Lo = 6.93147180369123816490e-01, 1.90821492927058770002e-10
	k := math.RoundToEven(x * (1 / math.Ln2))
	r := math.FMA(-k, ln2Lo, math.FMA(-k, ln2Hi, x))
	sum := 1.0
	for n := 14.0; n > 0; n-- {
		sum = math.FMA(sum, r/n, 1)
	}
	return math.Ldexp(sum, int(k))
}

// Log returns the natural logarithm of x, with a relative error below 4e-16: -Inf for 0, NaN for
// negative x.
func Log(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	// x = f·2^k with f in [√½, √2), and log f = 2·atanh(s), s = (f-1)/(f+1), |s| ≤ 0.172.
	f, k := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, k = f*2, k-1
	}
	s := (f - 1) / (f + 1)
	z := float64(s * s)
	sum := 0.0
	for n := 21.0; n > 1; n -= 2 {
		sum = math.FMA(sum, z, 1/n)
	}
	t := float64(2 * s)
	return math.FMA(float64(k), math.Ln2, math.FMA(t, float64(z*sum), t))
}

// Log2 returns the binary logarithm of x.
func Log2(x float64) float64 { return float64(Log(x) * (1 / math.Ln2)) }

// Pow returns x^y for x > 0, with a relative error below 1e-13 if |y·log x| < 100.
func Pow(x, y float64) float64 { return Exp(y * Log(x)) }

// Sincos returns sin x and cos x for 0 ≤ x < 2^20, with an absolute error below 1e-15.
func Sincos(x float64) (sin, cos float64) {
	// x = q·π/2 + r, |r| ≤ π/4; π/2 as three parts, so that q·part is exact for the first two.
	const p1, p2, p3 = 1.57079625129699707031, 7.54978941586159635336e-08, 5.39030285815811905290e-15
	q := math.RoundToEven(x * (2 / math.Pi))
	r := math.FMA(-q, p3, math.FMA(-q, p2, math.FMA(-q, p1, x)))
	z := float64(r * r)
	s, c := 1.0, 1.0
	for n := 18.0; n > 0; n -= 2 {
		s = math.FMA(s, -z/float64(n*(n+1)), 1)
		c = math.FMA(c, -z/float64(n*(n-1)), 1)
	}
	s *= r
	switch int64(q) & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	}
	return -c, s
}
