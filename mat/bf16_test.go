package mat

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

func forEachBF16(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	eachBF16(func(name string) { t.Run("kernel="+name, f) })
}

// benchBF16 is forEachBF16 for benchmarks. It omits portable Go.
func benchBF16(b *testing.B, f func(b *testing.B)) {
	eachBF16(func(name string) {
		if name != "generic" {
			b.Run("kernel="+name, f)
		}
	})
}

// bf16Oracle is GemmBF16 by definition.
func bf16Oracle(c, a, b Matrix, o GemmOptions) {
	fma, inTiles := fmaFlushed, kernelBF16() == tilesBF16
	k := ceil(a.Cols, 32)
	rounded := func(x Matrix) Matrix {
		y := New(x.Rows, k)
		for i := range x.Rows {
			for l := range x.Cols {
				y.Row(i)[l] = roundBF16(x.At(i, l))
			}
		}
		return y
	}
	a, b = rounded(a), rounded(b.T())
	for i := range c.Rows {
		for j := range c.Cols {
			var x float32
			if o.Accumulate {
				x = c.At(i, j)
			}
			a, b := a.Row(i), b.Row(j)
			if inTiles {
				for l := 0; l < k; l += 32 {
					var even, odd float32
					for i := l; i < l+32; i += 2 {
						even = fma(a[i], b[i], even)
						odd = fma(a[i+1], b[i+1], odd)
					}
					x = fma(1, fma(1, even, odd), x)
				}
			} else {
				for l := 0; l < k; l += 2 {
					x = fma(a[l+1], b[l+1], x)
					x = fma(a[l], b[l], x)
				}
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

// checkBF16 compares GemmBF16 with the oracle, bit for bit.
func (q problem) checkBF16(t *testing.T, r *rand.Rand, number func(*rand.Rand) float32) {
	t.Helper()
	if kernel == generic {
		q.o.Activation = min(q.o.Activation, ReLU) // others have different bits in portable Go
	}
	a, b := operand(r, q.m, q.k, q.ta, number), operand(r, q.k, q.n, q.tb, number)
	around, c, want := q.draw(r, number)
	bf16Oracle(want, a, b, q.o)
	GemmBF16(pools[q.threads], c, a, b, q.o)
	q.compare(t, "GemmBF16", around, c, want, func(i, j int) bool { return sameNumber(c.At(i, j), want.At(i, j)) })
}

// onTheBrink returns numbers whose sums are barely denormal, or barely not.
func onTheBrink(r *rand.Rand) float32 {
	x := []float32{0x1p-76, 0x1p-75, 0x1.8p-76, 0x1p-126, 0x1.000002p-126, 0x1.000004p-126, 0x1p-50, 1}[r.IntN(8)]
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

func TestRoundBF16(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		u := r.Uint32()
		if r.IntN(4) == 0 {
			u = u&^0xFFFF | 0x8000 // a tie
		}
		x := math.Float32frombits(u)
		got := math.Float32bits(roundBF16(x))
		below := u &^ 0xFFFF
		above := below + 0x10000
		f := func(u uint32) float64 { // the value of the bits, if the exponent had no bounds
			return math.Ldexp(float64(1<<23|u&(1<<23-1)), int(u>>23&0xFF))
		}
		down, up := f(u)-f(below), f(above)-f(u)
		want := below
		switch {
		case x != x:
			want |= 0x400000
		case u<<1 < 1<<24:
			want &= 1 << 31
		case up < down || up == down && below>>16&1 == 1:
			want = above
		}
		if got != want {
			t.Fatalf("roundBF16(%x) = %#x, want %#x", x, got, want)
		}
	}
}

func TestFMAFlushed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	flushed := func(x float32) float32 {
		if math.Abs(float64(x)) < 0x1p-126 {
			return float32(math.Copysign(0, float64(x)))
		}
		return x
	}
	for round := range 200_000 {
		draw := []func(*rand.Rand) float32{number, tiny, onTheBrink}[round%3]
		x, y, z := roundBF16(draw(r)), roundBF16(draw(r)), draw(r)
		want := flushed(fma32(x, y, flushed(z)))
		sum := float64(x)*float64(y) + float64(z)
		if abs := math.Abs(sum); abs < 0x1p-125 && abs != 0 {
			exact := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
			exact.Add(exact, big.NewFloat(float64(flushed(z))))
			if exact.Sign() != 0 { // big.Float does not have IEEE 754's signs of zero
				// the exponent of a big.Float has no bounds
				f, _ := exact.SetPrec(24).SetMode(big.ToNearestEven).Float64()
				want = float32(f)
				if math.Abs(f) < 0x1p-126 {
					want = float32(math.Copysign(0, f))
				}
			}
		}
		if got := fmaFlushed(x, y, z); !sameNumber(got, want) {
			t.Fatalf("fmaFlushed(%x, %x, %x) = %x, want %x", x, y, z, got, want)
		}
	}
}

// The instructions compute what GemmBF16 documents: over one pair and one tile, for values of all
// kinds.
func TestBF16InstructionsEqualTheModel(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		rounds := 800
		if kernelBF16() == portableBF16 || race { // slow
			rounds = 40
		}
		kinds := []func(*rand.Rand) float32{number, tiny, onTheBrink, func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) }}
		for round := range rounds {
			q := problem{m: 32, n: 64, k: 2, o: GemmOptions{Accumulate: true}}
			if round%32 == 0 {
				q.k = 32
			}
			q.checkBF16(t, r, kinds[round%len(kinds)])
		}
	})
}

