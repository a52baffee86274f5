package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// vecCase is a kernel and its oracle, both functions of vectors v, which they may write up to
// `outputs`, and scalars a. They return the results of the kernel.
type vecCase struct {
	name             string
	flops            int // operations of one element; fma counts as two
	vectors, outputs int
	kernel, oracle   func(v [][]float32, a []float32) (float32, float32)
	alias            [][2]int            // pairs of vectors that may be the same slice
	prepare          func(v [][]float32) // if not nil, turns v into valid inputs
	steady           func(v [][]float32) // if not nil, keeps outputs steady in a benchmark
}

// positive returns a valid scale of a softmax: |a|, or 1 for 0 and NaN.
func positive(a float32) float32 {
	if a = float32(math.Abs(float64(a))); a > 0 {
		return a
	}
	return 1
}

func discard(f func(v [][]float32, a []float32)) func(v [][]float32, a []float32) (float32, float32) {
	return func(v [][]float32, a []float32) (float32, float32) { f(v, a); return 0, 0 }
}

func one(f func(v [][]float32, a []float32) float32) func(v [][]float32, a []float32) (float32, float32) {
	return func(v [][]float32, a []float32) (float32, float32) { return f(v, a), 0 }
}

var (
	testAdam     = Adam{Beta1: 0.9, Beta2: 0.98, Eps: 1e-9, StepSize: 1e-3, VScale: 1.7, GradScale: 0.5}
	testDropout  = Dropout{Rate: 0.3, Key: 0x0123456789abcdef}
	testDropout0 = Dropout{Rate: 0, Key: 0x0123456789abcdef}
)

const dropoutFirst = -20 // the counter wraps

