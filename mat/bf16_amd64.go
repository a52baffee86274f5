//go:build !purego && !noasm

package mat

import (
	"os"
	"sync"

	"golang.org/x/sys/cpu"
)

// hasBF16 and hasAMX say what may be used besides the kernel in force. Only tests change them after
// the start.
var (
	hasBF16 = cpu.X86.HasAVX512BF16
	hasAMX  = os.Getenv("TFM_CPU") == "" && cpu.X86.HasAVX512BF16 && cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16
)

// mayUseAMX asks the operating system, once.
var mayUseAMX = sync.OnceValue(permitAMX)

// pairsAreFast reports whether VDPBF16PS does more than the multiply-adds of float32 that give the
// same bits. On Intel's Emerald Rapids it takes two cycles, which is half as much.
var pairsAreFast = sync.OnceValue(func() bool {
	rate := func(loop func(n int) float64) float64 { return measurePeak(0, loop) }
	return isFaster(func() float64 { return rate(pairsLoop) }, func() float64 { return rate(fmaLoop) })
})

// isFaster reports whether the best of many rates of a is above the best of b. They are measured in
// turns and by number, not by the clock: a machine with other work slows both down or takes some
// measurements away, and the answer decides the bits of a training.
func isFaster(a, b func() float64) bool {
	var bestA, bestB float64
	for range 24 { // of some 20 µs each
		bestA, bestB = max(bestA, a()), max(bestB, b())
	}
	return bestA > bestB
}

func kernelBF16() arithmetic {
	switch {
	case kernel == generic:
		return portableBF16
	case kernel == avx512 && hasAMX && mayUseAMX():
		return tilesBF16
	case kernel == avx512 && hasBF16 && pairsAreFast():
		return pairsBF16
	}
	return stripsBF16
}

func (t *product) multiplyBF16(p *Pool, k arithmetic) {
	if k == stripsBF16 {
		t.stripsBF16(p)
	} else {
		t.bandsBF16(p, k)
	}
}

func (t *tile) runFlushed(s *strip) {
	if t.cols == tiles[avx512].cols {
		stripAVX512Flushed(s)
	} else {
		stripAVX2Flushed(s)
	}
}

// bf16Loop runs n rounds of multiply-adds in bfloat16 and returns how many operations they are.
func bf16Loop(n int) float64 {
	switch kernelBF16() {
	case tilesBF16:
		return tilesLoop(n)
	case pairsBF16:
		return pairsLoop(n)
	}
	return fmaLoop(n)
}

func tilesLoop(n int) float64 {
	tdpbf16Loop(n)
	return 4 * 16 * 16 * 32 * 2 * float64(n)
}

func pairsLoop(n int) float64 {
	vdpbf16Loop(n)
	return 12 * 32 * 2 * float64(n)
}

// stripAVX512Flushed is stripAVX512 with denormal operands and results taken as 0.
//
//go:noescape
func stripAVX512Flushed(s *strip)

// stripAVX2Flushed is the same for stripAVX2.
//
//go:noescape
func stripAVX2Flushed(s *strip)

// A band is 16 rows of A or 16 columns of B, in tiles of 32 numbers of each. In a tile of A the
// numbers of a row are neighbours, in one of B those of a pair:
//
//	a[tile*512 + i*32 + l] = A[i, tile*32+l]
//	b[tile*512 + l/2*32 + j*2 + l%2] = B[tile*32+l, j]
const tileBF16 = bandBF16 * stepBF16

// bandStrip is one call of a kernel: C = or += A·B for m rows and n columns, what follows the
// chain, for k tiles of each band of A and B.
type bandStrip struct {
	c, bias, edge    *float32 // edge: 32 × 32 numbers to work with
	a, b             *uint16
	cRow             uintptr // bytes from row to row of C
	aBand, bBand     uintptr // bytes from band to band
	m, n, k          int
	accumulate, relu int
}

// stripVDPBF16PS computes up to 8 rows of half a band of A, in pairs.
//
//go:noescape
func stripVDPBF16PS(s *bandStrip)

// stripTDPBF16PS computes up to 32 rows, those of two bands of A, in tiles. AMX must have been
// permitted.
//
//go:noescape
func stripTDPBF16PS(s *bandStrip)

// packAlongK packs n ≤ 16 rows of k contiguous numbers each, the rest of the band filled up with
// zeros. In tiles of A:
//
//	for i := range 16 {
//		for l := range k rounded up to 32 {
//			dst[l/32*512+i*32+l%32] = bfloat16(src[i*srcRow+l]), or 0 if i ≥ n or l ≥ k
//		}
//	}
//
//go:noescape
func packAlongK(dst *uint16, src *float32, srcRow uintptr, n, k int)

// packAcrossK packs k ≤ 32 rows of n contiguous numbers each as one tile of each of so many bands,
// the rest filled up with zeros. In tiles of B:
//
//	for l := range 32 {
//		for j := range n rounded up to 16 {
//			dst[j/16*dstBand+l/2*32+j%16*2+l%2] = bfloat16(src[l*srcRow+j]), or 0 if j ≥ n or l ≥ k
//		}
//	}
//
//go:noescape
func packAcrossK(dst *uint16, dstBand uintptr, src *float32, srcRow uintptr, n, k int)

// transposeTiles makes tiles of A tiles of B, and the other way round: 16 × 16 pairs are transposed
// where they lie, in each of n tiles that are so many bytes apart.
//
//go:noescape
func transposeTiles(tiles *uint16, next uintptr, n int)

// vdpbf16Loop is n rounds of 12 VDPBF16PS of 16 pairs, each round waiting for nothing but the one
// before.
//
//go:noescape
func vdpbf16Loop(n int)

// tdpbf16Loop is n rounds of 4 TDPBF16PS of whole tiles.
//
//go:noescape
func tdpbf16Loop(n int)
