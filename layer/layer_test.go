package layer_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

const (
	n, d, ff, vocab = 7, 12, 20, 9
	eps             = 1e-5
)

// random returns a matrix of normally distributed values.
func random(r *rand.Rand, rows, cols int) mat.Matrix {
	m := mat.New(rows, cols)
	layer.Normal(m.Data, 1, r)
	return m
}

func clone(m mat.Matrix) mat.Matrix { return mat.Of(slices.Clone(m.Data), m.Rows, m.Cols) }

// setUp allocates the parameters that declare declares and fills them with random weights.
func setUp(declare func(*layer.Params)) (*layer.Params, *rand.Rand) {
	ps, r := new(layer.Params), rand.New(rand.NewPCG(1, 2))
	declare(ps)
	ps.AllocForTraining()
	layer.Normal(ps.W, 0.5, r)
	return ps, r
}

// weighted returns Σ dy·y, a loss whose gradient with respect to y is dy.
func weighted(dy mat.Matrix, y ref.Matrix) (sum float64) {
	for i := range y {
		for j := range y[i] {
			sum += float64(dy.At(i, j)) * y[i][j]
		}
	}
	return sum
}

// flat copies m to a matrix whose rows are views into one slice, so that ref.CheckGradient can
// change them.
func flat(m mat.Matrix) ([]float64, ref.Matrix) {
	data := make([]float64, m.Rows*m.Cols)
	rows := make(ref.Matrix, m.Rows)
	for i := range rows {
		rows[i] = data[i*m.Cols:][:m.Cols]
		for j := range rows[i] {
			rows[i][j] = float64(m.At(i, j))
		}
	}
	return data, rows
}

func checkParams(t *testing.T, ps *layer.Params, w ref.Weights, f func() float64) {
	t.Helper()
	for _, p := range ps.List {
		ref.CheckGradient(t, p.Name, p.G, w[p.Name], 0, f)
	}
}

func TestLinear(t *testing.T) {
	testLinear(t, layer.NewLinear)
	testLinear(t, layer.NewLinearNoBias)
}

func testLinear(t *testing.T, declare func(*layer.Params, string, int, int) layer.Linear) {
	var l layer.Linear
	ps, r := setUp(func(ps *layer.Params) { l = declare(ps, "l", d, ff) })
	x, dy, y, dx := random(r, n, d), random(r, n, ff), mat.New(n, ff), random(r, n, d)
	before := ref.FromFloat32(dx)
	w := ref.WeightsOf(ps)
	xs, rows := flat(x)
	f := func() float64 { return weighted(dy, w.Linear("l", rows)) }

	l.Forward(nil, y, x)
	ref.CheckClose(t, "y", y, w.Linear("l", rows), 1e-6)
	l.Backward(nil, dx, dy, x, layer.Add)
	for i := range before {
		for j := range before[i] {
			dx.Row(i)[j] -= float32(before[i][j]) // Backward must add to the old values
		}
	}
	ref.CheckGradient(t, "dx", dx.Data, xs, 0, f)
	checkParams(t, ps, w, f)

	l.Backward(nil, dx, dy, x, layer.Set)
	ref.CheckGradient(t, "dx, set", dx.Data, xs, 0, f)
	for i := range ps.G {
		ps.G[i] /= 2 // two Backwards have accumulated
	}
	checkParams(t, ps, w, f)
}

