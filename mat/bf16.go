package mat

import "math"

// GemmBF16 is Gemm with A and B rounded to bfloat16, which has the exponent range of float32 and 8
// bits of precision. C, the bias, the residual and all sums are float32. It is for training on
// processors that multiply bfloat16 faster than float32; on others it runs in portable Go and is
// much slower than Gemm, see FasterBF16. It panics as Gemm does, may be called concurrently for
// different C, and allocates only scratch memory that later calls reuse.
//
// A and B are rounded to nearest, ties to even; denormals become 0 of the same sign. k is padded
// with zeros to a multiple of 32. Each element x of C, which starts as 0 or as C, is computed by
// one of two chains:
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
// r rounds to float32 once, to nearest, ties to even. A denormal x is replaced by 0 of its sign,
// and so is a result below 2^-126 after rounding to 24 bits. The epilogue is float32 as in Gemm,
// including denormals.
//
// Intel defines VDPBF16PS by the pairs and TDPBF16PS by the tiles ("Intel 64 and IA-32
// Architectures Software Developer's Manual", volume 2). Tiles are used only if KernelBF16 is
// "amx". All others compute in pairs and return the same bits, except after GELU, GELUTanh and SiLU
// if Kernel is "generic". The result does not depend on m, n, the strides or the number of threads.
//
// The error against exact arithmetic on the rounded A and B is at most k·2^-24·(Σ|a||b| + |c|)
// in pairs and (k/32+18)·2^-24·(Σ|a||b| + |c|) in tiles, to first order; the rounding of A and B
// moves the result by up to 2^-7·Σ|a||b| more.
func GemmBF16(p *Pool, c, a, b Matrix, o GemmOptions) {
	o.checkOperands(&c, &a, &b)
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	t := product{c: c, a: a, b: b, o: o}
	switch k := kernelBF16(); {
	case k == tilesBF16 && a.Cols > 0:
		t.multiplyTilesBF16(p)
	case k == pairsBF16 && a.Cols > 0:
		t.multiplyPairsBF16(p)
	default:
		Each(p, c.Rows, 8, rowsBF16{t})
	}
}

// arithmetic is a way to multiply in bfloat16.
type arithmetic uint8

const (
	portableBF16 arithmetic = iota // in pairs, by Go
	pairsBF16                      // VDPBF16PS
	tilesBF16                      // TDPBF16PS
)

// KernelBF16 names the kernel of GemmBF16:
//
//	amx         TDPBF16PS, with 16 times the peak rate of float32 (Intel since Sapphire Rapids, on
//	            Linux)
//	avx512bf16  VDPBF16PS, with twice the peak rate of float32 on AMD since Zen 4 and on Intel's
//	            Cooper Lake. Other Intel processors have half the rate and do not use it
//	generic     portable Go on all other processors: hundreds of times slower than Gemm
//
// The first two need Kernel to be "avx512" and are disabled by
// GODEBUG=cpu.amxbf16=off,cpu.avx512bf16=off, for which the Go runtime prints "unknown cpu
// feature". MAT_KERNEL and TFM_CPU disable amx, because its results differ.
func KernelBF16() string {
	return [...]string{portableBF16: "generic", pairsBF16: "avx512bf16", tilesBF16: "amx"}[kernelBF16()]
}

// FasterBF16 reports whether GemmBF16 is faster than Gemm for C [m × n] and A [m × k]: KernelBF16
// is "amx" or "avx512bf16" and the product is large enough to justify packing its operands. It does
// not depend on the number of threads, so choosing by it gives the same bits for any number.
func FasterBF16(m, n, k int) bool {
	// Measured with AMX: 64 × 64 × 64 is 1.5 times as fast; half that size, or 16 rows, is
	// slower.
	const side, work = 32, 1 << 18
	if min(m, n, k) < side || m*n*k < work {
		return false
	}
	return kernelBF16() != portableBF16
}

const (
	stepBF16  = 32 // k is padded with zeros to a multiple of stepBF16
	bandBF16  = 16 // rows of A or columns of B that are packed side by side
	stripBF16 = 2 * bandBF16
)

// roundBF16 returns x rounded to bfloat16, the upper half of a float32.
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

// fmaFlushed returns r(x·y + z) of GemmBF16 for x and y that are not denormal. The product is
// exact in float64. The sum is not, so it is rounded to odd: a remainder sets the last bit, far
// below the bits that affect the second rounding (Boldo and Melquiond, "Emulation of a FMA and
// correctly rounded sums", 2008). Exact results that are below 2^-126 after rounding to 24 bits
// become 0.
func fmaFlushed(x, y, z float32) float32 {
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
		if abs < 0x1p-126-0x1p-151 {
			return float32(math.Copysign(0, s))
		}
		return float32(math.Copysign(0x1p-126, s))
	}
	return float32(s)
}

// rowsBF16 is a product computed in pairs, exactly as by VDPBF16PS, by rows of C.
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
					row[j] += 0 // -0 becomes +0
				}
				continue
			}
			a := roundBF16(t.a.At(i, l))
			for j, x := range row {
				row[j] = fmaFlushed(a, roundBF16(t.b.At(l, j)), x)
			}
		}
	}
	t.o.finishChain(t.c, lo, hi, 0, t.c.Cols)
}
