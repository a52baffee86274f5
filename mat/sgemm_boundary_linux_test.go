package mat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Each operand ends, or begins, at the boundary of memory, without a gap after its last row.
func TestSgemmAtTheBoundaryOfMemory(t *testing.T) {
	e := newEdges(t, 3, 30*34+30)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for range 200 {
			q := newBLAS(r, "NT"[r.IntN(2)], "NT"[r.IntN(2)], 1+r.IntN(30), 1+r.IntN(30), 1+r.IntN(30), 1.5, float32(r.IntN(3)), normal)
			for i, x := range []*[]float32{&q.a, &q.b, &q.c} {
				place := e.floats(r, i, len(*x))
				copy(place, *x)
				*x = place
			}
			q.check(t, nil, true)
		}
	})
}

// Packed data may end at a boundary of memory, as in a mapped file.
func TestPackedAtTheBoundaryOfMemory(t *testing.T) {
	e := newEdges(t, 1, 256*64)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(45, 46))
		for range 300 {
			m, n, k := 1+r.IntN(40), 1+r.IntN(140), 1+r.IntN(90)
			b, a := operand(r, k, n, r.IntN(2) == 0, normal), operand(r, m, k, r.IntN(2) == 0, normal)
			data := e.floats(r, 0, len(Pack(nil, b).Data()))
			w := PackedOf(nil, data, k, n, LayoutOf(k, n))
			w.SetCols(nil, 0, b)
			want, got := New(m, n), New(m, n)
			Gemm(nil, want, a, b, GemmOptions{})
			if GemmPacked(nil, got, a, w, GemmOptions{}); !slices.Equal(got.Data, want.Data) {
				t.Fatalf("m=%d n=%d k=%d: product differs", m, n, k)
			}
			w.Col(make([]float32, k), n-1)
		}
	})
}
