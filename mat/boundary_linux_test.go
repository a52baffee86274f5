package mat

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// atBoundary returns two slices of n floats: one that ends at an unmapped page and one that begins
// after one. An access outside faults.
func atBoundary(t *testing.T, n int) (end, begin []float32) {
	t.Helper()
	page := syscall.Getpagesize()
	inner := ceil(n*4+1, page)
	for i := range 2 {
		mem, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Munmap(mem) })
		for _, outer := range [][]byte{mem[:page], mem[page+inner:]} {
			if err := syscall.Mprotect(outer, syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
		all := unsafe.Slice((*float32)(unsafe.Pointer(&mem[page])), inner/4)
		if i == 0 {
			end = all[len(all)-n:]
		} else {
			begin = all[:n]
		}
	}
	return end, begin
}

func TestGemmAtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 150 * 48
	var data [4][2][]float32
	for i := range data {
		data[i][0], data[i][1] = atBoundary(t, maxFloats)
	}
	defer func(l limits) { machineLimits = l }(machineLimits)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for round := range 600 {
			m, n, k := 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(40)
			machineLimits.l2Floats, machineLimits.l3Floats, machineLimits.maxSmallWork = r.IntN(2)*maxFloats, r.IntN(2)*maxFloats, r.IntN(2)<<20
			switch round % 8 {
			case 0:
				n = 65 + r.IntN(30) // A is packed too
			case 1:
				m, n = 1+r.IntN(8), 33+r.IntN(100) // few rows, several panels
			case 2:
				m, n = 129+r.IntN(20), 33+r.IntN(16) // all of B is packed, and strips of A together
			}
			place := func(i, rows, cols int, transposed bool) Matrix {
				if transposed {
					rows, cols = cols, rows
				}
				x := Matrix{nil, rows, cols, cols + r.IntN(3), 1}
				if x.extent() > maxFloats {
					x.RowStride = cols
				}
				side := r.IntN(2)
				x.Data = data[i][side][:x.extent()]
				if side == 0 {
					x.Data = data[i][0][maxFloats-x.extent():]
				}
				if transposed {
					return x.T()
				}
				return x
			}
			o := randomOptions(r)
			if o.Bias != nil {
				o.Bias = place(3, 1, n, false).Data
			}
			if o.Residual.Data != nil {
				o.Residual = place(3, m, n, false)
			}
			c, a, b := place(0, m, n, false), place(1, m, k, r.IntN(2) == 0), place(2, k, n, r.IntN(2) == 0)
			Gemm(nil, c, a, b, o)
			GemmPacked(nil, c, a, Pack(nil, b), o)
		}
	})
}