var vecCases = []vecCase{
	{name: "sum", flops: 1, vectors: 1,
		kernel: one(func(v [][]float32, a []float32) float32 { return Sum(v[0]) }),
		oracle: one(func(v [][]float32, a []float32) float32 { return sumOracle(v[0]) })},
	{name: "dot", flops: 2, vectors: 2, alias: [][2]int{{0, 1}},
		kernel: one(func(v [][]float32, a []float32) float32 { return Dot(v[0], v[1]) }),
		oracle: one(func(v [][]float32, a []float32) float32 { return dotOracle(v[0], v[1]) })},
	{name: "sumsquareddiff", flops: 3, vectors: 1,
		kernel: one(func(v [][]float32, a []float32) float32 { return SumSquaredDiff(v[0], a[0]) }),
		oracle: one(func(v [][]float32, a []float32) float32 { return sumSquaredDiffOracle(v[0], a[0]) })},
	{name: "max", flops: 1, vectors: 1,
		kernel: one(func(v [][]float32, a []float32) float32 { return Max(v[0]) }),
		oracle: one(func(v [][]float32, a []float32) float32 { return maxOracle(v[0]) })},
	{name: "add", flops: 1, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: discard(func(v [][]float32, a []float32) { Add(v[0], v[1]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return v[0][j] + v[1][j] })
		})},
	{name: "axpy", flops: 2, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: discard(func(v [][]float32, a []float32) { Axpy(a[0], v[1], v[0]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return fma32(a[0], v[1][j], v[0][j]) })
		})},
	{name: "scal", flops: 1, vectors: 1, outputs: 1,
		kernel: discard(func(v [][]float32, a []float32) { Scal(a[0], v[0]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return v[0][j] * a[0] })
		})},
	{name: "scaleshift", flops: 2, vectors: 1, outputs: 1,
		kernel: discard(func(v [][]float32, a []float32) { ScaleShift(v[0], a[0], a[1]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return fma32(v[0][j], a[0], a[1]) })
		})},
	{name: "axpyto", flops: 2, vectors: 3, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}, {1, 2}},
		kernel: discard(func(v [][]float32, a []float32) { AxpyTo(v[0], a[0], v[1], v[2]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return fma32(a[0], v[1][j], v[2][j]) })
		})},
	{name: "expsum", flops: 22, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: one(func(v [][]float32, a []float32) float32 { return ExpSum(v[0], v[1], a[0]) }),
		oracle: one(func(v [][]float32, a []float32) float32 { return expSumOracle(v[0], v[1], a[0], 1) })},
	{name: "softmax", flops: 24, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: discard(func(v [][]float32, a []float32) { Softmax(v[0], v[1], positive(a[0])) }),
		oracle: discard(func(v [][]float32, a []float32) { softmaxOracle(v[0], v[1], positive(a[0])) })},
	{name: "softmaxgrad", flops: 3, vectors: 3, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		kernel: discard(func(v [][]float32, a []float32) { SoftmaxGrad(v[0], v[1], v[2], a[0], a[1]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return v[1][j] * (v[2][j] - a[0]) * a[1] })
		})},
	{name: "normalize", flops: 4, vectors: 4, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}, {0, 3}},
		kernel: discard(func(v [][]float32, a []float32) { LayerNorm(v[0], v[1], a[0], a[1], v[2], v[3]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return fma32(xhat(v[1][j], a[0], a[1]), v[2][j], v[3][j]) })
		})},
	{name: "normalizesums", flops: 6, vectors: 3, alias: [][2]int{{0, 1}},
		kernel: func(v [][]float32, a []float32) (float32, float32) {
			return LayerNormGradSums(v[0], v[1], a[0], a[1], v[2])
		},
		oracle: func(v [][]float32, a []float32) (float32, float32) {
			return layerNormGradSumsOracle(v[0], v[1], a[0], a[1], v[2])
		}},
	{name: "normalizegrad", flops: 7, vectors: 4, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		kernel: discard(func(v [][]float32, a []float32) { LayerNormGrad(v[0], v[1], v[2], a[0], a[1], v[3], a[2], a[3]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			layerNormGradOracle(v[0], v[1], v[2], a[0], a[1], v[3], a[2], a[3])
		})},
	{name: "normalizeparamgrad", flops: 5, vectors: 4, outputs: 2, alias: [][2]int{{2, 3}},
		kernel: discard(func(v [][]float32, a []float32) { layerNormParamGrad(v[0], v[1], v[2], v[3], a[0], a[1]) }),
		oracle: discard(func(v [][]float32, a []float32) {
			eachOracle(v[0], func(j int) float32 { return fma32(v[2][j], xhat(v[3][j], a[0], a[1]), v[0][j]) })
			eachOracle(v[1], func(j int) float32 { return v[1][j] + v[2][j] })
		})},
	{name: "adam", flops: 14, vectors: 4, outputs: 4, prepare: func(v [][]float32) {
		for j, x := range v[3] {
			v[3][j] = x * x // second moments are not negative
		}
	},
		kernel: discard(func(v [][]float32, a []float32) { testAdam.Step(v[0], v[1], v[2], v[3]) }),
		oracle: discard(func(v [][]float32, a []float32) { adamOracle(&testAdam, v[0], v[1], v[2], v[3]) })},
	{name: "dropout", flops: 2, vectors: 3, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		kernel: discard(func(v [][]float32, a []float32) { testDropout.Apply(v[0], v[1], v[2], dropoutFirst) }),
		oracle: discard(func(v [][]float32, a []float32) { dropoutOracle(testDropout, v[0], v[1], v[2], dropoutFirst) })},
	{name: "dropoutalone", flops: 1, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: discard(func(v [][]float32, a []float32) { testDropout.Apply(v[0], v[1], nil, dropoutFirst) }),
		oracle: discard(func(v [][]float32, a []float32) { dropoutOracle(testDropout, v[0], v[1], nil, dropoutFirst) })},
	{name: "dropout0", flops: 1, vectors: 3, outputs: 1, alias: [][2]int{{0, 1}, {0, 2}},
		kernel: discard(func(v [][]float32, a []float32) { testDropout0.Apply(v[0], v[1], v[2], 0) }),
		oracle: discard(func(v [][]float32, a []float32) { dropoutOracle(testDropout0, v[0], v[1], v[2], 0) })},
	{name: "dropout0alone", flops: 0, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
		kernel: discard(func(v [][]float32, a []float32) { testDropout0.Apply(v[0], v[1], nil, 0) }),
		oracle: discard(func(v [][]float32, a []float32) { copy(v[0], v[1]) })},
}

