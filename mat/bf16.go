package mat

import "math"

// GemmBF16 is Gemm with A and B rounded to bfloat16, which has the exponents of float32 and 8 bits
// of precision. C, the bias, the residual and all sums stay float32. It is for training on
// processors that multiply such numbers faster than float32; on others it gains nothing, see
// KernelBF16. It panics as Gemm does, may be called concurrently for different C, and allocates
// nothing once it has run on problems as large.
//
// A and B are rounded to the nearest, ties to even; their denormals become 0 of the same sign. k is
// filled up with zeros to a multiple of 32. Then each element x of C, which is 0 or what C holds,
// goes along one of two chains:
//
//	for l := 0; l < k; l += 2 { // in pairs
//		x = r(a[l+1]*b[l+1] + x)
//		x = r(a[l]*b[l] + x)
//	}
//
//	for l := 0; l < k; l += 32 { // in tiles
//		even, odd := 0, 0
//		for i := l; i < l+32; i += 2 {
//			even = r(a[i]*b[i] + even)
//			odd = r(a[i+1]*b[i+1] + odd)
//		}
//		x = r(x + r(even + odd))
//	}
//
// r rounds to float32 once, to the nearest, ties to even. A denormal x is taken as 0 of its sign,
// and so is a result that is below 2^-126 when rounded to 24 bits. What follows the chain (bias,
// activation, residual) is float32 as in Gemm, with its denormals.
//
// The pairs are how Intel defines VDPBF16PS, the tiles how it defines TDPBF16PS ("Intel 64 and
// IA-32 Architectures Software Developer's Manual", volume 2). Only where KernelBF16 is "amx" is it
// tiles. All others compute in pairs and give the same bits, portable Go included, except in one
// case on NEON, which looks whether a result is denormal before rounding it: if the exact one lies
// in [2^-126 - 2^-151, 2^-126), it is 0 there and 2^-126 elsewhere. Nothing else shows in the
// result: not m, n, the strides or the number of threads.
//
// The error against exact arithmetic on the rounded A and B is at most k·2^-24·(Σ|a||b| + |c|) in
// pairs and (k/32+18)·2^-24·(Σ|a||b| + |c|) in tiles, to first order; the rounding of A and B moves
// the result by up to 2^-7·Σ|a||b| more.
func GemmBF16(p *Pool, c, a, b Matrix, o GemmOptions) {
	b.check("B", reads)
	o.check(c, a, b.Rows, b.Cols)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	t := product{c: c, a: a, b: b, o: o}
	if k := kernelBF16(); k == portableBF16 || a.Cols == 0 {
		Each(p, c.Rows, 8, rowsBF16{t})
	} else {
		t.multiplyBF16(p, k)
	}
}

// arithmetic names what multiplies numbers in bfloat16.
type arithmetic uint8

const (
	portableBF16 arithmetic = iota // in pairs, by Go
	stripsBF16                     // in pairs, by the kernels of Gemm, with denormals flushed
	pairsBF16                      // VDPBF16PS
	tilesBF16                      // TDPBF16PS
)

// KernelBF16 names what GemmBF16 runs with:
//
//	amx         TDPBF16PS, whose limit is 16 times that of float32 (Intel since Sapphire Rapids, on
//	            Linux)
//	avx512bf16  VDPBF16PS, whose limit is twice that of float32 on AMD since Zen 4. It is not used
//	            where the kernels of float32 are faster, which is measured once: on Intel it has
//	            half of their speed
//	avx512, avx2, neon, generic
//	            the kernels of Gemm on rounded numbers, see Kernel: slower than Gemm, because
//	            portable Go rounds them
//
// The first two need Kernel to be "avx512" and can be switched off with
// GODEBUG=cpu.amxbf16=off,cpu.avx512bf16=off. Since its results differ, amx is not used either if
// the environment variable TFM_CPU asks for a kernel.
func KernelBF16() string {
	switch kernelBF16() {
	case tilesBF16:
		return "amx"
	case pairsBF16:
		return "avx512bf16"
	}
	return Kernel()
}

// FasterBF16 reports whether GemmBF16 takes less time than Gemm for C [m × n] and A [m × k]:
// KernelBF16 is "amx" or "avx512bf16" and the product is large enough for its operands to be worth
// packing. It depends on nothing else, so that who chooses by it has the same bits on any number of
// threads.
func FasterBF16(m, n, k int) bool {
	// As measured with AMX, where 64 × 64 × 64 is 1.5 times as fast, and half of that or 16 rows
	// are slower.
	const side, work = 32, 1 << 18
	if min(m, n, k) < side || m*n*k < work {
		return false
	}
	arithmetic := kernelBF16()
	return arithmetic == tilesBF16 || arithmetic == pairsBF16
}

const (
	stepBF16  = 32 // k is filled up with zeros to a multiple of this
	bandBF16  = 16 // rows of A or columns of B that are packed side by side
	stripBF16 = 2 * bandBF16
)

// roundBF16 is x rounded to bfloat16, which is its upper half.
func roundBF16(x float32) float32 {
	u := math.Float32bits(x)
	switch u >> 23 & 0xFF {
	case 0:
		u &= 1 << 31
	case 0xFF:
		if u<<9 != 0 {
			u |= 1 << 22 // a quiet NaN
		}
	default:
		u += 0x7FFF + u>>16&1
	}
	return math.Float32frombits(u &^ 0xFFFF)
}

// flushBelowBF16 is the least magnitude of an exact result that is not flushed to 0: rounded to 24 bits,
// it is 2^-126.
const flushBelowBF16 = 0x1p-126 - 0x1p-151

// fmaFlushed is r(x·y + z) of GemmBF16, for x and y that are no denormals. The product is exact in
// float64. The sum is not, so it is rounded to odd: what was cut off leaves its mark in the last
// bit, far below the bits that the second rounding looks at (Boldo and Melquiond, "Emulation of a
// FMA and correctly rounded sums", 2008).
func fmaFlushed(x, y, z float32, flushBelow float64) float32 {
	if math.Float32bits(z)<<1 < 1<<24 {
		z = float32(math.Copysign(0, float64(z)))
	}
	p, c := float64(x)*float64(y), float64(z)
	s := float64(p + c)
	v := float64(s - p)
	if e := float64(p-float64(s-v)) + float64(c-v); e != 0 && !math.IsInf(s, 0) && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), e))
	}
	if abs := math.Abs(s); abs < 0x1p-126 {
		if abs < flushBelow {
			return float32(math.Copysign(0, s))
		}
		return float32(math.Copysign(0x1p-126, s))
	}
	return float32(s)
}

// rowsBF16 computes rows of C in pairs, exactly as VDPBF16PS does.
type rowsBF16 struct{ product }

func (t *rowsBF16) Range(lo, hi int) {
	k := t.a.Cols
	for i := lo; i < hi; i++ {
		row := t.c.Data[i*t.c.RowStride:][:t.c.Cols]
		if !t.o.Accumulate {
			clear(row)
		}
		for l := range ceil(k, stepBF16) {
			if l ^= 1; l >= k {
				for j := range row {
					row[j] += 0 // makes 0 of -0
				}
				continue
			}
			a := roundBF16(t.a.At(i, l))
			for j, x := range row {
				row[j] = fmaFlushed(a, roundBF16(t.b.At(l, j)), x, flushBelowBF16)
			}
		}
		for j, x := range row {
			if t.o.Bias != nil {
				x += t.o.Bias[j]
			}
			if t.o.Activation == ReLU && x < 0 {
				x = 0
			}
			row[j] = x
		}
	}
	t.o.finish(t.c, lo, hi, 0, t.c.Cols)
}
