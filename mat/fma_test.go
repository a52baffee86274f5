package mat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// fma32 returns x·y + z rounded once, on any machine. The product of two float32 is exact in
// float64. The sum is not, so it is rounded to odd: a remainder sets the last bit, far below the
// bits that affect the second rounding (Boldo and Melquiond, "Emulation of a FMA and correctly
// rounded sums", 2008).
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	v := s - p
	if e := (p - (s - v)) + (c - v); e != 0 && !math.IsInf(s, 0) && s == s && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), e))
	}
	return float32(s)
}

// sameNumber reports whether x and y have the same bits or both are NaN.
func sameNumber(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

// number returns a random float32 of any kind: mostly of magnitude 1, some of any bits, some
// special.
func number(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, math.MaxFloat32, -math.MaxFloat32,
			math.SmallestNonzeroFloat32, 0x1p-126, 0x1.fffffep-127, 1 + 0x1p-23, 1 - 0x1p-24, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
		return special[r.IntN(len(special))]
	case 1, 2:
		return math.Float32frombits(r.Uint32())
	}
	return float32(r.NormFloat64())
}

func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50000 {
		x, y, z := number(r), number(r), number(r)
		if r.IntN(2) == 0 {
			z = -x * y * (1 + float32(r.IntN(5)-2)*0x1p-23) // cancels most digits
		}
		got, want := fma32(x, y, z), float32(float64(x)*float64(y)+float64(z))
		if f := float64(want); !math.IsNaN(f) && !math.IsInf(float64(x)+float64(y)+float64(z), 0) {
			exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
			exact.Add(exact, big.NewFloat(float64(z)))
			if exact.Sign() != 0 { // big.Float does not have IEEE 754's signs of zero
				want, _ = exact.Float32()
			}
		}
		if !sameNumber(got, want) {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
		if c := []float32{z}; kernel != generic {
			Gemm(nil, Of(c, 1, 1), Of([]float32{x}, 1, 1), Of([]float32{y}, 1, 1), GemmOptions{Accumulate: true})
			if !sameNumber(c[0], got) {
				t.Fatalf("the kernel's fma(%x, %x, %x) = %x, want %x", x, y, z, c[0], got)
			}
		}
	}
}
