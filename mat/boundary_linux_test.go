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

// edges are places of up to n floats at unmapped pages, for several operands.
type edges struct {
	n     int
	sides [][2][]float32 // by operand: that end at a page, that begin after one
}

func newEdges(t *testing.T, operands, n int) *edges {
	t.Helper()
	e := &edges{n: n}
	for range operands {
		end, begin := atBoundary(t, n)
		e.sides = append(e.sides, [2][]float32{end, begin})
	}
	return e
}

// floats returns n floats at one of the edges of an operand.
func (e *edges) floats(r *rand.Rand, operand, n int) []float32 {
	side := e.sides[operand]
	if r.IntN(2) == 0 {
		return side[0][e.n-n:]
	}
	return side[1][:n:n]
}

// matrix returns a matrix, or its transpose, without a gap after its last row.
func (e *edges) matrix(r *rand.Rand, operand, rows, cols int, transposed bool) Matrix {
	if transposed {
		return e.matrix(r, operand, cols, rows, false).T()
	}
	x := Matrix{nil, rows, cols, cols + r.IntN(9), 1}
	if x.extent() > e.n {
		x.RowStride = cols
	}
	x.Data = e.floats(r, operand, x.extent())
	return x
}

// options returns random options whose bias and residual are at the edges of an operand.
func (e *edges) options(r *rand.Rand, operand, m, n int) GemmOptions {
	o := randomOptions(r)
	if o.Bias != nil {
		o.Bias = e.floats(r, operand, n)
	}
	if o.Residual.Data != nil {
		o.Residual = e.matrix(r, operand, m, n, false)
	}
	return o
}

func TestGemmAtTheBoundaryOfMemory(t *testing.T) {
	const maxFloats = 150 * 48
	e := newEdges(t, 4, maxFloats)
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
			o := e.options(r, 3, m, n)
			c, a, b := e.matrix(r, 0, m, n, false), e.matrix(r, 1, m, k, r.IntN(2) == 0), e.matrix(r, 2, k, n, r.IntN(2) == 0)
			Gemm(nil, c, a, b, o)
			GemmPacked(nil, c, a, Pack(nil, b), o)
		}
	})
}