func TestGemmBF16EqualsOracle(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		threads := []int{1, 2, 3, 8}
		draw := func(m, n, k int, number func(*rand.Rand) float32) {
			if !thin() || r.IntN(10) == 0 {
				problem{m, n, k, r.IntN(2) == 0, r.IntN(2) == 0, randomOptions(r), threads[r.IntN(4)]}.checkBF16(t, r, number)
			}
		}
		for _, m := range []int{0, 1, 2, 3, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 24, 25, 31, 32, 33} {
			for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 65} {
				draw(m, n, r.IntN(20), normal)
			}
		}
		for range 20 {
			draw(r.IntN(80), r.IntN(140), r.IntN(100), normal)
		}
		for range 40 {
			draw(r.IntN(40), r.IntN(70), r.IntN(9), number)
			draw(r.IntN(40), r.IntN(70), r.IntN(70), tiny)
			draw(r.IntN(20), r.IntN(70), r.IntN(40), onTheBrink)
		}
		// beyond the size of every block, with work for several tasks
		for _, q := range []problem{
			{m: 150, n: 70, k: 20}, {m: 5, n: 20, k: 600}, {m: 3, n: 70, k: 2100}, {m: 7, n: 1100, k: 35}, {m: 2100, n: 2, k: 3},
			{m: 130, n: 180, k: 65}, {m: 1, n: 2000, k: 130}, {m: 1, n: 300, k: 2080},
		} {
			for form := range 4 {
				if thin() && r.IntN(10) != 0 {
					continue
				}
				q.ta, q.tb, q.o, q.threads = form&1 != 0, form&2 != 0, randomOptions(r), threads[r.IntN(4)]
				q.checkBF16(t, r, normal)
			}
		}
	})
}

// A vector may have any strides, including unused ones that are out of range.
func TestGemmBF16OfVectors(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		for _, k := range []int{1, 2, 33, 700} {
			if thin() && k > 100 {
				continue
			}
			data := [2]Matrix{operand(r, 5*k, 1, false, normal), operand(r, 5*k, 1, false, normal)}
			column := func(i int) Matrix { return Matrix{data[i].Data, k, 1, 5 * data[i].RowStride, math.MaxInt} }
			a, b := column(0).T(), column(1)
			got, want := Matrix{make([]float32, 1), 1, 1, math.MaxInt, math.MaxInt}, New(1, 1)
			bf16Oracle(want, a, b, GemmOptions{})
			if GemmBF16(nil, got, a, b, GemmOptions{}); got.At(0, 0) != want.At(0, 0) {
				t.Errorf("k=%d: row · column = %v, want %v", k, got.At(0, 0), want.At(0, 0))
			}
			outer, want := New(k, k), New(k, k)
			bf16Oracle(want, b, a, GemmOptions{})
			if GemmBF16(nil, outer, b, a, GemmOptions{}); !slices.Equal(outer.Data, want.Data) {
				t.Errorf("k=%d: column · row differs from the oracle", k)
			}
		}
	})
}