func init() {
	for _, c := range []struct {
		f            Activation
		name         string
		value, slope int // flops
	}{{ReLU, "relu", 1, 1}, {GELU, "gelu", 48, 50}, {GELUTanh, "gelutanh", 45, 51}, {SiLU, "silu", 26, 29}} {
		f := c.f
		vecCases = append(vecCases, vecCase{name: c.name, flops: c.value, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
			kernel: discard(func(v [][]float32, a []float32) { f.Apply(v[0], v[1]) }),
			oracle: discard(func(v [][]float32, a []float32) {
				eachOracle(v[0], func(j int) float32 {
					y, _ := activationOracle(f, v[1][j])
					return y
				})
			}),
		}, vecCase{name: c.name + "grad", flops: c.slope, vectors: 2, outputs: 1, alias: [][2]int{{0, 1}},
			steady: func(v [][]float32) {
				for j := range v[1] {
					v[1][j] += 20 // where the slope is 1
				}
			},
			kernel: discard(func(v [][]float32, a []float32) { f.Grad(v[0], v[1]) }),
			oracle: discard(func(v [][]float32, a []float32) {
				eachOracle(v[0], func(j int) float32 {
					_, slope := activationOracle(f, v[1][j])
					if f == ReLU && slope == 0 {
						return 0
					}
					return v[0][j] * slope
				})
			})})
	}
}

// ordinary returns numbers between -2 and 2.
func ordinary(r *rand.Rand) float32 { return r.Float32()*4 - 2 }

// special returns numbers for which kernels have special rules.
func special(r *rand.Rand) float32 {
	s := [...]float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 0x1p-126, -0x1.8p-127, math.MaxFloat32,
		-math.MaxFloat32, 1e30, -3e-30, 88.8, -87.5, -100, 1 << 24, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	return s[r.IntN(len(s))]
}

// finite is special without NaN and infinity, so that not all results become NaN.
func finite(r *rand.Rand) float32 {
	for {
		if x := special(r); x-x == 0 {
			return x
		}
	}
}

// rare returns ordinary numbers with a few special ones.
func rare(r *rand.Rand) float32 {
	if r.IntN(20) == 0 {
		return special(r)
	}
	return ordinary(r)
}

// masked returns mostly -Inf, like scores under an attention mask.
func masked(r *rand.Rand) float32 {
	if r.IntN(8) > 0 {
		return float32(math.Inf(-1))
	}
	return ordinary(r)
}

var kinds = []struct {
	name string
	draw func(r *rand.Rand) float32
}{{"ordinary", ordinary}, {"finite", finite}, {"rare", rare}, {"special", special}, {"masked", masked}}

// lengths returns all lengths up to four blocks and a remainder, and some of several runs.
func lengths() []int {
	l := []int{127, 128, 256, 265, 500, 511, run - 1, run, run + 1, 2*run + 37}
	for n := range 71 {
		l = append(l, n)
	}
	return l
}

func TestVecEqualsOracle(t *testing.T) {
	if race {
		t.Skip("race detector: vector kernels run on one goroutine")
	}
	forEachKernel(t, func(t *testing.T) {
		for _, c := range vecCases {
			t.Run(c.name, func(t *testing.T) {
				for _, n := range lengths() {
					for seed, k := range kinds {
						if n > run && k.name != "ordinary" {
							continue
						}
						r := rand.New(rand.NewPCG(uint64(n), uint64(seed)))
						v, guards := unaligned(r, c.vectors, n, k.draw)
						c.check(t, v, scalars(r, k.draw), k.name, "")
						guards(t)
						if k.name != "ordinary" && k.name != "special" {
							continue
						}
						for _, pair := range c.alias {
							v, guards := unaligned(r, c.vectors, n, k.draw)
							v[pair[1]] = v[pair[0]]
							c.check(t, v, scalars(r, k.draw), k.name, fmt.Sprintf(", %v the same", pair))
							guards(t)
						}
					}
					if t.Failed() {
						return
					}
				}
			})
		}
	})
}

// scalars returns scalar arguments of kernels. They are not infinite; vectors may be.
func scalars(r *rand.Rand, draw func(r *rand.Rand) float32) []float32 {
	a := make([]float32, 4)
	for j := range a {
		for a[j] = draw(r); math.IsInf(float64(a[j]), 0); a[j] = ordinary(r) {
		}
	}
	return a
}

// unaligned returns vectors at different distances from a multiple of 64 bytes, and a check that
// nothing around them was written.
func unaligned(r *rand.Rand, vectors, n int, draw func(r *rand.Rand) float32) (v [][]float32, check func(t *testing.T)) {
	const guard, mark = 32, 12345.678
	var guards [][]float32
	for range vectors {
		w := make([]float32, guard+16+n+guard)
		for j := range w {
			w[j] = mark
		}
		first := guard + r.IntN(16)
		x := w[first : first+n : first+n]
		for j := range x {
			x[j] = draw(r)
		}
		v, guards = append(v, x), append(guards, w[:first], w[first+n:])
	}
	return v, func(t *testing.T) {
		t.Helper()
		for _, w := range guards {
			for _, x := range w {
				if x != mark {
					t.Fatalf("n=%d: written outside the vector: %v", n, x)
				}
			}
		}
	}
}

