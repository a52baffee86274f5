package mat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// otherLayouts are those of all kernels, and one with more rows than any needs.
func otherLayouts(k, n int) []Layout {
	layouts := []Layout{{1, k, n}, {ceilDiv(n, 16), k + 3, 16}}
	for _, cols := range []int{16, 32} {
		layouts = append(layouts, Layout{ceilDiv(n, cols), ceil(k, padB), cols})
	}
	return layouts
}

// A packed matrix has the columns of B and its products, whether it was packed at once, in parts,
// or comes from the data of any layout.
func TestPackedInPartsAndFromData(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(41, 42))
		for range 60 {
			k, n := r.IntN(40), r.IntN(150)
			b, a := operand(r, k, n, r.IntN(2) == 0, normal), random(3, k)
			want := New(3, n)
			Gemm(nil, want, a, b, GemmOptions{})
			pool := pools[1+r.IntN(2)]
			check := func(name string, w *Packed) {
				t.Helper()
				got, x := New(3, n), make([]float32, k)
				if GemmPacked(pool, got, a, w, GemmOptions{}); !slices.Equal(got.Data, want.Data) {
					t.Errorf("%d × %d, %s: product differs from that of the matrix", k, n, name)
				}
				for j := range n {
					if w.Col(x, j); !slices.Equal(x, column(b, j)) {
						t.Errorf("%d × %d, %s: column %d is %v, want %v", k, n, name, j, x, column(b, j))
					}
				}
			}
			whole := Pack(pool, b)
			check("packed at once", whole)
			parts := NewPacked(k, n)
			for j := 0; j < n; {
				next := min(n, j+32*(1+r.IntN(3)))
				parts.SetCols(pool, j, b.ColRange(j, next))
				j = next
			}
			check("packed in parts", parts)
			if !slices.Equal(whole.Data(), parts.Data()) { // a file does not depend on how it was made
				t.Errorf("%d × %d: data of parts differ", k, n)
			}
			for _, l := range otherLayouts(k, n) {
				data := make([]float32, l.Panels*l.Depth*l.Cols)
				for i := range k {
					for j := range n {
						data[(j/l.Cols*l.Depth+i)*l.Cols+j%l.Cols] = b.At(i, j)
					}
				}
				w := PackedOf(pool, data, k, n, l)
				check("from data", w)
				if own := l == LayoutOf(k, n); own && len(data) > 0 && &w.Data()[0] != &data[0] {
					t.Errorf("%d × %d: %+v is copied", k, n, l)
				}
			}
			check("from its own data", PackedOf(nil, whole.Data(), k, n, LayoutOf(k, n)))
		}
	})
}

func TestPackedPanicsOnMismatch(t *testing.T) {
	w := NewPacked(4, 70)
	mustPanic(t, "mat: ", map[string]func(){
		"negative":            func() { NewPacked(-1, 4) },
		"layout":              func() { LayoutOf(1, -1) },
		"rows":                func() { w.SetCols(nil, 0, New(5, 32)) },
		"a part of a panel":   func() { w.SetCols(nil, 0, New(4, 16)) },
		"inside a panel":      func() { w.SetCols(nil, 16, New(4, 32)) },
		"too many columns":    func() { w.SetCols(nil, 64, New(4, 32)) },
		"far column":          func() { w.SetCols(nil, 96, New(4, 0)) },
		"negative column":     func() { w.SetCols(nil, -32, New(4, 32)) },
		"column":              func() { w.Col(make([]float32, 4), 70) },
		"column -1":           func() { w.Col(make([]float32, 4), -1) },
		"length of a column":  func() { w.Col(make([]float32, 5), 0) },
		"too little data":     func() { PackedOf(nil, make([]float32, 4*96-1), 4, 70, Layout{3, 4, 32}) },
		"too much data":       func() { PackedOf(nil, make([]float32, 4*96+1), 4, 70, Layout{3, 4, 32}) },
		"too few panels":      func() { PackedOf(nil, make([]float32, 4*64), 4, 70, Layout{2, 4, 32}) },
		"too many panels":     func() { PackedOf(nil, make([]float32, 4*128), 4, 70, Layout{4, 4, 32}) },
		"too shallow":         func() { PackedOf(nil, make([]float32, 3*96), 4, 70, Layout{3, 3, 32}) },
		"negative layout":     func() { PackedOf(nil, make([]float32, 4*96), 4, 70, Layout{-3, -4, 32}) },
		"columns of no width": func() { PackedOf(nil, nil, 4, 70, Layout{3, 4, 0}) },
		"overflow":            func() { PackedOf(nil, nil, 4, 70, Layout{1 << 31, 1 << 32, 70}) },
	})
	PackedOf(nil, nil, 0, 5, Layout{1, 0, 16})
	PackedOf(nil, nil, 5, 0, Layout{0, 5, 16})
}
