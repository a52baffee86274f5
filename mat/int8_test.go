package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// wayInt8 is a way to multiply bytes: a kernel, with or without the instruction that sums products.
type wayInt8 struct {
	kernel isa
	dot    bool
}

// waysInt8 returns the ways that the machine supports.
func waysInt8() (ways []wayInt8) {
	for _, k := range tested {
		if hasDot && (k == avx512 || k == neon) {
			ways = append(ways, wayInt8{k, true})
		}
		ways = append(ways, wayInt8{k, false})
	}
	return ways
}

// forEachInt8 runs f for each of waysInt8.
func forEachInt8(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer func(k isa, dot bool) { kernel, hasDot = k, dot }(kernel, hasDot)
	for _, way := range waysInt8() {
		kernel, hasDot = way.kernel, way.dot
		t.Run(fmt.Sprintf("kernel=%v/int8=%s", kernel, KernelInt8()), f)
	}
}

// quantizeOracle quantizes one row by the rule of GemmInt8.
func quantizeOracle(x []float32) (q []int8, scale float32) {
	q = make([]int8, len(x))
	var top float32
	for _, v := range x {
		if v != v || math.IsInf(float64(v), 0) {
			return q, float32(math.NaN())
		}
		top = max(top, float32(math.Abs(float64(v))))
	}
	scale = max(top/127, 0x1p-126)
	r := 1 / scale
	for l, v := range x {
		n := math.RoundToEven(float64(float32(v * r)))
		if math.Abs(n) > 127 {
			panic(fmt.Sprintf("%v of a row with the maximum %v becomes %v", v, top, n))
		}
		q[l] = int8(n)
	}
	return q, scale
}

func column(b Matrix, j int) []float32 {
	x := make([]float32, b.Rows)
	for l := range x {
		x[l] = b.At(l, j)
	}
	return x
}

// gemmInt8Oracle is GemmInt8 by definition, for weights as PackInt8 takes them.
func gemmInt8Oracle(c, a Matrix, weights []int8, scales []float32, o GemmOptions) {
	k := a.Cols
	for i := range c.Rows {
		q, scale := quantizeOracle(column(a.T(), i))
		for j := range c.Cols {
			var sum int64
			for l := range k {
				sum += int64(q[l]) * int64(weights[j*k+l])
			}
			if sum != int64(int32(sum)) {
				panic("sum of products exceeds int32")
			}
			x := float32(float32(sum) * scales[j])
			x = float32(x * scale)
			if o.Accumulate {
				x += c.At(i, j)
			}
			if o.Bias != nil {
				x += o.Bias[j]
			}
			y := []float32{x}
			o.Activation.Apply(y, y) // tested separately
			x = y[0]
			if o.Residual.Data != nil {
				x += o.Residual.At(i, j)
			}
			c.Data[i*c.RowStride+j] = x
		}
	}
}

// bytesOf returns random weights: of the whole range, or all -128, for the largest sums.
func bytesOf(r *rand.Rand, n int) []int8 {
	w := make([]int8, n)
	extreme := r.IntN(4) == 0
	for i := range w {
		w[i] = int8(r.Uint32())
		if extreme {
			w[i] = -128
		}
	}
	return w
}

// weightsOf returns random k × n weights, half of the time by quantization, and the arguments of
// PackInt8 for them.
func weightsOf(r *rand.Rand, k, n int, number func(*rand.Rand) float32) (w *Int8, weights []int8, scales []float32) {
	scales = make([]float32, n)
	if r.IntN(2) == 0 {
		weights = bytesOf(r, k*n)
		for j := range scales {
			scales[j] = number(r)
		}
		return PackInt8(nil, weights, scales, k, n), weights, scales
	}
	b := operand(r, k, n, r.IntN(2) == 0, number)
	weights = make([]int8, 0, k*n)
	for j := range n {
		q, scale := quantizeOracle(column(b, j))
		weights, scales[j] = append(weights, q...), scale
	}
	return QuantizeInt8(nil, b), weights, scales
}