func TestFeedForward(t *testing.T) {
	for _, activation := range mat.Activations() {
		name := activation.String()
		for _, drop := range []mat.Dropout{{}, {Rate: 0.3, Key: 3}} {
			for _, declare := range []func(*layer.Params, string, int, int) layer.Linear{layer.NewLinear, layer.NewLinearNoBias} {
				var l layer.FeedForward
				ps, r := setUp(func(ps *layer.Params) {
					l = layer.FeedForward{Inner: declare(ps, "l.inner", d, ff), Outer: declare(ps, "l.outer", ff, d), Activation: activation}
				})
				x, dy := random(r, n, d), random(r, n, d)
				var act, alone layer.FeedForwardAct
				var dhidden mat.Matrix
				arena(func(a *layer.Arena) {
					act, alone, dhidden = l.Alloc(a, n, true), l.Alloc(a, n, false), a.Matrix(n, ff)
				})
				w := ref.WeightsOf(ps)
				xs, rows := flat(x)
				want := func() ref.Matrix {
					return w.FeedForward("l", name, rows, func(hidden ref.Matrix) { copy(hidden, dropped(drop, hidden)) })
				}
				f := func() float64 { return weighted(dy, want()) }

				first := l.Forward(nil, &alone, x, drop)
				ref.CheckClose(t, name+", forward alone", first, want(), 1e-6)
				if y := l.Forward(nil, &act, x, drop); !slices.Equal(first.Data, y.Data) {
					t.Errorf("%s: Forward depends on whether memory for Backward is allocated", name)
				}
				dx := clone(dy)
				l.Backward(nil, dx, dx, &act, dhidden, layer.Set) // dx may be dy
				ref.CheckGradient(t, name+" dx", dx.Data, xs, 0, f)
				checkParams(t, ps, w, f)
			}
		}
	}
}

func TestSSRU(t *testing.T) {
	for _, mode := range []layer.Mode{layer.Set, layer.Add} {
		var l layer.SSRU
		ps, r := setUp(func(ps *layer.Params) { l = layer.NewSSRU(ps, "l", d) })
		x, dy := random(r, n, d), random(r, n, d)
		starts := []int32{0, 1, 1, n - 2, n} // an empty sentence among them
		var act layer.SSRUAct
		var dmaps mat.Matrix
		arena(func(a *layer.Arena) { act, dmaps = l.Alloc(a, n), l.AllocGrad(a, n) })
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		want := func() (y ref.Matrix) {
			for s, end := range starts[1:] {
				if starts[s] < end {
					y = append(y, w.SSRU("l", rows[starts[s]:end])...)
				}
			}
			return y
		}
		ref.CheckClose(t, "forward", l.Forward(nil, &act, x, starts), want(), 1e-6)

		f := func() float64 { return weighted(dy, want()) }
		if mode == layer.Set { // dx may be dy
			dx := clone(dy)
			l.Backward(nil, dx, dx, &act, dmaps, mode)
			ref.CheckGradient(t, "dx", dx.Data, xs, 0, f)
		} else {
			dx := mat.New(n, d)
			l.Backward(nil, dx, clone(dy), &act, dmaps, mode)
			ref.CheckGradient(t, "dx, added", dx.Data, xs, 0, f)
		}
		checkParams(t, ps, w, f)
	}
}

// arena calls alloc with a new arena.
func arena(alloc func(*layer.Arena)) {
	var a layer.Arena
	a.Alloc(func() { alloc(&a) })
}

// dropped returns mask·x in float64, with the mask that drop makes of ones.
func dropped(drop mat.Dropout, x ref.Matrix) ref.Matrix {
	y := ref.New(len(x), len(x[0]))
	for i, row := range x {
		mask, ones := make([]float32, len(row)), make([]float32, len(row))
		layer.Fill(ones, 1)
		drop.Apply(mask, ones, nil, i*len(row))
		for j := range row {
			y[i][j] = row[j] * float64(mask[j])
		}
	}
	return y
}

var normKinds = map[layer.NormKind]string{layer.LayerNorm: "layer", layer.UnbiasedNorm: "unbiased", layer.RMSNorm: "rms"}

