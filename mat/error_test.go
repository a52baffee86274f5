package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Tests of the error bounds in the documentation, against float64.

// roundoff is the relative error bound of one rounding.
const roundoff = 0x1p-24

// elementErrors lists the functions of one number. The relative error holds for results of at least
// `smallest` in magnitude; for smaller ones the absolute error is at most `below`.
var elementErrors = []struct {
	name               string
	f                  func(y, x []float32)
	want               func(x float64) float64
	relative, portable float64 // of kernels, of portable Go
	smallest, below    float64
	root, absolute     float64 // within 0.4 of a root the absolute error applies instead
}{
	{name: "ExpSum", relative: 1e-7, portable: 4e-7, smallest: 0x1.6a0ap-126, below: 0x1.6a0ap-126,
		f: func(y, x []float32) { ExpSum(y, x, 0) }, want: math.Exp},
	{name: "gelu", relative: 5e-7, portable: 6e-7, smallest: 0x1p-126, below: 3 * 0x1p-149,
		f: GELU.Apply, want: func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }},
	{name: "gelu-tanh", relative: 2.5e-7, portable: 3e-7, smallest: 0x1p-126, below: 3 * 0x1p-149,
		f: GELUTanh.Apply, want: func(x float64) float64 { return x * logistic(tanhExponent(x)) }},
	{name: "silu", relative: 2.5e-7, portable: 3e-7, smallest: 0x1p-126, below: 3 * 0x1p-149,
		f: SiLU.Apply, want: func(x float64) float64 { return x * logistic(x) }},
	{name: "gelu'", relative: 7e-7, portable: 7e-7, smallest: 0x1p-126, below: 3 * 0x1p-149, root: -0.7518, absolute: 1.5e-7,
		f: slope(GELU), want: func(x float64) float64 {
			return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
		}},
	{name: "gelu-tanh'", relative: 7e-7, portable: 7e-7, smallest: 0x1p-126, below: 3 * 0x1p-149, root: -0.7525, absolute: 1.5e-7,
		f: slope(GELUTanh), want: func(x float64) float64 {
			v, dv := tanhExponent(x), math.Sqrt(8/math.Pi)*(1+3*0.044715*x*x)
			return logistic(v) * (1 + x*dv*logistic(-v))
		}},
	{name: "silu'", relative: 7e-7, portable: 7e-7, smallest: 0x1p-126, below: 3 * 0x1p-149, root: -1.2785, absolute: 1.5e-7,
		f: slope(SiLU), want: func(x float64) float64 { return logistic(x) * (1 + x*logistic(-x)) }},
}

func logistic(x float64) float64     { return 1 / (1 + math.Exp(-x)) }
func tanhExponent(x float64) float64 { return math.Sqrt(8/math.Pi) * (x + 0.044715*x*x*x) }

// slope returns f' as a function of slices.
func slope(f Activation) func(y, x []float32) {
	return func(y, x []float32) {
		for j := range y {
			y[j] = 1
		}
		f.Grad(y, x)
	}
}

func TestElementErrors(t *testing.T) {
	names := map[string]bool{"relu": true, "relu'": true} // which are exact
	for _, c := range elementErrors {
		names[c.name] = true
	}
	for _, f := range Activations() {
		if !names[f.String()] || !names[f.String()+"'"] {
			t.Errorf("%v or its derivative is not in elementErrors", f)
		}
	}
	// all magnitudes, and every number near the ends of exp's range
	x := []float32{0}
	for b := uint32(0x21800000); b < 0x7f800000; b += 5003 {
		if b > 0x42ad0000 && b < 0x42b20000 {
			b -= 4992
		}
		x = append(x, math.Float32frombits(b), -math.Float32frombits(b))
	}
	forEachKernel(t, func(t *testing.T) {
		y := make([]float32, len(x))
		for _, c := range elementErrors {
			limit := c.relative
			if kernel == generic {
				limit = c.portable
			}
			var relative, absolute float64
			c.f(y, x)
			for j, x := range x {
				want, got := c.want(float64(x)), float64(y[j])
				e := math.Abs(got - want)
				nearRoot := c.root != 0 && math.Abs(float64(x)-c.root) < 0.4
				switch size := math.Abs(want); {
				case size > math.MaxFloat32*(1+roundoff/2):
					if got != math.Copysign(math.Inf(1), want) {
						t.Fatalf("%s(%g) = %g, want an infinity", c.name, x, got)
					}
				case nearRoot:
				case size < c.smallest:
					if e > c.below {
						t.Fatalf("%s(%g) = %g, want %g", c.name, x, got, want)
					}
				case e > limit*size:
					t.Fatalf("%s(%g) = %g, want %g: relative error %.2g", c.name, x, got, want, e/size)
				default:
					relative = max(relative, e/size)
				}
				if c.root != 0 {
					if absolute = max(absolute, e); e > c.absolute {
						t.Fatalf("%s(%g) = %g, want %g: absolute error %.2g", c.name, x, got, want, e)
					}
				}
			}
			t.Logf("%s: relative error %.2g, absolute error %.2g", c.name, relative, absolute)
		}
	})
}

