//go:build !purego && !noasm

package mat

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/cpu"
)

// fastBF16 and hasAMX report the instructions besides those of kernel that products use: VDPBF16PS
// where it is faster than float32, and AMX. Only tests change them after startup.
var (
	fastBF16 = cpu.X86.HasAVX512BF16 && multipliesFastBF16(cpuModel())
	hasAMX   = kernelName == "" && cpu.X86.HasAVX512BF16 && cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16
)

// multipliesFastBF16 reports whether a processor with VDPBF16PS runs it at twice the rate of
// float32 multiply-adds: AMD's since Zen 4, and Intel's Cooper Lake. On Intel's later processors,
// which have AMX, it takes two cycles, which is half the rate.
func multipliesFastBF16(vendor string, family, model uint32) bool {
	const cooperLake = 0x55 // of family 6
	return vendor == "AuthenticAMD" || vendor == "GenuineIntel" && family == 6 && model == cooperLake
}

// cpuModel returns the processor's vendor, family and model, as CPUID encodes them in leaves 0
// and 1.
func cpuModel() (vendor string, family, model uint32) {
	_, ebx, ecx, edx := cpuid(0, 0)
	var name []byte
	for _, x := range []uint32{ebx, edx, ecx} {
		name = binary.LittleEndian.AppendUint32(name, x)
	}
	eax, _, _, _ := cpuid(1, 0)
	return string(name), eax >> 8 & 15, eax>>12&0xF0 | eax>>4&15
}

// mayUseAMX asks the operating system for permission, once.
var mayUseAMX = sync.OnceValue(permitAMX)

func kernelBF16() arithmetic {
	switch {
	case kernel == avx512 && hasAMX && mayUseAMX():
		return tilesBF16
	case kernel == avx512 && fastBF16:
		return pairsBF16
	}
	return portableBF16
}

// bf16Loop runs n rounds of multiply-adds in bfloat16, or in float32 without an instruction for
// them, and returns the number of operations.
func bf16Loop(n int) float64 {
	switch kernelBF16() {
	case tilesBF16:
		tdpbf16Loop(n)
		return 4 * 16 * 16 * 32 * 2 * float64(n)
	case pairsBF16:
		vdpbf16Loop(n)
		return 12 * 32 * 2 * float64(n)
	}
	return fmaLoop(n)
}

// A band is 16 rows of A or 16 columns of B, in tiles of depth 32. In a tile of A the elements of a
// row are contiguous, in a tile of B those of a pair:
//
//	a[tile*512 + i*32 + l] = A[i, tile*32+l]
//	b[tile*512 + l/2*32 + j*2 + l%2] = B[tile*32+l, j]
const tileBF16 = bandBF16 * stepBF16

// bandStrip is the argument of one kernel call: C = A·B or C += A·B for m rows, n columns and k
// tiles of each band, with bias and ReLU.
type bandStrip struct {
	c, bias, edge    *float32 // edge: 32 × 32 floats of scratch memory, for AMX
	a, b             *uint16
	cRow             uintptr // bytes from row to row of C
	aBand, bBand     uintptr // bytes from band to band
	m, n, k          int
	accumulate, relu int

	// Prefetched by stripVDPBF16PS, besides the C of the next panel: in the last panel, the C of
	// the next call at next; aheadB, aheadA, and the lines moreA bytes after those of aheadA.
	next           prefetchAddress
	moreA          uintptr
	aheadA, aheadB ahead
}

// ahead is memory to prefetch: in panel p and for tile t of k the two cache lines at
// at + p*panel + t*tile. The kernel advances at by the panels of a call.
type ahead struct {
	at          prefetchAddress
	panel, tile uintptr
}

// stripVDPBF16PS computes up to 8 rows, half a band of A, in pairs.
//
//go:noescape
func stripVDPBF16PS(s *bandStrip)

// stripTDPBF16PS computes up to 32 rows, two bands of A, in tiles. AMX must be permitted.
//
//go:noescape
func stripTDPBF16PS(s *bandStrip)

// packAlongK packs n ≤ 16 rows of k contiguous floats each and pads the band with zeros. In tiles
// of A:
//
//	for i := range 16 {
//		for l := range k rounded up to 32 {
//			dst[l/32*512+i*32+l%32] = bfloat16(src[i*srcRow+l]), or 0 if i ≥ n or l ≥ k
//		}
//	}
//
//go:noescape
func packAlongK(dst *uint16, src *float32, srcRow uintptr, n, k int)

// packAcrossK packs k ≤ 32 rows of n contiguous floats each as one tile of each band, dstBand
// bytes apart, and pads them with zeros. In tiles of B:
//
//	for l := range 32 {
//		for j := range n rounded up to 16 {
//			dst[j/16*dstBand+l/2*32+j%16*2+l%2] = bfloat16(src[l*srcRow+j])
//			// or 0 if j ≥ n or l ≥ k
//		}
//	}
//
//go:noescape
func packAcrossK(dst *uint16, dstBand uintptr, src *float32, srcRow uintptr, n, k int)

// transposeTiles converts tiles of A to tiles of B or the reverse: it transposes 16 × 16 pairs in
// place, in each of n tiles that are next bytes apart.
//
//go:noescape
func transposeTiles(tiles *uint16, next uintptr, n int)

// vdpbf16Loop runs n rounds of 12 independent VDPBF16PS of 16 pairs; each depends on that of the
// previous round.
//
//go:noescape
func vdpbf16Loop(n int)

// tdpbf16Loop runs n rounds of 4 TDPBF16PS of whole tiles.
//
//go:noescape
func tdpbf16Loop(n int)