// checkInt8 compares GemmInt8 with the oracle, bit for bit.
func (q problem) checkInt8(t *testing.T, r *rand.Rand, number func(*rand.Rand) float32) {
	t.Helper()
	a := operand(r, q.m, q.k, q.ta, number)
	if r.IntN(4) == 0 && q.m > 0 { // large values of one sign
		for l := range q.k {
			a.Data[r.IntN(q.m)*a.RowStride+l*a.ColStride] = 1
		}
	}
	w, weights, scales := weightsOf(r, q.k, q.n, number)
	around, c, want := q.draw(r, number)
	gemmInt8Oracle(want, a, weights, scales, q.o)
	GemmInt8(pools[q.threads], c, a, w, q.o)
	q.compare(t, "GemmInt8", around, c, want, func(i, j int) bool { return sameNumber(c.At(i, j), want.At(i, j)) })
}

func TestGemmInt8EqualsOracle(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		threads := []int{1, 2, 3, 8}
		draw := func(m, n, k int, number func(*rand.Rand) float32) {
			problem{m, n, k, r.IntN(4) == 0, false, randomOptions(r), threads[r.IntN(4)]}.checkInt8(t, r, number)
		}
		// each number of rows of a tile and each edge of a panel, a group and a block of
		// elements
		for m := range 28 {
			for _, n := range []int{0, 1, 2, 15, 31, 32, 33, 64, 65} {
				draw(m, n, r.IntN(70), normal)
			}
		}
		for range 150 {
			draw(r.IntN(40), r.IntN(80), r.IntN(140), normal)
			draw(r.IntN(20), r.IntN(40), r.IntN(9), number) // short rows, so that most have no NaN
			draw(r.IntN(20), r.IntN(40), r.IntN(70), small)
		}
		// beyond the size of every block, with work for several tasks
		for _, s := range []struct{ m, n, k int }{{400, 40, 20}, {7, 1100, 135}, {14, 70, 4100}, {2, 33, 9000}, {200, 600, 64}, {1, 4100, 130}, {40, 5, 1000}} {
			draw(s.m, s.n, s.k, normal)
		}
	})
}

// small returns numbers so small that a whole row may be denormal or zero.
func small(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), -120-r.IntN(32))) }

// The longest sums of the largest products fit, with either sign.
func TestGemmInt8DoesNotOverflow(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		const k = maxDepthInt8
		a, weights := New(2, k), make([]int8, k)
		for l := range k {
			a.Row(0)[l], a.Row(1)[l], weights[l] = 1, -1, -128
		}
		c := New(2, 1)
		GemmInt8(nil, c, a, PackInt8(nil, weights, []float32{1}, k, 1), GemmOptions{})
		unit := float32(1) / 127
		if want := float32(-127*128*k) * unit; c.Data[0] != want || c.Data[1] != -want {
			t.Errorf("C = %v, want %v and its negative", c.Data, want)
		}
	})
}

// The rows do not depend on the kernel either.
func TestGemmInt8RowsAloneEqualRowsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	a, w := operand(r, 200, 300, false, normal), QuantizeInt8(nil, operand(r, 300, 90, true, normal))
	o, layouts, together := GemmOptions{Bias: random(1, 90).Data, Activation: ReLU}, map[bool]Matrix{false: a, true: stored(a).T()}, New(200, 90)
	GemmInt8(nil, together, a, w, o)
	forEachInt8(t, func(t *testing.T) {
		wantRowsAlone(t, together, []int{1, 2, 5, 12, 25, 200}, func(p *Pool, c Matrix, lo, hi int, transposed bool) {
			GemmInt8(p, c, layouts[transposed].RowRange(lo, hi), w, o)
		})
	})
}