// check runs kernel and oracle on the same input and compares all vectors afterwards: bit for bit
// for assembly, within a tolerance and for ordinary numbers for portable Go, which rounds products.
func (c vecCase) check(t *testing.T, v [][]float32, a []float32, kind, alias string) {
	t.Helper()
	if c.prepare != nil {
		c.prepare(v)
	}
	want := make([][]float32, len(v))
	for i := range v {
		want[i] = append([]float32(nil), v[i]...)
		for j := range i {
			if len(v[i]) > 0 && &v[i][0] == &v[j][0] {
				want[i] = want[j]
			}
		}
	}
	w0, w1 := c.oracle(want, a)
	g0, g1 := c.kernel(v, a)
	want, got := append(want, []float32{w0, w1}), append(v[:len(v):len(v)], []float32{g0, g1})
	for i := range want {
		for j := range want[i] {
			w, g := want[i][j], got[i][j]
			ok := sameNumber(w, g)
			if kernel == generic && kind != "ordinary" {
				continue
			} else if kernel == generic && i < len(v) {
				// the terms of an element are below 32, and the number of roundings
				// differs
				ok = math.Abs(float64(w-g)) <= 0x1p-19*(1+math.Abs(float64(w)))
			} else if kernel == generic {
				// the terms of a sum are below 64, each with one more rounding
				ok = w == g || math.Abs(float64(w-g)) <= 0x1p-18*float64(1+len(v[0]))
			}
			if !ok {
				t.Errorf("n=%d, %s%s: vector %d, element %d is %g (%#08x), want %g (%#08x); scalars %v", len(v[0]), kind, alias, i, j,
					g, math.Float32bits(g), w, math.Float32bits(w), a)
				return
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, n := range []int{1, 2, 14, 16, 33, 64, 100, run + 1, 2*run + 5} {
			x, y := make([]float32, n), make([]float32, n)
			for j := range x {
				x[j] = float32(r.NormFloat64() * 20)
			}
			const scale = 0.125
			expect := func(what string, want float32) {
				t.Helper()
				Softmax(y, x, scale)
				for j := range y {
					if !sameNumber(y[j], want) {
						t.Fatalf("n=%d, %s: element %d is %g, want %g", n, what, j, y[j], want)
					}
				}
			}
			at := r.IntN(n)
			for _, special := range []float32{nan, inf} {
				old := x[at]
				x[at] = special
				expect(fmt.Sprintf("%g in one element", special), nan)
				x[at] = old
			}
			for j := range x {
				x[j] = -inf
			}
			expect("all masked", 0)
			x[at] = nan
			expect("a NaN in a masked row", nan)
			x[at] = -math.MaxFloat32
			Softmax(y, x, scale)
			if y[at] != 1 || Sum(y) != 1 {
				t.Errorf("n=%d: the only unmasked element, -MaxFloat32, has weight %g of %g, want 1 of 1", n, y[at], Sum(y))
			}
			for j := range x {
				x[j] = math.MaxFloat32
			}
			Softmax(y, x, scale)
			if want := 1 / float32(n); math.Abs(float64(y[at]-want)) > 0x1p-23*float64(want) {
				t.Errorf("n=%d: equal elements have weight %g, want %g", n, y[at], want)
			}
		}
		Softmax(nil, nil, 1)
	})
}

func TestMaxRules(t *testing.T) {
	negZero := float32(math.Copysign(0, -1))
	forEachKernel(t, func(t *testing.T) {
		for n := 1; n < 40; n++ {
			x := make([]float32, n)
			for at := range x {
				for j := range x {
					x[j] = negZero
				}
				if m := Max(x); math.Float32bits(m) != 0 {
					t.Fatalf("n=%d: Max of negative zeros = %g, want 0", n, m)
				}
				x[at] = float32(math.NaN())
				if m := Max(x); m == m {
					t.Fatalf("n=%d: Max = %g, want NaN for the NaN at %d", n, m, at)
				}
				x[at] = float32(at + 1)
				if m := Max(x); m != float32(at+1) {
					t.Fatalf("n=%d: Max = %g, want %d", n, m, at+1)
				}
			}
		}
		if m := Max(nil); !math.IsInf(float64(m), -1) {
			t.Errorf("Max(nil) = %g, want -Inf", m)
		}
	})
}

func TestVecPanicsOnUnequalLengths(t *testing.T) {
	for _, c := range vecCases {
		for short := range c.vectors {
			if c.vectors == 1 || c.name == "dropout0alone" && short > 1 {
				continue
			}
			v := make([][]float32, c.vectors)
			for i := range v {
				v[i] = make([]float32, 20)
			}
			v[short] = v[short][:19]
			if e := fmt.Sprint(panicOf(func() { c.kernel(v, make([]float32, 4)) })); !strings.Contains(e, "19") || !strings.Contains(e, "20") {
				t.Errorf("%s with vector %d too short: panic %q, want both lengths in it", c.name, short, e)
			}
		}
	}
}

func TestVecDoesNotAllocate(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, c := range vecCases {
			v, _ := unaligned(r, c.vectors, 50, ordinary)
			a := scalars(r, ordinary)
			if n := testing.AllocsPerRun(10, func() { c.kernel(v, a) }); n != 0 {
				t.Errorf("%s: %v allocations, want 0", c.name, n)
			}
		}
	})
}

