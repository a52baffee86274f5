package mat

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randomColumns returns up to n of n columns, ascending, or with repetitions in any order.
func randomColumns(r *rand.Rand, n int) []int32 {
	var cols []int32
	if r.IntN(3) == 0 {
		for range r.IntN(2 * n) {
			cols = append(cols, int32(r.IntN(n)))
		}
		return cols
	}
	share := r.Float64()
	for j := range n {
		if r.Float64() < share {
			cols = append(cols, int32(j))
		}
	}
	return cols
}

// gathered returns the columns of c.
func gathered(c Matrix, cols []int32) Matrix {
	g := New(c.Rows, len(cols))
	for i := range c.Rows {
		for k, j := range cols {
			g.Row(i)[k] = c.At(i, int(j))
		}
	}
	return g
}

// A product with gathered columns has the bits of these columns of the whole product, also in
// memory that held another matrix. gather returns the products of a with b and with its columns.
func wantGathered(t *testing.T, gather func(a, b Matrix, cols []int32, p *Pool) (all, some Matrix)) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 100 {
		m, k, n := 1+r.IntN(20), max(0, r.IntN(70)-5), 1+r.IntN(200)
		cols := randomColumns(r, n)
		all, got := gather(random(m, k), random(k, n), cols, pools[1+r.IntN(2)])
		if !slices.Equal(got.Data, gathered(all, cols).Data) {
			t.Fatalf("%d × %d × %d: product with columns %v differs from those of the whole product", m, k, n, cols)
		}
	}
}

func TestGatherPacked(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		w := new(Packed)
		wantGathered(t, func(a, b Matrix, cols []int32, p *Pool) (all, some Matrix) {
			whole := Pack(nil, b)
			all, some = New(a.Rows, b.Cols), New(a.Rows, len(cols))
			w.Gather(p, whole, cols)
			GemmPacked(nil, all, a, whole, GemmOptions{})
			GemmPacked(p, some, a, w, GemmOptions{})
			return all, some
		})
	})
}

func TestGatherInt8(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		w := new(Int8)
		wantGathered(t, func(a, b Matrix, cols []int32, p *Pool) (all, some Matrix) {
			whole := QuantizeInt8(nil, b)
			all, some = New(a.Rows, b.Cols), New(a.Rows, len(cols))
			w.Gather(p, whole, cols)
			GemmInt8(nil, all, a, whole, GemmOptions{})
			GemmInt8(p, some, a, w, GemmOptions{})
			if !slices.Equal(w.Scales(), gathered(Of(whole.Scales(), 1, b.Cols), cols).Data) {
				t.Fatalf("%d × %d: scales of columns %v differ", b.Rows, b.Cols, cols)
			}
			return all, some
		})
	})
}

func TestGatherAllocatesNothing(t *testing.T) {
	b, c := Pack(nil, random(20, 100)), QuantizeInt8(nil, random(20, 100))
	var w Packed
	var v Int8
	cols := []int32{1, 2, 40, 41, 99}
	gather := func() { w.Gather(nil, b, cols); v.Gather(nil, c, cols) }
	gather()
	wantNoAllocations(t, gather)
}

func TestGatherPanics(t *testing.T) {
	w, v := Pack(nil, random(4, 70)), QuantizeInt8(nil, random(4, 70))
	mustPanic(t, "mat: Gather of ", map[string]func(){
		"column":            func() { new(Packed).Gather(nil, w, []int32{70}) },
		"negative column":   func() { new(Packed).Gather(nil, w, []int32{3, -1}) },
		"itself":            func() { w.Gather(nil, w, nil) },
		"int8 column":       func() { new(Int8).Gather(nil, v, []int32{70}) },
		"int8, itself":      func() { v.Gather(nil, v, nil) },
		"int8, negative":    func() { new(Int8).Gather(nil, v, []int32{-1}) },
		"no columns at all": func() { new(Packed).Gather(nil, NewPacked(4, 0), []int32{0}) },
	})
}