// The error against the product in float64 is within the bound of GemmInt8.
func TestGemmInt8Error(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	const h = 0.5 + 0x1p-15
	worst := 0.0
	for _, number := range []func(*rand.Rand) float32{normal, small, func(r *rand.Rand) float32 { return r.Float32() }} {
		for range 20 {
			m, n, k := 1+r.IntN(9), 1+r.IntN(40), 1+r.IntN(300)
			a, b := operand(r, m, k, false, number), operand(r, k, n, false, normal)
			w, c := QuantizeInt8(nil, b), New(m, n)
			scales := w.Scales()
			GemmInt8(nil, c, a, w, GemmOptions{})
			for i := range m {
				_, scale := quantizeOracle(a.Row(i))
				for j := range n {
					s, t8 := float64(scale), float64(scales[j])
					var sum, sumA, sumB float64
					for l := range k {
						x, y := float64(a.At(i, l)), float64(b.At(l, j))
						sum, sumA, sumB = sum+x*y, sumA+math.Abs(x), sumB+math.Abs(y)
					}
					got := float64(c.At(i, j))
					bound := h*(t8*sumA+s*sumB) + h*h*float64(k)*s*t8 + 0x1p-22*math.Abs(got) + 0x1p-149
					e := math.Abs(got - sum)
					if !(e <= bound) {
						t.Errorf("m=%d n=%d k=%d: C[%d, %d] = %v, want %v ± %v", m, n, k, i, j, got, sum, bound)
					}
					worst = max(worst, e/bound)
				}
			}
		}
	}
	if worst < 0.1 {
		t.Errorf("the largest error is %v of the bound, want at least 0.1: the bound is loose", worst)
	}
}

func TestGemmInt8OfSpecialRows(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	forEachInt8(t, func(t *testing.T) {
		const n, k = 40, 70
		r := rand.New(rand.NewPCG(27, 28))
		w, bias := QuantizeInt8(nil, operand(r, k, n, false, normal)), operand(r, 1, n, false, normal).Data
		for _, special := range []float32{nan, inf, -inf} {
			for _, at := range []int{0, 1, 31, 32, 64, 69} {
				a, c := New(3, k), New(3, n)
				for l := range k {
					a.Row(0)[l] = normal(r)
				}
				a.Row(1)[at] = special
				GemmInt8(nil, c, a, w, GemmOptions{Bias: bias, Activation: ReLU})
				for j := range n {
					if x := c.At(0, j); x != x {
						t.Errorf("%v in one row makes another row NaN", special)
					}
					if x := c.At(1, j); x == x {
						t.Errorf("%v at %d gives %v, want NaN", special, at, x)
					}
					if x := c.At(2, j); x != max(0, bias[j]) {
						t.Errorf("a row of zeros with bias %v gives %v, want %v", bias[j], x, max(0, bias[j]))
					}
				}
			}
		}
		// the largest and the smallest magnitudes of a row
		one := PackInt8(nil, []int8{1, 1}, []float32{1}, 2, 1)
		for _, top := range []float32{math.MaxFloat32, 1, 127 * 0x1p-126, 0x1p-126, math.SmallestNonzeroFloat32} {
			a, c := Of([]float32{top, -top / 2}, 1, 2), New(1, 1)
			GemmInt8(nil, c, a, one, GemmOptions{})
			if e := math.Abs(float64(c.Data[0]) - float64(top) + float64(top)/2); !(e <= max(float64(top)/127, 0x1p-126)) {
				t.Errorf("%v - %v = %v, want it within 1/127", top, top/2, c.Data[0])
			}
		}
	})
}

