package layer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

const (
	n, d, ff, vocab = 7, 12, 20, 9
	eps             = 1e-5
)

// random returns a matrix of normal numbers, whose gradients and results are then checked.
func random(r *rand.Rand, rows, cols int) mat.Matrix {
	m := mat.New(rows, cols)
	layer.Normal(m.Data, 1, r)
	return m
}

// setUp allocates what declare has declared and fills it with random weights.
func setUp(declare func(*layer.Params)) (*layer.Params, *rand.Rand) {
	ps, r := new(layer.Params), rand.New(rand.NewPCG(1, 2))
	declare(ps)
	ps.Allocate(true)
	layer.Normal(ps.W, 0.5, r)
	return ps, r
}

// weighted is Σ dy·y, the function whose derivative with respect to y is dy.
func weighted(dy mat.Matrix, y ref.Matrix) (sum float64) {
	for i := range y {
		for j := range y[i] {
			sum += float64(dy.At(i, j)) * y[i][j]
		}
	}
	return sum
}

// flat gives a matrix whose rows are views into one slice, for Gradient to change.
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
		ref.Gradient(t, p.Name, p.G, w[p.Name], 0, f)
	}
}

func TestLinear(t *testing.T) {
	var l layer.Linear
	ps, r := setUp(func(ps *layer.Params) { l = layer.NewLinear(ps, "l", d, ff) })
	x, dy, y, dx := random(r, n, d), random(r, n, ff), mat.New(n, ff), random(r, n, d)
	before := ref.Of(dx)
	w := ref.WeightsOf(ps)
	xs, rows := flat(x)
	f := func() float64 { return weighted(dy, w.Linear("l", rows)) }

	l.Forward(nil, y, x)
	ref.Close(t, "y", y, w.Linear("l", rows), 1e-6)
	l.Backward(nil, dx, dy, x, layer.Add)
	for i := range before {
		for j := range before[i] {
			dx.Row(i)[j] -= float32(before[i][j]) // what was there must have been added to
		}
	}
	ref.Gradient(t, "dx", dx.Data, xs, 0, f)
	checkParams(t, ps, w, f)

	l.Backward(nil, dx, dy, x, layer.Set)
	ref.Gradient(t, "dx, set", dx.Data, xs, 0, f)
	for i := range ps.G {
		ps.G[i] /= 2 // parameters' gradients were added up twice
	}
	checkParams(t, ps, w, f)
}

func TestFeedForward(t *testing.T) {
	var l layer.FeedForward
	ps, r := setUp(func(ps *layer.Params) { l = layer.NewFeedForward(ps, "l", d, ff) })
	x, dy, y, dx := random(r, n, d), random(r, n, d), mat.New(n, d), mat.New(n, d)
	st, dhidden := layer.FeedForwardState{Hidden: mat.New(n, ff)}, mat.New(n, ff)
	w := ref.WeightsOf(ps)
	xs, rows := flat(x)
	f := func() float64 { return weighted(dy, w.FeedForward("l", "relu", rows, nil)) }

	l.Forward(nil, y, st, x, mat.Dropout{})
	ref.Close(t, "y", y, w.FeedForward("l", "relu", rows, nil), 1e-6)
	l.Backward(nil, dx, dhidden, dy, st, x, mat.Dropout{}, layer.Set)
	ref.Gradient(t, "dx", dx.Data, xs, 0, f)
	checkParams(t, ps, w, f)
}

// dropped applies drop as the reference would: by the mask that it gives for ones.
func dropped(drop mat.Dropout, x ref.Matrix) ref.Matrix {
	y := ref.New(len(x), len(x[0]))
	for i, row := range x {
		mask, ones := make([]float32, len(row)), make([]float32, len(row))
		layer.Fill(ones, 1)
		drop.Add(mask, ones, nil, i*len(row))
		for j := range row {
			y[i][j] = row[j] * float64(mask[j])
		}
	}
	return y
}

func TestAddNorm(t *testing.T) {
	for _, drop := range []mat.Dropout{{}, {Rate: 0.4, Key: 77}} {
		var l layer.AddNorm
		ps, r := setUp(func(ps *layer.Params) { l = layer.NewAddNorm(ps, "l", d, eps) })
		x, sub, dy, dx, dsub := random(r, n, d), random(r, n, d), random(r, n, d), mat.New(n, d), mat.New(n, d)
		w := ref.WeightsOf(ps)
		xs, xRows := flat(x)
		subs, subRows := flat(sub)
		y := func() ref.Matrix { return w.AddNorm("l", xRows, dropped(drop, subRows), eps) }
		f := func() float64 { return weighted(dy, y()) }

		var a layer.Arena
		a.Measure()
		layer.NewNormed(&a, n, d)
		a.Reserve()
		out := layer.NewNormed(&a, n, d)
		l.Forward(nil, out, x, sub, drop)
		ref.Close(t, "y", out.Y, y(), 1e-6)
		l.Backward(nil, dx, dsub, dy, out, drop)
		ref.Gradient(t, "dx", dx.Data, xs, 0, f)
		ref.Gradient(t, "dsub", dsub.Data, subs, 0, f)
		checkParams(t, ps, w, f)
	}
}

