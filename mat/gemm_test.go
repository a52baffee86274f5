package mat

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// gemmOracle is Gemm by definition.
func gemmOracle(c, a, b Matrix, o GemmOptions) {
	for i := range c.Rows {
		for j := range c.Cols {
			var x float32
			if o.Accumulate {
				x = c.At(i, j)
			}
			for k := range a.Cols {
				x = fma32(a.At(i, k), b.At(k, j), x)
			}
			if o.Bias != nil {
				x += o.Bias[j]
			}
			if o.Activation != Identity {
				x, _ = activationOracle(o.Activation, x)
			}
			if o.Residual.Data != nil {
				x += o.Residual.At(i, j)
			}
			c.Data[i*c.RowStride+j] = x
		}
	}
}

const guard = float32(-7.25e11) // surrounds C and must not be overwritten

// operand returns a random matrix, or its transpose, at a random place in a larger one.
func operand(r *rand.Rand, rows, cols int, transposed bool, number func(*rand.Rand) float32) Matrix {
	if transposed {
		return operand(r, cols, rows, false, number).T()
	}
	parent := New(rows+2, cols+2+r.IntN(9))
	for i := range parent.Data {
		parent.Data[i] = number(r)
	}
	c0 := r.IntN(parent.Cols - cols + 1)
	return parent.Slice(1, rows+1, c0, c0+cols)
}

// problem is a product to test.
type problem struct {
	m, n, k int
	ta, tb  bool
	o       GemmOptions // Bias and Residual are drawn if they are not nil
	threads int
}

func (q problem) String() string {
	form := map[bool]string{false: "N", true: "T"}
	return fmt.Sprintf("%s%s m=%d n=%d k=%d accumulate=%v bias=%v activation=%v residual=%v threads=%d",
		form[q.ta], form[q.tb], q.m, q.n, q.k, q.o.Accumulate, q.o.Bias != nil, q.o.Activation, q.o.Residual.Data != nil, q.threads)
}

var pools = map[int]*Pool{1: nil, 2: NewPool(2), 3: NewPool(3), 8: NewPool(8)}

// draw draws the bias, the residual and C, which is a part of around: guards are elsewhere. It
// returns a copy of C for the oracle.
func (q *problem) draw(r *rand.Rand, number func(*rand.Rand) float32) (around, c, want Matrix) {
	if q.o.Bias != nil {
		q.o.Bias = operand(r, 1, q.n, false, number).Data
	}
	if q.o.Residual.Data != nil {
		q.o.Residual = operand(r, q.m, q.n, false, number)
	}
	around = New(q.m+2, q.n+5)
	for i := range around.Data {
		around.Data[i] = guard
	}
	c, want = around.Slice(1, q.m+1, 3, q.n+3), New(q.m, q.n)
	for i := range c.Rows {
		for j := range c.Cols {
			c.Row(i)[j] = number(r)
		}
		copy(want.Row(i), c.Row(i))
	}
	return around, c, want
}

// compare requires that the elements of C are the wanted ones, by same, and that all others of
// around are guards.
func (q problem) compare(t *testing.T, name string, around, c, want Matrix, same func(i, j int) bool) {
	t.Helper()
	for i := range c.Rows {
		for j := range c.Cols {
			if !same(i, j) {
				t.Fatalf("%s, %v: C[%d, %d] = %x, want %x", name, q, i, j, c.At(i, j), want.At(i, j))
			}
			c.Row(i)[j] = guard
		}
	}
	for i, x := range around.Data {
		if x != guard {
			t.Fatalf("%s, %v: written outside C, at element %d of %d", name, q, i, len(around.Data))
		}
	}
}

// check compares Gemm and GemmPacked with the oracle. Kernels must return the same bits.
// For portable Go the difference may be twice (k+2)·2^-24·(Σ|a||b| + |c| + |bias| + |residual|);
// an activation adds its own error and a seventh of that.
func (q problem) check(t *testing.T, r *rand.Rand, number func(*rand.Rand) float32) {
	t.Helper()
	a, b := operand(r, q.m, q.k, q.ta, number), operand(r, q.k, q.n, q.tb, number)
	around, c, want := q.draw(r, number)
	before := New(q.m, q.n)
	copy(before.Data, want.Data)
	gemmOracle(want, a, b, q.o)
	w := new(Packed)
	w.Set(pools[q.threads], operand(r, 1+r.IntN(20), 1+r.IntN(40), false, number)) // reused below
	w.Set(pools[q.threads], b)
	for name, multiply := range map[string]func(){
		"Gemm":       func() { Gemm(pools[q.threads], c, a, b, q.o) },
		"GemmPacked": func() { GemmPacked(pools[q.threads], c, a, w, q.o) },
	} {
		for i := range c.Rows {
			copy(c.Row(i), before.Row(i))
		}
		multiply()
		q.compare(t, name, around, c, want, func(i, j int) bool {
			got, want := c.At(i, j), want.At(i, j)
			if kernel != generic {
				return sameNumber(got, want)
			}
			var sum float64
			if q.o.Accumulate {
				sum = math.Abs(float64(before.At(i, j)))
			}
			for k := range q.k {
				sum += math.Abs(float64(a.At(i, k)) * float64(b.At(k, j)))
			}
			if q.o.Bias != nil {
				sum += math.Abs(float64(q.o.Bias[j]))
			}
			if q.o.Residual.Data != nil {
				sum += math.Abs(float64(q.o.Residual.At(i, j)))
			}
			roundings := float64(q.k + 2)
			if q.o.Activation > ReLU {
				roundings = roundings*1.15 + 8
			}
			return !(math.Abs(float64(got)-float64(want)) > 0x1p-23*roundings*sum)
		})
	}
}