// Weights do not change by storing and loading, in either form, and have their columns.
func TestInt8RoundTrip(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(29, 30))
		for range 100 {
			k, n := r.IntN(80), r.IntN(80)
			w, weights, scales := weightsOf(r, k, n, number)
			if w.Rows() != k || w.Cols() != n {
				t.Fatalf("size %d × %d, want %d × %d", w.Rows(), w.Cols(), k, n)
			}
			if !slices.Equal(w.Weights(), weights) || !slices.EqualFunc(w.Scales(), scales, sameNumber) {
				t.Fatalf("%d × %d: Weights or Scales differ from those of PackInt8", k, n)
			}
			data, shape := w.Data(), LayoutOfInt8(k, n)
			for name, again := range map[string]*Int8{
				"PackInt8": PackInt8(pools[2], w.Weights(), w.Scales(), k, n),
				"Int8Of":   Int8Of(pools[2], data, w.Scales(), k, n),
			} {
				if !slices.Equal(again.packed, w.packed) || !slices.Equal(again.start, w.start) || !slices.EqualFunc(again.scales, w.scales, sameNumber) {
					t.Fatalf("%d × %d: weights differ after storing and loading by %s", k, n, name)
				}
			}
			if got := shape[0] * shape[1] * shape[2] * shape[3]; got != len(data) {
				t.Fatalf("%d × %d: shape %v of %d bytes", k, n, shape, len(data))
			}
			x := make([]float32, k)
			sums := make([]int32, n)
			for j := range n {
				w.Col(x, j)
				for l := range k {
					at := ((j/32*shape[1]+l/4)*32+j%32)*4 + l%4
					if want := float32(weights[j*k+l]) * scales[j]; data[at] != weights[j*k+l] || !sameNumber(x[l], want) {
						t.Fatalf("%d × %d: element (%d, %d) is %d at %d and %v in Col, want %d and %v", k, n, l, j, data[at], at, x[l], weights[j*k+l], want)
					}
					sums[j] -= 128 * int32(weights[j*k+l])
				}
			}
			if !slices.Equal(w.start[:n], sums) {
				t.Fatalf("%d × %d: initial sums %v, want %v", k, n, w.start[:n], sums)
			}
		}
	})
}

// Weights quantized in parts are those quantized at once, whatever the threads.
func TestQuantizeInt8InParts(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(35, 36))
		for range 50 {
			k, n := r.IntN(90), r.IntN(150)
			if r.IntN(10) == 0 {
				k = 2100 + r.IntN(9) // more than one call of assembly
			}
			b := operand(r, k, n, r.IntN(2) == 0, number)
			want, got := QuantizeInt8(pools[2], b), NewInt8(k, n)
			for j := 0; j < n; {
				next := min(n, j+32*(1+r.IntN(3)))
				got.SetCols(nil, j, b.ColRange(j, next))
				j = next
			}
			if !slices.Equal(got.packed, want.packed) || !slices.Equal(got.start, want.start) || !slices.EqualFunc(got.scales, want.scales, sameNumber) {
				t.Fatalf("%d × %d: weights differ from those quantized at once", k, n)
			}
			weights, scales := got.Weights(), got.Scales()
			for j := range n {
				q, scale := quantizeOracle(column(b, j))
				if !slices.Equal(weights[j*k:][:k], q) || !sameNumber(scales[j], scale) {
					t.Fatalf("%d × %d: column %d differs from the oracle's", k, n, j)
				}
			}
		}
	})
}

// A row is rounded like a column of weights.
func TestInt8RowsRow(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(39, 40))
		rows := new(Int8Rows) // reused
		for range 20 {
			m, k := 1+r.IntN(20), r.IntN(140)
			a := operand(r, m, k, r.IntN(2) == 0, normal)
			rows.Set(nil, a)
			columns := QuantizeInt8(nil, a.T())
			want, got := make([]float32, k), make([]float32, k)
			for i := range m {
				columns.Col(want, i)
				rows.Row(got, i)
				if !slices.Equal(got, want) {
					t.Fatalf("row %d of %d × %d: %v, want %v", i, m, k, got, want)
				}
			}
		}
		rows.Set(nil, New(2, 3))
		mustPanic(t, "mat: row", map[string]func(){
			"row -1":     func() { rows.Row(make([]float32, 3), -1) },
			"row 2 of 2": func() { rows.Row(make([]float32, 3), 2) },
			"4 elements": func() { rows.Row(make([]float32, 4), 0) },
		})
	})
}

