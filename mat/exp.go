package mat

// The exponential of the vector kernels is one fixed sequence of float32 operations; "fma" has one
// rounding:
//
//	t = min(max(t, expMin), expMax)         a NaN remains a NaN
//	z = fma(t, log2 e, 1.5·2^23 + 126)     rounds to k = round(t/ln 2); its lowest bits are k+126
//	k = z - (1.5·2^23 + 126)
//	r = fma(-k, ln2Lo, fma(-k, ln2Hi, t))  |r| ≤ ln2/2; the inner one is exact
//	p = 2·e^r by a polynomial of degree 6 in Horner's scheme, each step an fma
//	y = p·2^(k-1), the bits of z shifted left by 23
//
// The exponent of the last factor is k-1 rather than k, so results up to the largest float32 are
// finite, larger ones overflow to +Inf, and at k = -126 the factor is 0. The relative error is
// below 1e-7, including 3e-9 of the polynomial.

// Indices of expConst, from which assembly loads its constants.
const (
	expMin = iota
	expMax
	expLog2E
	expRound
	expLn2Hi
	expLn2Lo
	expPoly
)

var expConst = [...]float32{
	expMin:   -0x1.5d58ap6, // -126·ln 2: the factor is 0
	expMax:   89.4,         // 129·ln 2: the factor is +Inf
	expLog2E: 1.44269504088896340736,
	expRound: 0x1.8p23 + 126,
	expLn2Hi: 0x1.62e43p-1,
	expLn2Lo: 0.693147180559945309417 - 0x1.62e43p-1,
	// 2·e^r = 2 + 2r + r²·q(r), with q the minimax polynomial for the relative error on |r| ≤
	// ln2/2
	expPoly: 2 * 0.0013814598646808571, 2 * 0.008368716879735406, 2 * 0.041668388045312456,
	// the coefficients of r^6 to r^1; that of r^0 is 2 as well
	2 * 0.1666652063170941, 2 * 0.4999999344779648, 2,
}