// rowErrors lists the functions of a row: each check takes one row x.
var rowErrors = []struct {
	name  string
	check func(t *testing.T, r *rand.Rand, x []float32)
}{
	{"sums", sumErrors}, {"Softmax", softmaxError}, {"LayerNorm", layerNormError}, {"mean and LayerNorm", meanAndLayerNormError},
}

func TestRowErrors(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, c := range rowErrors {
			r := rand.New(rand.NewPCG(5, 6))
			for _, n := range []int{1, 2, 7, 14, 16, 33, 50, 64, 100, 512, 4096, run + 1, 2*run + 5, 100_000} {
				offset := r.NormFloat64() * 3
				v, _ := unaligned(r, 1, n, func(r *rand.Rand) float32 { return float32(r.NormFloat64() + offset) })
				t.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(t *testing.T) { c.check(t, r, v[0]) })
			}
		}
	})
}

// roundings returns the number of roundings of an element in a sum of n: those of its lane, of the
// tree and of the runs.
func roundings(n int) float64 { return float64(min(n, run)/16 + 5 + n/run) }

// The error of a sum is at most roundoff·Σ|term| for each rounding; terms may have additional
// roundings.
func sumErrors(t *testing.T, r *rand.Rand, x []float32) {
	n := len(x)
	v, _ := unaligned(r, 2, n, normal)
	y, z := v[0], v[1]
	const mean, rstd = 0.25, 1.75
	check := func(op string, got float32, ofTerm float64, term func(j int) float64) {
		t.Helper()
		var want, size float64
		for j := range n {
			want += term(j)
			size += math.Abs(term(j))
		}
		if e, limit := math.Abs(float64(got)-want), (roundings(n)+ofTerm)*roundoff*size; e > limit {
			t.Errorf("%s = %g, want %g ± %g", op, got, want, limit)
		}
	}
	check("Sum", Sum(x), 0, func(j int) float64 { return float64(x[j]) })
	check("Dot", Dot(x, y), 1, func(j int) float64 { return float64(x[j]) * float64(y[j]) })
	check("SumSquaredDiff", SumSquaredDiff(x, mean), 3, func(j int) float64 { return (float64(x[j]) - mean) * (float64(x[j]) - mean) })
	g, gx := LayerNormGradSums(x, y, mean, rstd, z)
	check("LayerNormGradSums, g", g, 1, func(j int) float64 { return float64(x[j]) * float64(z[j]) })
	check("LayerNormGradSums, gx", gx, 4, func(j int) float64 {
		return float64(x[j]) * float64(z[j]) * (float64(y[j]) - mean) * rstd
	})
	e := make([]float32, n)
	check("ExpSum", ExpSum(e, x, 1), 0, func(j int) float64 { return float64(e[j]) })
}

// An exponent t has an error of two roundings, its exp of 2 more (7 in portable Go); the sum has
// its own and those of its terms, and two products follow.
func softmaxError(t *testing.T, r *rand.Rand, x []float32) {
	const scale = 1.5
	y := make([]float32, len(x))
	Softmax(y, x, scale)
	m, sum, ofTerms := float64(Max(x)), 0.0, 0.0
	for _, v := range x {
		t := (m - float64(v)) * scale
		sum += math.Exp(-t)
		ofTerms += 2 * t * math.Exp(-t)
	}
	ofExp := 2.0
	if kernel == generic {
		ofExp = 7
	}
	for j, v := range x {
		t1 := (m - float64(v)) * scale
		want := math.Exp(-t1) / sum
		limit := (2*t1 + ofTerms/sum + 2*ofExp + roundings(len(x)) + 3) * roundoff * want
		if e := math.Abs(float64(y[j]) - want); e > limit {
			t.Fatalf("softmax of element %d is %g, want %g ± %g", j, y[j], want, limit)
		}
	}
}