func normal(r *rand.Rand) float32 { return float32(r.NormFloat64()) }

// tiny returns numbers with denormal or vanishing products.
func tiny(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), -62-r.IntN(16))) }

func randomOptions(r *rand.Rand) GemmOptions {
	o := GemmOptions{Accumulate: r.IntN(2) == 0, Activation: Activation(r.IntN(int(activations)))}
	if r.IntN(2) == 0 {
		o.Bias = []float32{}
	}
	if r.IntN(4) == 0 {
		o.Residual.Data = []float32{}
	}
	return o
}

func TestGemmEqualsOracle(t *testing.T) {
	defer func(l limits) { machineLimits = l }(machineLimits)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		threads := []int{1, 2, 3, 8}
		draw := func(m, n, k int, number func(*rand.Rand) float32) {
			if !thin() || r.IntN(10) == 0 {
				machineLimits.maxSmallWork = r.IntN(2) << 20 // with and without blocks
				problem{m, n, k, r.IntN(2) == 0, r.IntN(2) == 0, randomOptions(r), threads[r.IntN(4)]}.check(t, r, number)
			}
		}
		// each edge of the tile, of packing and of the paths for few rows and columns
		for m := range 30 {
			for _, n := range []int{0, 1, 2, 7, 8, 9, 14, 15, 16, 17, 33, 64, 66} {
				draw(m, n, r.IntN(20), normal)
			}
		}
		for range 150 {
			draw(r.IntN(40), r.IntN(80), r.IntN(70), normal)
		}
		if kernel != generic {
			for range 150 {
				draw(r.IntN(20), r.IntN(40), r.IntN(9), number)
				draw(r.IntN(20), r.IntN(40), r.IntN(40), tiny)
			}
		}
		// beyond the size of every block, with work for several tasks
		for _, q := range []problem{
			{m: 150, n: 70, k: 20}, {m: 30, n: 20, k: 600}, {m: 7, n: 1100, k: 35}, {m: 26, n: 1050, k: 9},
			{m: 128, n: 128, k: 260}, {m: 1, n: 4100, k: 130}, {m: 300, n: 150, k: 20}, {m: 135, n: 40, k: 530}, {m: 2, n: 520, k: 513}, {m: 1100, n: 40, k: 3}, {m: 2, n: 1100, k: 540, o: GemmOptions{Bias: []float32{}, Activation: ReLU}, threads: 1},
		} {
			for form := range 4 {
				if thin() && r.IntN(10) != 0 {
					continue
				}
				q.ta, q.tb = form&1 != 0, form&2 != 0
				drawn := q
				if q.threads == 0 {
					drawn.o, drawn.threads = randomOptions(r), threads[r.IntN(4)]
				}
				drawn.check(t, r, normal)
			}
		}
	})
}

// The kernels for few rows times contiguous columns of B compute every number of rows, columns and
// blocks of k with every epilogue.
func TestFewRowsTimesColumns(t *testing.T) {
	defer func(l limits) { machineLimits = l }(machineLimits)
	machineLimits.maxSmallWork = 0
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 22))
		for m := 1; m <= 18; m++ {
			for _, n := range []int{12, 16, 32, 48, 70, 96} {
				for options := range 8 {
					if thin() && r.IntN(10) != 0 {
						continue
					}
					o := GemmOptions{Accumulate: options&1 != 0}
					if options&2 != 0 {
						o.Bias = []float32{}
					}
					if options&4 != 0 {
						o.Activation = ReLU
					}
					draw := normal
					if kernel != generic && r.IntN(2) == 0 {
						draw = number
					}
					problem{m, n, 16 + r.IntN(50), false, true, o, 1}.check(t, r, draw)
				}
			}
		}
	})
}