func TestNorm(t *testing.T) {
	for kind, name := range normKinds {
		for _, mode := range []layer.Mode{layer.Set, layer.Add} {
			var l layer.Norm
			const eps = 1e-2 // large enough to matter
			ps, r := setUp(func(ps *layer.Params) { l = layer.NewNorm(ps, "l", d, eps, kind) })
			x, dy, dx := random(r, n, d), random(r, n, d), random(r, n, d)
			for j := range d {
				x.Row(0)[j] += 3 // a mean far from 0
			}
			before, dyBefore := ref.FromFloat32(dx), clone(dy)
			w := ref.WeightsOf(ps)
			xs, rows := flat(x)
			y := func() ref.Matrix { return w.Norm("l", name, rows, float64(l.Eps)) }
			var act layer.NormAct
			arena(func(a *layer.Arena) { act = l.Alloc(a, n) })
			layer.Fill(act.Y.Data, float32(math.NaN()))
			ref.CheckClose(t, name, l.Forward(nil, &act, x), y(), 2e-6)
			l.Backward(nil, dx, dy, &act, mode)
			if mode == layer.Add {
				for i := range before {
					for j := range before[i] {
						dx.Row(i)[j] -= float32(before[i][j])
					}
				}
			}
			f := func() float64 { return weighted(dyBefore, y()) }
			ref.CheckGradient(t, name+" dx", dx.Data, xs, 0, f)
			checkParams(t, ps, w, f)
		}
	}
}

// Rows of equal elements, whose deviation is 0, have finite norms and gradients.
func TestNormsOfEqualElements(t *testing.T) {
	for kind := range normKinds {
		var l layer.Norm
		_, r := setUp(func(ps *layer.Params) { l = layer.NewNorm(ps, "l", d, eps, kind) })
		x, dx := mat.New(n, d), random(r, n, d)
		layer.Fill(x.Data, 2)
		var act layer.NormAct
		arena(func(a *layer.Arena) { act = l.Alloc(a, n) })
		y := l.Forward(nil, &act, x)
		l.Backward(nil, dx, dx, &act, layer.Set)
		for _, v := range append(dx.Data, y.Data...) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("%s: found %v, expected finite values", normKinds[kind], v)
			}
		}
	}
}

// Every norm and placement of the norm, with a linear map as sublayer.
func TestResidual(t *testing.T) {
	for kind, name := range normKinds {
		for _, v := range []struct {
			pre   bool
			alpha float32
			rate  float32
		}{{pre: true, alpha: 1, rate: 0.3}, {alpha: 1, rate: 0.3}, {alpha: 1}, {alpha: 1.7, rate: 0.3}, {alpha: 1.7}} {
			drop := mat.Dropout{Rate: v.rate, Key: 8}
			l := layer.Residual{Alpha: v.alpha}
			var norm layer.Norm
			var f layer.Linear
			ps, r := setUp(func(ps *layer.Params) {
				norm, f = layer.NewNorm(ps, "l", d, eps, kind), layer.NewLinear(ps, "f", d, d)
			})
			x, dy, h, dh := random(r, n, d), random(r, n, d), mat.New(n, d), mat.New(n, d)
			w := ref.WeightsOf(ps)
			xs, rows := flat(x)
			y := func() ref.Matrix {
				if v.pre {
					return ref.Sum(1, rows, dropped(drop, w.Linear("f", w.Norm("l", name, rows, eps))))
				}
				return w.Norm("l", name, ref.Sum(float64(v.alpha), rows, dropped(drop, w.Linear("f", rows))), eps)
			}
			var act layer.NormAct
			var residual layer.ResidualAct
			arena(func(a *layer.Arena) { act = norm.Alloc(a, n) })
			dx := clone(dy)
			if v.pre {
				f.Forward(nil, h, norm.Forward(nil, &act, x))
				ref.CheckClose(t, name, l.Forward(nil, &residual, x, h, drop), y(), 2e-6)
				l.Backward(nil, dh, dx, &residual)
				f.Backward(nil, dh, clone(dh), act.Y, layer.Set)
				norm.Backward(nil, dx, dh, &act, layer.Add)
			} else {
				f.Forward(nil, h, x)
				ref.CheckClose(t, name, norm.Forward(nil, &act, l.Forward(nil, &residual, x, h, drop)), y(), 2e-6)
				norm.Backward(nil, dx, dx, &act, layer.Set)
				l.Backward(nil, dh, dx, &residual)
				f.Backward(nil, dx, dh, x, layer.Add)
			}
			loss := func() float64 { return weighted(dy, y()) }
			ref.CheckGradient(t, name+" dx", dx.Data, xs, 0, loss)
			checkParams(t, ps, w, loss)
		}
	}
}