// LayerNorm rounds three times, last the result; portable Go also rounds the product.
func layerNormError(t *testing.T, r *rand.Rand, x []float32) {
	n := len(x)
	v, _ := unaligned(r, 3, n, normal)
	y, gain, bias := v[0], v[1], v[2]
	const mean, rstd = 0.3, 1.7
	ofProduct := 2.0
	if kernel == generic {
		ofProduct = 3
	}
	LayerNorm(y, x, mean, rstd, gain, bias)
	for j := range y {
		product := (float64(x[j]) - float64(float32(mean))) * float64(float32(rstd)) * float64(gain[j])
		want := product + float64(bias[j])
		if e, limit := math.Abs(float64(y[j])-want), 1.001*roundoff*(ofProduct*math.Abs(product)+math.Abs(want)); e > limit {
			t.Fatalf("element %d is %g, want %g ± %g", j, y[j], want, limit)
		}
	}
}

// A layer norm made of vector kernels: the error of the mean is that of its sum, relative to the
// mean magnitude of the elements; that of rstd is half that of the sum of squares.
func meanAndLayerNormError(t *testing.T, r *rand.Rand, x []float32) {
	n, eps := len(x), 1e-5
	v, _ := unaligned(r, 3, n, normal)
	y, gain, bias := v[0], v[1], v[2]
	mean := Sum(x) / float32(n)
	rstd := float32(1 / math.Sqrt(float64(SumSquaredDiff(x, mean))/float64(n)+eps))
	LayerNorm(y, x, mean, rstd, gain, bias)

	var wantMean, variance, size float64
	for _, v := range x {
		wantMean += float64(v) / float64(n)
		size += math.Abs(float64(v)) / float64(n)
	}
	for _, v := range x {
		variance += (float64(v) - wantMean) * (float64(v) - wantMean) / float64(n)
	}
	wantRStd := 1 / math.Sqrt(variance+eps)
	shift := (roundings(n) + 2) * roundoff * size // of the mean
	ofRStd := (roundings(n)+8)*roundoff/2 + shift*shift*wantRStd*wantRStd
	for j := range y {
		xhat := (float64(x[j]) - wantMean) * wantRStd
		want := xhat*float64(gain[j]) + float64(bias[j])
		limit := 1.001 * (math.Abs(float64(gain[j]))*(math.Abs(xhat)*(ofRStd+4*roundoff)+shift*wantRStd) + roundoff*math.Abs(want))
		if e := math.Abs(float64(y[j]) - want); e > limit {
			t.Fatalf("element %d is %g, want %g ± %g", j, y[j], want, limit)
		}
	}
}

// An element of a product has k roundings, and one each for bias and residual. In portable Go a
// term also has that of its product.
func TestGemmError(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, q := range []problem{
			{m: 1, n: 100, k: 512}, {m: 7, n: 33, k: 1}, {m: 30, n: 40, k: 64}, {m: 20, n: 70, k: 600}, {m: 3, n: 5, k: 5000},
		} {
			for form := range 8 {
				a, b := operand(r, q.m, q.k, form&1 != 0, normal), operand(r, q.k, q.n, form&2 != 0, normal)
				c, residual := operand(r, q.m, q.n, false, normal), operand(r, q.m, q.n, false, normal)
				bias := operand(r, 1, q.n, false, normal).Data
				want, size := make([]float64, q.m*q.n), make([]float64, q.m*q.n)
				for i := range q.m {
					for j := range q.n {
						at := i*q.n + j
						term := func(x float64) { want[at], size[at] = want[at]+x, size[at]+math.Abs(x) }
						for k := range q.k {
							term(float64(a.At(i, k)) * float64(b.At(k, j)))
						}
						term(float64(bias[j]))
						term(float64(residual.At(i, j)))
						if form&4 != 0 {
							term(float64(c.At(i, j)))
						}
					}
				}
				roundings := q.k + 2
				if kernel == generic {
					roundings++
				}
				Gemm(pools[2], c, a, b, GemmOptions{Accumulate: form&4 != 0, Bias: bias, Residual: residual})
				for at, want := range want {
					got, limit := c.At(at/q.n, at%q.n), float64(roundings)*roundoff*size[at]
					if e := math.Abs(float64(got) - want); e > limit {
						t.Fatalf("%v, form %d: C[%d, %d] = %g, want %g ± %g", q, form, at/q.n, at%q.n, got, want, limit)
					}
				}
			}
		}
	})
}