func TestEmbedding(t *testing.T) {
	for _, drop := range []mat.Dropout{{}, {Rate: 0.3, Key: 5}} {
		var l layer.Embedding
		ps, r := setUp(func(ps *layer.Params) {
			l = layer.Embedding{E: ps.New("e", vocab, d), Positions: layer.Sinusoids(8, d)}
		})
		ids, starts := []int32{3, 3, 8, 0, 3, 7, 2}, []int32{0, 2, 3, 7}
		x, dx := mat.New(n, d), random(r, n, d)
		dy := random(r, n, d)
		copy(dx.Data, dy.Data) // Backward overwrites it
		w := ref.WeightsOf(ps)
		y := func() ref.Matrix {
			var rows ref.Matrix
			for s := range len(starts) - 1 {
				rows = append(rows, ref.Embed(w["e"], d, ids[starts[s]:starts[s+1]])...)
			}
			return dropped(drop, rows)
		}
		l.Forward(nil, x, ids, starts, drop)
		ref.Close(t, "x", x, y(), 1e-6)
		l.Backward(nil, dx, ids, starts, drop)
		checkParams(t, ps, w, func() float64 { return weighted(dy, y()) })

		at := mat.New(2, d)
		l.At(at, []int32{8, 7}, 1)
		ref.Close(t, "At", at, ref.Matrix{ref.Embed(w["e"], d, []int32{0, 8})[1], ref.Embed(w["e"], d, []int32{0, 7})[1]}, 1e-6)
	}
}

func TestProjection(t *testing.T) {
	const many = 600 // rows, so that there are two chunks
	for _, smoothing := range []float32{0, 0.1} {
		var l layer.Projection
		ps, r := setUp(func(ps *layer.Params) { l = layer.Projection{E: ps.New("e", vocab, d), Smoothing: smoothing} })
		x, dx, targets := random(r, many, d), mat.New(many, d), make([]int32, many)
		for i := range targets {
			targets[i] = int32(r.IntN(vocab))
		}
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		f := func() float64 {
			sum, _ := ref.CrossEntropy(w["e"], nil, rows, targets, float64(smoothing), false)
			return sum * 0.25
		}
		var a layer.Arena
		a.Measure()
		l.NewLossRoom(&a, many)
		a.Reserve()
		room := l.NewLossRoom(&a, many)
		got := l.ForwardBackward(nil, dx, x, targets, 0.25, room)
		if alone := l.Forward(nil, x, targets, room); alone != got {
			t.Errorf("Forward gives %+v, ForwardBackward %+v", alone, got)
		}
		sum, nll := ref.CrossEntropy(w["e"], nil, rows, targets, float64(smoothing), false)
		if want := likeliest(w["e"], rows, targets); got.Correct != want {
			t.Errorf("%d targets are the likeliest, want %d", got.Correct, want)
		}
		if math.Abs(got.Sum-sum) > 1e-6*sum || math.Abs(got.NLL-nll) > 1e-6*nll || got.Tokens != many {
			t.Errorf("loss %+v, want %v and %v", got, sum, nll)
		}
		ref.Gradient(t, "dx", dx.Data, xs, 0, f)
		checkParams(t, ps, w, f)
	}
}

// likeliest counts the rows of x whose x·Eᵀ is largest at the target.
func likeliest(e []float64, x ref.Matrix, targets []int32) (n int) {
	for i, row := range x {
		top, at := math.Inf(-1), 0
		for v := range vocab {
			var logit float64
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

// Nothing times the loss has no derivative, which is not the same as one that nobody asks for.
func TestProjectionScaledByNothing(t *testing.T) {
	var l layer.Projection
	ps, r := setUp(func(ps *layer.Params) { l = layer.Projection{E: ps.New("e", vocab, d), Smoothing: 0.1} })
	x, dx := random(r, n, d), random(r, n, d)
	var a layer.Arena
	a.Measure()
	l.NewLossRoom(&a, n)
	a.Reserve()
	l.ForwardBackward(nil, dx, x, make([]int32, n), 0, l.NewLossRoom(&a, n))
	for _, g := range append(dx.Data, ps.G...) {
		if g != 0 {
			t.Fatalf("a derivative of %v", g)
		}
	}
}

// The formula of section 3.5, by package math.
func TestSinusoids(t *testing.T) {
	pe := layer.Sinusoids(1024, 512)
	want := ref.Embed(make([]float64, 512), 512, make([]int32, 1024))
	for pos := range 1024 {
		for j := range 512 {
			if got := pe.At(pos, j); math.Abs(float64(got)-want[pos][j]) > 6e-8 { // half a unit of the last place below 1
				t.Fatalf("PE(%d, %d) = %v, want %v", pos, j, got, want[pos][j])
			}
		}
	}
}

func TestInitHasItsStatistics(t *testing.T) {
	const many = 200000
	w := make([]float32, many)
	moments := func() (mean, deviation float64) {
		for _, v := range w {
			mean += float64(v) / many
		}
		for _, v := range w {
			deviation += math.Pow(float64(v)-mean, 2) / many
		}
		return mean, math.Sqrt(deviation)
	}
	r := rand.New(rand.NewPCG(1, 1))
	layer.Normal(w, 0.125, r)
	// Five standard errors: σ/√n of the mean, σ/√(2n) of the deviation.
	if mean, dev := moments(); math.Abs(mean) > 5*0.125/math.Sqrt(many) || math.Abs(dev-0.125) > 5*0.125/math.Sqrt(2*many) {
		t.Errorf("normal: mean %v, deviation %v", mean, dev)
	}
	layer.XavierUniform(w, 30, 70, r)
	bound := math.Sqrt(6.0 / 100)
	if mean, dev := moments(); math.Abs(mean) > 5*bound/math.Sqrt(3*many) || math.Abs(dev-bound/math.Sqrt(3)) > 5*bound/math.Sqrt(many) {
		t.Errorf("Xavier: mean %v, deviation %v", mean, dev)
	}
	for _, v := range w {
		if math.Abs(float64(v)) > bound {
			t.Fatalf("Xavier: %v is beyond %v", v, bound)
		}
	}
}