func TestGemmBF16RowsAloneEqualRowsTogether(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		m, n, k := 210, 190, 330
		if kernelBF16() == portableBF16 {
			m, n = 20, 30
		}
		a, b := operand(r, m, k, false, normal), operand(r, k, n, false, normal)
		o, layouts, together := GemmOptions{Activation: ReLU}, map[bool]Matrix{false: b, true: stored(b).T()}, New(m, n)
		GemmBF16(nil, together, a, b, o)
		wantRowsAlone(t, together, []int{1, 50}, func(p *Pool, c Matrix, lo, hi int, transposed bool) {
			GemmBF16(p, c, a.RowRange(lo, hi), layouts[transposed], o)
		})
	})
}

// The error against exact arithmetic is within twice the bounds of GemmBF16, which are of first
// order.
func TestBF16Error(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, k := range []int{1, 64, 500, 2000} {
			a, b, c := operand(r, 20, k, false, normal), operand(r, k, 30, false, normal), New(20, 30)
			GemmBF16(nil, c, a, b, GemmOptions{})
			chain := float64(k)
			if kernelBF16() == tilesBF16 {
				chain = chain/32 + 18
			}
			for i := range c.Rows {
				for j := range c.Cols {
					var exact, rounded, sum, sumRounded float64
					for l := range k {
						x, y := float64(a.At(i, l)), float64(b.At(l, j))
						xr, yr := float64(roundBF16(a.At(i, l))), float64(roundBF16(b.At(l, j)))
						exact, sum = exact+x*y, sum+math.Abs(x*y)
						rounded, sumRounded = rounded+xr*yr, sumRounded+math.Abs(xr*yr)
					}
					got := float64(c.At(i, j))
					if d, bound := math.Abs(got-rounded), 2*chain*0x1p-24*sumRounded; d > bound {
						t.Fatalf("k=%d: error %v against the product of the rounded operands, want at most %v", k, d, bound)
					}
					if d, bound := math.Abs(got-exact), 2*chain*0x1p-24*sumRounded+0x1.01p-7*sum; d > bound {
						t.Fatalf("k=%d: error %v against the product, want at most %v", k, d, bound)
					}
				}
			}
		}
	})
}

func TestGemmBF16AllocatesNothing(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		m := 100
		if kernelBF16() == portableBF16 { // slow
			m = 20
		}
		a, b, c := New(m, 80), New(80, 90), New(m, 90)
		at := New(80, m)
		for _, threads := range []int{1, 2} {
			wantNoAllocations(t, func() {
				GemmBF16(pools[threads], c, a, b, GemmOptions{})
				GemmBF16(pools[threads], c, at.T(), b, GemmOptions{Accumulate: true})
			})
		}
	})
}

// Signals and other processes may interrupt a kernel. They must preserve its registers, and it must
// preserve theirs.
func TestGemmBF16UnderSignals(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		if kernelBF16() == portableBF16 {
			return
		}
		const m, n, k = 64, 128, 512
		a, b, want := random(m, k), random(k, n), New(m, n)
		GemmBF16(nil, want, a, b, GemmOptions{})
		var running sync.WaitGroup
		for range 4 {
			running.Add(1)
			go func() {
				defer running.Done()
				c := New(m, n)
				for range 10 {
					GemmBF16(nil, c, a, b, GemmOptions{})
					runtime.GC() // interrupts the other goroutines by signals
					if !slices.Equal(c.Data, want.Data) {
						t.Error("the result differs from that of an undisturbed call")
						return
					}
				}
			}()
		}
		running.Wait()
	})
}