// A lane without an element holds x = 0, whose x̂ may be infinite even if those of all elements
// are 0.
func TestLayerNormGradSumsOfConstantRow(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for n := range 40 {
			x := make([]float32, n)
			for j := range x {
				x[j] = 1e10
			}
			if g, gx := LayerNormGradSums(x, x, 1e10, 1e38, x); math.Abs(float64(g)-float64(n)*1e20) > 1e15 || gx != 0 {
				t.Fatalf("n=%d: sums %g and %g, want %g and 0", n, g, gx, float64(n)*1e20)
			}
		}
	})
}

// All magnitudes, with both signs, because the tails have special rules.
func TestActivationsEqualOracle(t *testing.T) {
	var x []float32
	for b := uint32(0); b <= 0x7fc00000; b += 0x7fc00000 / 20011 {
		x = append(x, math.Float32frombits(b), -math.Float32frombits(b))
	}
	for _, limit := range []float32{siluLimit: actConst[siluLimit], geluLimit: actConst[geluLimit], tanhLimit: actConst[tanhLimit]} {
		for ulp := range int32(60) {
			v := math.Float32frombits(math.Float32bits(limit) + uint32(ulp-30))
			x = append(x, v, -v)
		}
	}
	forEachKernel(t, func(t *testing.T) {
		if kernel == generic {
			t.Skip("portable kernels: exact to a tolerance only")
		}
		y, dx := make([]float32, len(x)), make([]float32, len(x))
		for f := ReLU; f < activations; f++ {
			for j := range dx {
				dx[j] = 1.5
			}
			f.Apply(y, x)
			f.Grad(dx, x)
			for j, x := range x {
				value, slope := activationOracle(f, x)
				if f == ReLU && x != x {
					slope = 0
				}
				if !sameNumber(y[j], value) || !sameNumber(dx[j], 1.5*slope) {
					t.Fatalf("activation %d of %g: %x and %x, want %x and %x", f, x, y[j], dx[j], value, 1.5*slope)
				}
			}
		}
	})
}

func TestActivationsAtLimits(t *testing.T) {
	inf, nan, negZero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	forEachKernel(t, func(t *testing.T) {
		for f := GELU; f < activations; f++ {
			for _, c := range []struct{ x, y, slope float32 }{
				{inf, inf, 1}, {math.MaxFloat32, math.MaxFloat32, 1}, {1e10, 1e10, 1}, {0, 0, 0.5}, {negZero, 0, 0.5},
				{-inf, 0, 0}, {-math.MaxFloat32, 0, 0}, {-1e10, 0, 0}, {nan, nan, nan}, {-nan, nan, nan},
			} {
				y, dx := []float32{c.x}, []float32{1}
				f.Grad(dx, y)
				if f.Apply(y, y); !sameNumber(y[0], c.y) || !sameNumber(dx[0], c.slope) {
					t.Errorf("activation %d of %g = %g, derivative %g, want %g and %g", f, c.x, y[0], dx[0], c.y, c.slope)
				}
			}
		}
		x := []float32{1, -2, nan}
		Identity.Apply(x[:2], x[:2])
		Identity.Grad(x[:2], x[:2])
		if x[0] != 1 || x[1] != -2 {
			t.Errorf("Identity changed [1 -2] to %v", x[:2])
		}
	})
}