// So do those for few rows times contiguous rows of B, from L2, beyond L2 and memory.
func TestFewRowsTimesRows(t *testing.T) {
	defer func(l limits) { machineLimits = l }(machineLimits)
	machineLimits.maxSmallWork = 0
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for _, cached := range []limits{{l2Floats: 1 << 30, l3Floats: 1 << 30}, {l3Floats: 1 << 30}, {}} {
			machineLimits.l2Floats, machineLimits.l3Floats = cached.l2Floats, cached.l3Floats
			for m := 1; m <= 21; m++ {
				for _, n := range []int{48, 70, 96, 120} {
					for _, k := range []int{8, 1 + r.IntN(128), 129 + r.IntN(200)} {
						if !thin() || r.IntN(10) == 0 {
							problem{m, n, k, false, false, randomOptions(r), 1}.check(t, r, normal)
						}
					}
				}
			}
		}
	})
}

// The products of the tests above reach every kernel of an instruction set.
func TestEveryKernelIsReached(t *testing.T) {
	defer func(l limits) { machineLimits = l }(machineLimits)
	forEachKernel(t, func(t *testing.T) {
		if kernel == generic {
			return // without a table of kernels
		}
		set, calls := kernelsOf[kernel], map[*gemmKernel]int{}
		all := []*gemmKernel{set.strips, set.fewRows, set.small, set.columns, set.row}
		for _, g := range all {
			if g == nil {
				continue
			}
			saved := *g
			defer func() { *g = saved }()
			if g.strip != nil {
				g.strip = func(s *strip) { calls[g]++; saved.strip(s) }
			}
			if g.columns != nil {
				g.columns = func(s *columnsArgs) { calls[g]++; saved.columns(s) }
			}
			if g.row != nil {
				g.row = func(r *rowArgs) { calls[g]++; saved.row(r) }
			}
		}
		r := rand.New(rand.NewPCG(25, 26))
		for _, machineLimits.maxSmallWork = range []int{0, 1 << 20} {
			for m := 1; m <= 18; m++ {
				for _, tb := range []bool{false, true} {
					problem{m: m, n: 70, k: 40, tb: tb, threads: 1}.check(t, r, normal)
				}
			}
		}
		for n, g := range all {
			if g != nil && calls[g] == 0 {
				t.Errorf("kernel %d of %v is not reached", n, kernel)
			}
		}
	})
}

// wantRowsAlone requires that a row of C does not depend on the other rows of the call, on the
// threads, nor on the layout of an operand, which multiply transposes in memory if asked.
func wantRowsAlone(t *testing.T, together Matrix, rows []int, multiply func(p *Pool, c Matrix, lo, hi int, transposed bool)) {
	t.Helper()
	for _, threads := range []int{1, 2, 3, 8} {
		for _, rows := range rows {
			c := New(together.Rows, together.Cols)
			for i := 0; i < c.Rows; i += rows {
				end := min(i+rows, c.Rows)
				multiply(pools[threads], c.RowRange(i, end), i, end, i%2 == 1)
			}
			for i, x := range c.Data {
				if math.Float32bits(x) != math.Float32bits(together.Data[i]) {
					t.Fatalf("%d threads, %d rows at a time: C[%d, %d] = %x, want %x", threads, rows, i/c.Cols, i%c.Cols, x, together.Data[i])
				}
			}
		}
	}
}

// stored returns a matrix whose transpose is x.
func stored(x Matrix) Matrix {
	t := New(x.Cols, x.Rows)
	Transpose(nil, t, x)
	return t
}

func TestGemmRowsAloneEqualRowsTogether(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		a, b := operand(r, 200, 300, false, normal), operand(r, 300, 90, false, normal)
		o, layouts, together := GemmOptions{Bias: random(1, 90).Data, Activation: ReLU}, map[bool]Matrix{false: b, true: stored(b).T()}, New(200, 90)
		Gemm(nil, together, a, b, o)
		wantRowsAlone(t, together, []int{1, 2, 5, 6, 25, 200}, func(p *Pool, c Matrix, lo, hi int, transposed bool) {
			Gemm(p, c, a.RowRange(lo, hi), layouts[transposed], o)
		})
	})
}