// A product with rows rounded before has the bits of GemmInt8.
func TestGemmInt8Rows(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(37, 38))
		rows := new(Int8Rows) // reused
		for range 40 {
			m, k := r.IntN(40), r.IntN(140)
			a := operand(r, m, k, r.IntN(2) == 0, normal)
			rows.Set(pools[1+r.IntN(2)], a)
			for range 3 {
				n := r.IntN(80)
				w := QuantizeInt8(nil, operand(r, k, n, false, normal))
				o := GemmOptions{Bias: operand(r, 1, n, false, normal).Data, Activation: ReLU}
				want, got := New(m, n), New(m, n)
				GemmInt8(nil, want, a, w, o)
				GemmInt8Rows(pools[2], got, rows, w, o)
				if !slices.Equal(got.Data, want.Data) {
					t.Fatalf("m=%d n=%d k=%d: product differs from that of GemmInt8", m, n, k)
				}
			}
		}
	})
}

func TestGemmInt8AllocatesNothing(t *testing.T) {
	forEachInt8(t, func(t *testing.T) {
		a, c, few := New(100, 400), New(100, 170), New(2, 170)
		at := New(400, 100).T()
		w, rows := QuantizeInt8(nil, New(400, 170)), new(Int8Rows)
		for _, threads := range []int{1, 2} { // enough work for two threads
			wantNoAllocations(t, func() {
				GemmInt8(pools[threads], c, a, w, GemmOptions{})
				GemmInt8(pools[threads], c, at, w, GemmOptions{Accumulate: true})
				GemmInt8(pools[threads], few, a.RowRange(0, 2), w, GemmOptions{})
				rows.Set(pools[threads], a)
				GemmInt8Rows(pools[threads], c, rows, w, GemmOptions{})
			})
		}
	})
}

func TestInt8PanicsOnMismatch(t *testing.T) {
	x := New
	w := QuantizeInt8(nil, x(4, 3))
	mustPanic(t, "mat: ", map[string]func(){
		"rows":             func() { GemmInt8(nil, x(2, 3), x(3, 4), w, GemmOptions{}) },
		"columns":          func() { GemmInt8(nil, x(2, 4), x(2, 4), w, GemmOptions{}) },
		"depth":            func() { GemmInt8(nil, x(2, 3), x(2, 5), w, GemmOptions{}) },
		"bias":             func() { GemmInt8(nil, x(2, 3), x(2, 4), w, GemmOptions{Bias: make([]float32, 2)}) },
		"too deep":         func() { QuantizeInt8(nil, x(maxDepthInt8+1, 1)) },
		"stored, too deep": func() { PackInt8(nil, make([]int8, maxDepthInt8+1), make([]float32, 1), maxDepthInt8+1, 1) },
		"rounded rows":     func() { GemmInt8Rows(nil, x(2, 3), new(Int8Rows), w, GemmOptions{}) },
		"no rounded rows":  func() { GemmInt8Rows(nil, x(2, 3), new(Int8Rows), nil, GemmOptions{}) },
		"A outside":        func() { new(Int8Rows).Set(nil, Matrix{make([]float32, 11), 3, 4, 4, 1}) },
		"part of a panel":  func() { NewInt8(4, 70).SetCols(nil, 0, x(4, 16)) },
		"rows of a part":   func() { NewInt8(4, 70).SetCols(nil, 0, x(5, 32)) },
		"too little data":  func() { Int8Of(nil, make([]int8, 127), make([]float32, 3), 4, 3) },
		"too much data":    func() { Int8Of(nil, make([]int8, 129), make([]float32, 3), 4, 3) },
		"scales of data":   func() { Int8Of(nil, make([]int8, 128), make([]float32, 4), 4, 3) },
		"no data":          func() { Int8Of(nil, nil, make([]float32, 3), 4, 3) },
		"data, too deep":   func() { Int8Of(nil, nil, nil, maxDepthInt8+1, 1) },
		"column":           func() { w.Col(make([]float32, 4), 3) },
		"column length":    func() { w.Col(make([]float32, 3), 0) },
		"too few weights":  func() { PackInt8(nil, make([]int8, 11), make([]float32, 3), 4, 3) },
		"too many scales":  func() { PackInt8(nil, make([]int8, 12), make([]float32, 4), 4, 3) },
		"negative":         func() { PackInt8(nil, make([]int8, 1), nil, -1, -1) },
		"overflow":         func() { PackInt8(nil, nil, nil, 1<<16, math.MaxInt>>14) },
		"zeros, negative":  func() { NewInt8(-1, 4) },
	})
}