// FasterBF16 depends on the instructions and the size only, not on measurements.
func TestFasterBF16(t *testing.T) {
	forEachBF16(t, func(t *testing.T) {
		instructions := KernelBF16() != "generic"
		for _, q := range []struct {
			m, n, k int
			large   bool
		}{
			{1024, 2048, 512, true}, {64, 64, 64, true}, {32, 128, 128, true}, {128, 128, 4096, true},
			{16, 4096, 4096, false}, {4096, 4096, 16, false}, {4096, 16, 4096, false}, {32, 32, 32, false}, {0, 64, 64, false},
		} {
			if got, want := FasterBF16(q.m, q.n, q.k), q.large && instructions; got != want {
				t.Errorf("FasterBF16(%d, %d, %d) = %v, want %v", q.m, q.n, q.k, got, want)
			}
		}
	})
}

// FuzzGemmBF16 compares products of any shape, form and seed with the oracle.
func FuzzGemmBF16(f *testing.F) {
	f.Add(uint8(8), uint8(32), uint8(32), uint8(0), uint64(1))
	f.Add(uint8(33), uint8(70), uint8(65), uint8(2), uint64(2))
	f.Add(uint8(200), uint8(20), uint8(1), uint8(29), uint64(3))
	f.Fuzz(func(t *testing.T, m, n, k, form uint8, seed uint64) {
		q := problem{m: int(m), n: int(n), k: int(k), ta: form&1 != 0, tb: form&2 != 0, threads: []int{1, 2, 3, 8}[form>>5&3]}
		q.o.Accumulate, q.o.Activation = form&4 != 0, Activation(form>>3&1)
		if form&16 != 0 {
			q.o.Bias = []float32{}
		}
		q.checkBF16(t, rand.New(rand.NewPCG(seed, 0)), []func(*rand.Rand) float32{normal, number, tiny, onTheBrink}[seed%4])
	})
}

// BenchmarkGemmBF16 covers the large products of training, in their three forms. %peak is relative
// to the peak rate of the bfloat16 instructions in use, ratio to the speed of Gemm; the two
// alternate.
func BenchmarkGemmBF16(b *testing.B) {
	type shape struct{ m, n, k int }
	for _, form := range []string{"NN", "NT", "TN"} {
		for _, s := range []shape{{512, 512, 512}, {1024, 1024, 1024}, {1024, 512, 512}, {1024, 2048, 512}, {1024, 512, 2048}, {4096, 512, 512},
			{1024, 8000, 512}, {512, 2048, 4096}, {4096, 128, 128}, {4096, 256, 128}, {4096, 128, 256}, {128, 32000, 512}} {
			x := func(rows, cols int, t byte) Matrix {
				if t == 'T' {
					return random(cols, rows).T()
				}
				return random(rows, cols)
			}
			c, a, w := New(s.m, s.n), x(s.m, s.k, form[0]), x(s.k, s.n, form[1])
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("form=%s/m=%d/n=%d/k=%d/threads=%d", form, s.m, s.n, s.k, threads), func(b *testing.B) {
					benchBF16(b, func(b *testing.B) {
						seconds := func(f func(*Pool, Matrix, Matrix, Matrix, GemmOptions)) float64 {
							start := time.Now()
							f(pools[threads], c, a, w, GemmOptions{})
							return time.Since(start).Seconds()
						}
						bf16, float := seconds(GemmBF16), seconds(Gemm)
						for range 5 {
							bf16, float = min(bf16, seconds(GemmBF16)), min(float, seconds(Gemm))
						}
						loopWarm(b, func() { GemmBF16(pools[threads], c, a, w, GemmOptions{}) })
						flop := 2 * float64(s.m) * float64(s.n) * float64(s.k)
						gflops := 1e-9 * flop * float64(b.N) / b.Elapsed().Seconds()
						b.ReportMetric(gflops, "GFLOP/s")
						b.ReportMetric(100*gflops/MeasurePeakBF16(50*time.Millisecond)/float64(threads), "%peak")
						b.ReportMetric(float/bf16, "ratio")
					})
				})
			}
		}
	}
}