// Rows of A that share cache sets are copied before they are multiplied.
func TestGemmOfAliasedRows(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, stride := range []int{1024, 2048, 3072} {
			for _, s := range []struct{ m, n, k int }{{1, 64, 500}, {5, 63, 7}, {13, 64, 1000}, {30, 200, 17}, {70, 130, 1}, {150, 90, 513}} {
				a, b := New(s.m, stride).ColRange(3, 3+s.k), operand(r, s.k, s.n, stride == 2048, normal)
				dense := New(s.m, s.k)
				for i := range s.m {
					row := dense.Row(i)
					for l := range row {
						row[l] = normal(r)
					}
					copy(a.Row(i), row)
				}
				got, want := New(s.m, s.n), New(s.m, s.n)
				for _, o := range []GemmOptions{{}, {Accumulate: true}} {
					Gemm(pools[2], got, a, b, o)
					Gemm(nil, want, dense, b, o)
				}
				for i, x := range got.Data {
					if math.Float32bits(x) != math.Float32bits(want.Data[i]) {
						t.Fatalf("%+v, row stride %d: C[%d, %d] = %x, want %x as with contiguous rows", s, stride, i/s.n, i%s.n, x, want.Data[i])
					}
				}
			}
		}
	})
}

func TestGemmAllocatesNothing(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		a, b, c := New(100, 80), New(80, 80), New(100, 80)
		w := Pack(nil, b)
		ata, aat := New(80, 80), New(100, 100)
		for _, threads := range []int{1, 2} { // enough work for two threads
			wantNoAllocations(t, func() {
				Gemm(pools[threads], c, a, b, GemmOptions{})
				Gemm(pools[threads], ata, a.T(), c, GemmOptions{Accumulate: true})
				Gemm(pools[threads], aat, a, c.T(), GemmOptions{})
				Gemm(pools[threads], c.RowRange(0, 3), a.RowRange(0, 3), b.T(), GemmOptions{})
				w.Set(pools[threads], b)
				GemmPacked(pools[threads], c, a, w, GemmOptions{})
			})
		}
	})
}

// TestPanicMessages, TestMatrixOutsideItsData and TestOverlappingResults have most panics.
func TestGemmPanicsOnMismatch(t *testing.T) {
	x := func(rows, cols int) Matrix { return New(rows, cols) }
	const root = 1 << (bits.UintSize / 2) // its square overflows to 0
	mustPanic(t, "mat: ", map[string]func(){
		"residual":      func() { Gemm(nil, x(2, 3), x(2, 4), x(4, 3), GemmOptions{Residual: x(3, 2)}) },
		"residual, T":   func() { Gemm(nil, x(2, 3), x(2, 4), x(4, 3), GemmOptions{Residual: x(3, 2).T()}) },
		"Apply":         func() { activations.Apply(make([]float32, 1), make([]float32, 1)) },
		"Grad":          func() { activations.Grad(make([]float32, 1), make([]float32, 1)) },
		"rows, bf16":    func() { GemmBF16(nil, x(2, 3), x(3, 4), x(4, 3), GemmOptions{}) },
		"depth, bf16":   func() { GemmBF16(nil, x(2, 3), x(2, 4), x(5, 3), GemmOptions{}) },
		"packed":        func() { GemmPacked(nil, x(2, 3), x(2, 4), Pack(nil, x(5, 3)), GemmOptions{}) },
		"New, overflow": func() { New(root, root) },
		"Of, overflow":  func() { Of(make([]float32, 5), root, root) },
		"Slice outside": func() { x(2, 2).Slice(0, 3, 0, 1) },
	})
}

// mustPanic calls each function, which must panic with a message that begins with prefix.
func mustPanic(t *testing.T, prefix string, calls map[string]func()) {
	t.Helper()
	for name, f := range calls {
		if s := fmt.Sprint(panicOf(f)); !strings.HasPrefix(s, prefix) {
			t.Errorf("%s panics with %q, want prefix %q", name, s, prefix)
		}
	}
}

// FuzzGemm compares products of any shape, form and seed with the oracle.
func FuzzGemm(f *testing.F) {
	f.Add(uint8(6), uint8(16), uint8(32), uint8(0), uint8(Identity), uint64(1))
	f.Add(uint8(14), uint8(14), uint8(32), uint8(2), uint8(GELU), uint64(2))
	f.Add(uint8(200), uint8(20), uint8(1), uint8(29), uint8(ReLU), uint64(3))
	f.Fuzz(func(t *testing.T, m, n, k, form, activation uint8, seed uint64) {
		q := problem{m: int(m), n: int(n), k: int(k), ta: form&1 != 0, tb: form&2 != 0, threads: []int{1, 2, 3, 8}[form>>5&3]}
		q.o.Accumulate, q.o.Activation = form&4 != 0, Activation(activation)%activations
		if form&16 != 0 {
			q.o.Bias = []float32{}
		}
		if form&8 != 0 {
			q.o.Residual.Data = []float32{}
		}
		r, draw := rand.New(rand.NewPCG(seed, 0)), normal
		if kernel != generic && seed%2 == 0 {
			draw = number
		}
		q.check(t, r, draw)
	})
}