// FuzzGemmInt8 compares products of any shape, form and seed with the oracle.
func FuzzGemmInt8(f *testing.F) {
	f.Add(uint8(12), uint8(32), uint8(64), uint8(0), uint64(1))
	f.Add(uint8(1), uint8(33), uint8(31), uint8(29), uint64(2))
	f.Add(uint8(200), uint8(20), uint8(1), uint8(6), uint64(3))
	f.Fuzz(func(t *testing.T, m, n, k, form uint8, seed uint64) {
		q := problem{m: int(m), n: int(n), k: int(k), ta: form&1 != 0, threads: []int{1, 2, 3, 8}[form>>5&3]}
		q.o.Accumulate, q.o.Activation = form&4 != 0, Activation(form>>3&1)
		if form&16 != 0 {
			q.o.Bias = []float32{}
		}
		r, draw := rand.New(rand.NewPCG(seed, 0)), normal
		if form&2 != 0 {
			draw = number
		}
		defer func(k isa, dot bool) { kernel, hasDot = k, dot }(kernel, hasDot)
		for _, way := range waysInt8() {
			kernel, hasDot = way.kernel, way.dot
			q.checkInt8(t, r, draw)
		}
	})
}

// BenchmarkGemmInt8 measures products with quantized weights, including the quantization of A.
// xfloat32 is the speed relative to Gemm with the original weights, from the best of alternating
// measurements. MB/s count the weights.
func BenchmarkGemmInt8(b *testing.B) {
	for _, s := range []struct{ m, n, k int }{
		{1024, 512, 512}, {1024, 2048, 512}, {1024, 512, 2048}, {4096, 256, 128},
		{1, 512, 512}, {1, 2048, 512}, {1, 512, 2048}, {8, 2048, 512}, {32, 2048, 512},
		{1, 32000, 512}, {2, 32000, 512}, {4, 32000, 512}, {8, 32000, 512}, {32, 32000, 512},
	} {
		c, a, w := New(s.m, s.n), random(s.m, s.k), random(s.k, s.n)
		q := QuantizeInt8(nil, w)
		for _, threads := range []int{1, 2} {
			float := func() { Gemm(pools[threads], c, a, w, GemmOptions{}) }
			int8 := func() { GemmInt8(pools[threads], c, a, q, GemmOptions{}) }
			b.Run(fmt.Sprintf("m=%d/n=%d/k=%d/threads=%d", s.m, s.n, s.k, threads), func(b *testing.B) {
				defer func(k isa, dot bool) { kernel, hasDot = k, dot }(kernel, hasDot)
				for _, way := range waysInt8() {
					kernel, hasDot = way.kernel, way.dot
					// without VNNI avx512 multiplies as avx2 does
					if kernel == generic && len(supported) > 1 || kernel == avx512 && !hasDot {
						continue
					}
					b.Run("kernel="+KernelInt8(), func(b *testing.B) {
						ratio := timesFaster(int8, float)
						b.SetBytes(int64(s.n * s.k))
						loopWarm(b, int8)
						b.ReportMetric(2e-9*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/b.Elapsed().Seconds(), "GOP/s")
						b.ReportMetric(ratio, "xfloat32")
					})
				}
			})
		}
	}
}

// timesFaster returns the ratio of g's time to f's, from the best of many alternating calls.
func timesFaster(f, g func()) float64 {
	var best [2]time.Duration
	for start := time.Now(); best[1] == 0 || time.Since(start) < 200*time.Millisecond; {
		for i, f := range []func(){f, g} {
			t := time.Now()
			f()
			if d := time.Since(t); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	return float64(best[1]) / float64(best[0])
}