func TestEmbedding(t *testing.T) {
	for _, drop := range []mat.Dropout{{}, {Rate: 0.3, Key: 5}} {
		for _, unscaled := range []bool{false, true} {
			for _, learned := range []bool{false, true} {
				var l layer.Embedding
				ps, r := setUp(func(ps *layer.Params) {
					l = layer.Embedding{E: ps.New("e", vocab, d), Positions: layer.Sinusoids(8, d), Unscaled: unscaled}
					if learned {
						l.Learned = ps.New("p", 4, d) // positions of the longest sentence
					}
				})
				variant := ref.Variant{Unscaled: unscaled}
				if learned {
					l.Positions, variant.Positions = l.Learned.Weights(), "p"
				}
				ids, starts := []int32{3, 3, 8, 0, 3, 7, 2}, []int32{0, 2, 3, 7}
				x, dx := mat.New(n, d), random(r, n, d)
				dy := clone(dx) // Backward overwrites dx
				w := ref.WeightsOf(ps)
				y := func() ref.Matrix {
					var rows ref.Matrix
					for s := range len(starts) - 1 {
						rows = append(rows, variant.Embed(w, "e", d, ids[starts[s]:starts[s+1]])...)
					}
					return dropped(drop, rows)
				}
				l.Forward(nil, x, ids, starts, drop)
				ref.CheckClose(t, "x", x, y(), 1e-6)
				l.Backward(nil, dx, ids, starts, drop)
				checkParams(t, ps, w, func() float64 { return weighted(dy, y()) })
			}
		}
	}
}

func TestOutput(t *testing.T) {
	const many = 600 // rows, in two chunks
	for _, v := range []struct {
		smoothing float32
		all, bias bool
	}{{}, {smoothing: 0.1}, {smoothing: 0.1, all: true}, {smoothing: 0.2, all: true, bias: true}, {bias: true}} {
		var l layer.Output
		ps, r := setUp(func(ps *layer.Params) {
			l = layer.Output{E: ps.New("e", vocab, d), Smoothing: v.smoothing, SmoothAll: v.all}
			if v.bias {
				l.Bias = ps.New("b", vocab)
			}
		})
		x, dx, targets := random(r, many, d), mat.New(many, d), make([]int32, many)
		for i := range targets {
			targets[i] = int32(r.IntN(vocab))
		}
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		f := func() float64 {
			sum, _ := ref.CrossEntropy(w["e"], w["b"], rows, targets, float64(v.smoothing), v.all)
			return sum * 0.25
		}
		var workspace layer.LossWorkspace
		all := layer.Targets{IDs: targets, Scale: 0.25}
		arena(func(a *layer.Arena) { workspace, all.Losses = l.Alloc(a, many), layer.AllocLosses(a, many) })
		l.ForwardBackward(nil, dx, x, all, workspace)
		got := all.Losses.Total()
		l.Forward(nil, x, all, workspace)
		if alone := all.Losses.Total(); alone != got {
			t.Errorf("Forward: loss %+v, want %+v as in ForwardBackward", alone, got)
		}
		sum, nll := ref.CrossEntropy(w["e"], w["b"], rows, targets, float64(v.smoothing), v.all)
		if want := correct(w["e"], w["b"], rows, targets); got.Correct != want {
			t.Errorf("Correct = %d, want %d", got.Correct, want)
		}
		if math.Abs(got.Sum-sum) > 1e-6*sum || math.Abs(got.NLL-nll) > 1e-6*nll || got.Tokens != many {
			t.Errorf("loss = %+v, want a Sum of %v and an NLL of %v", got, sum, nll)
		}
		ref.CheckGradient(t, "dx", dx.Data, xs, 0, f)
		checkParams(t, ps, w, f)
	}
}

// A logit of -Inf, a piece that the model excludes, as in PyTorch's cross_entropy: the loss is
// infinite if its piece is the target or label smoothing expects it, otherwise finite. Gradients
// are finite.
func TestOutputWithInfiniteLogit(t *testing.T) {
	for _, v := range []struct {
		smoothing float32
		all       bool
		target    int32
		infinite  bool
	}{
		{target: 1}, {target: 4, infinite: true},
		{smoothing: 0.1, target: 1, infinite: true}, {smoothing: 0.1, target: 4, infinite: true},
		{smoothing: 0.1, all: true, target: 1, infinite: true}, {smoothing: 0.1, all: true, target: 4, infinite: true},
	} {
		var l layer.Output
		ps, r := setUp(func(ps *layer.Params) {
			l = layer.Output{E: ps.New("e", vocab, d), Bias: ps.New("b", vocab), Smoothing: v.smoothing, SmoothAll: v.all}
		})
		l.Bias.W[4] = float32(math.Inf(-1))
		x, dx := random(r, 1, d), mat.New(1, d)
		var workspace layer.LossWorkspace
		targets := layer.Targets{IDs: []int32{v.target}, Scale: 1}
		arena(func(a *layer.Arena) { workspace, targets.Losses = l.Alloc(a, 1), layer.AllocLosses(a, 1) })
		l.ForwardBackward(nil, dx, x, targets, workspace)
		loss := targets.Losses.Total()
		if math.IsNaN(loss.Sum) || math.IsInf(loss.Sum, 1) != v.infinite || math.IsInf(loss.NLL, 1) != (v.target == 4) {
			t.Errorf("%+v: loss = %+v", v, loss)
		}
		for _, g := range append(dx.Data, ps.G...) {
			if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
				t.Fatalf("%+v: gradient = %v, want finite values", v, g)
			}
		}
	}
}

// correct counts the rows of x whose logits x·Eᵀ + b are largest at the target.
func correct(e, b []float64, x ref.Matrix, targets []int32) (n int) {
	for i, row := range x {
		top, at := math.Inf(-1), 0
		for v := range vocab {
			var logit float64
			if b != nil {
				logit = b[v]
			}
			for j := range row {
				logit += row[j] * e[v*d+j]
			}
			if logit > top {
				top, at = logit, v
			}
		}
		if at == int(targets[i]) {
			n++
		}
	}
	return n
}

// A Scale of 0 sets gradients of 0, unlike a Forward alone, which sets none.
func TestOutputScaledByZero(t *testing.T) {
	var l layer.Output
	ps, r := setUp(func(ps *layer.Params) { l = layer.Output{E: ps.New("e", vocab, d), Smoothing: 0.1} })
	x, dx := random(r, n, d), random(r, n, d)
	var workspace layer.LossWorkspace
	targets := layer.Targets{IDs: make([]int32, n)}
	arena(func(a *layer.Arena) { workspace, targets.Losses = l.Alloc(a, n), layer.AllocLosses(a, n) })
	l.ForwardBackward(nil, dx, x, targets, workspace)
	for _, g := range append(dx.Data, ps.G...) {
		if g != 0 {
			t.Fatalf("gradient = %v, want 0", g)
		}
	}
}

// The oracle computes the formulas with package math.
func TestPositions(t *testing.T) {
	for name, table := range map[string]func(positions, d int) mat.Matrix{
		"interleaved": layer.Sinusoids, "halves": layer.SinusoidHalves, "tensor2tensor": layer.TimingSignal,
	} {
		pe := table(1024, 512)
		for pos := range 1024 {
			for j := range 512 {
				want := ref.Position(name, pos, j, 512)
				// 6e-8 is half a unit in the last place of values below 1.
				if got := pe.At(pos, j); math.Abs(float64(got)-want) > 6e-8 {
					t.Fatalf("%s: PE(%d, %d) = %v, want %v", name, pos, j, got, want)
				}
			}
		}
	}
	if pe := layer.TimingSignal(3, 2); float64(pe.At(2, 0)) != float64(float32(math.Sin(2))) {
		t.Errorf("d = 2: PE(2, 0) = %v, want sin(2)", pe.At(2, 0)) // one wave, of frequency 1
	}
	odd, even := layer.Sinusoids(9, 5), layer.Sinusoids(9, 6)
	if odd.At(7, 0) != even.At(7, 0) || math.Abs(float64(odd.At(7, 4))-math.Sin(7*math.Pow(10000, -0.8))) > 6e-8 {
		t.Error("odd d: the last column is no sine")
	}
}
