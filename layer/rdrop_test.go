package layer_test

import (
	"math"
	"slices"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// kl returns Σ_i KL(p‖p') + KL(p'‖p), with p and p' the softmax of rows i and n+i of x·Eᵀ +
// b.
func kl(e, b []float64, x ref.Matrix) (sum float64) {
	logP := func(row []float64) []float64 {
		logits, z := make([]float64, len(e)/len(row)), 0.0
		for v := range logits {
			if b != nil {
				logits[v] = b[v]
			}
			for c := range row {
				logits[v] += row[c] * e[v*len(row)+c]
			}
			z += math.Exp(logits[v])
		}
		for v := range logits {
			logits[v] -= math.Log(z)
		}
		return logits
	}
	for i := range len(x) / 2 {
		p, q := logP(x[i]), logP(x[len(x)/2+i])
		for v := range p {
			sum += math.Exp(p[v])*(p[v]-q[v]) + math.Exp(q[v])*(q[v]-p[v])
		}
	}
	return sum
}

func TestRDrop(t *testing.T) {
	for _, v := range []struct {
		many, vocab      int // one or more chunks of tokens; one or two blocks of a row
		smoothing, alpha float32
		all, bias        bool
	}{
		{many: 1, vocab: 9, alpha: 1},
		{many: 7, vocab: 9, alpha: 5, smoothing: 0.1},
		{many: 7, vocab: 9, alpha: 1e-3, smoothing: 0.1},
		{many: 300, vocab: 9, alpha: 0.5, smoothing: 0.1, all: true, bias: true},
		{many: 5, vocab: 1100, alpha: 3, smoothing: 0.2, bias: true},
	} {
		var l layer.Output
		ps, r := setUp(func(ps *layer.Params) {
			l = layer.Output{E: ps.New("e", v.vocab, d), Smoothing: v.smoothing, SmoothAll: v.all}
			if v.bias {
				l.Bias = ps.New("b", v.vocab)
			}
		})
		x, dx, targets := random(r, 2*v.many, d), mat.New(2*v.many, d), make([]int32, 2*v.many)
		for i := range v.many {
			targets[i] = int32(r.IntN(v.vocab))
			targets[v.many+i] = targets[i]
			for j, a := range x.Row(i) { // the copies are similar, as with dropout
				x.Row(v.many + i)[j] = a + 0.3*x.Row(v.many + i)[j]
			}
		}
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		f := func() float64 {
			sum, _ := ref.CrossEntropy(w["e"], w["b"], rows, targets, float64(v.smoothing), v.all)
			return 0.25 * (sum + float64(v.alpha)/2*kl(w["e"], w["b"], rows))
		}
		var workspace layer.LossWorkspace
		all := layer.Targets{IDs: targets, Scale: 0.25}
		arena(func(a *layer.Arena) { workspace, all.Losses = l.AllocRDrop(a, v.many), layer.AllocLosses(a, 2*v.many) })
		l.RDrop(nil, dx, x, all, v.alpha, workspace)
		got := all.Losses.Total()
		// The KL of a token is a difference of two larger sums: ten roundings of a logit's
		// size.
		if want := kl(w["e"], w["b"], rows); math.Abs(got.KL-want) > 1e-6*(want+float64(v.many)) {
			t.Errorf("KL = %v, want %v", got.KL, want)
		}
		got.KL = 0
		l.Forward(nil, x, all, workspace)
		if plain := all.Losses.Total(); got != plain {
			t.Errorf("RDrop: loss %+v, want %+v as in Forward", got, plain)
		}
		ref.CheckGradient(t, "dx", dx.Data, xs, 0, f)
		checkParams(t, ps, w, f)
	}
}

// R-Drop adds nothing to the gradient of two equal copies.
func TestRDropOfEqualCopies(t *testing.T) {
	var l layer.Output
	ps, r := setUp(func(ps *layer.Params) { l = layer.Output{E: ps.New("e", vocab, d), Smoothing: 0.1} })
	x, dx, plain := random(r, 2*n, d), mat.New(2*n, d), mat.New(2*n, d)
	targets := layer.Targets{IDs: make([]int32, 2*n), Scale: 1}
	copy(x.Data[n*d:], x.Data[:n*d])
	var workspace layer.LossWorkspace
	arena(func(a *layer.Arena) { workspace, targets.Losses = l.AllocRDrop(a, n), layer.AllocLosses(a, 2*n) })
	l.RDrop(nil, dx, x, targets, 2, workspace)
	if loss := targets.Losses.Total(); loss.KL != 0 {
		t.Errorf("KL of equal rows = %v, want 0", loss.KL)
	}
	clear(ps.G)
	l.ForwardBackward(nil, plain, x, targets, workspace)
	ref.CheckClose(t, "dx", dx, ref.FromFloat32(plain), 1e-6)
}

// A piece with a logit of -Inf in both copies counts as one of probability 0, as with the bias
// -1e4. In one copy only, it makes the KL infinite and leaves gradients finite.
func TestRDropOfInfiniteLogits(t *testing.T) {
	inf := float32(math.Inf(-1))
	run := func(bias float32, change func(l layer.Output, x mat.Matrix)) (layer.Loss, mat.Matrix, []float32) {
		var l layer.Output
		ps, r := setUp(func(ps *layer.Params) { l = layer.Output{E: ps.New("e", vocab, d), Bias: ps.New("b", vocab)} })
		x, dx := random(r, 2*n, d), mat.New(2*n, d)
		l.Bias.W[vocab-1] = bias
		change(l, x)
		targets := layer.Targets{IDs: make([]int32, 2*n), Scale: 1}
		var workspace layer.LossWorkspace
		arena(func(a *layer.Arena) { workspace, targets.Losses = l.AllocRDrop(a, n), layer.AllocLosses(a, 2*n) })
		l.RDrop(nil, dx, x, targets, 2, workspace)
		return targets.Losses.Total(), dx, ps.G
	}
	loss, dx, grads := run(inf, func(layer.Output, mat.Matrix) {})
	want, wantDX, wantGrads := run(-1e4, func(layer.Output, mat.Matrix) {})
	if loss != want || !slices.Equal(dx.Data, wantDX.Data) || !slices.Equal(grads, wantGrads) {
		t.Errorf("loss = %+v, want %+v and the same gradients", loss, want)
	}
	for first := range 2 {
		loss, dx, grads := run(0, func(l layer.Output, x mat.Matrix) {
			clear(l.E.Weights().Row(vocab - 1))
			l.E.Weights().Row(vocab - 1)[0] = math.MaxFloat32
			for i := range n {
				x.Row(first*n + i)[0], x.Row((1-first)*n + i)[0] = -2, 0
			}
		})
		if !math.IsInf(loss.KL, 1) {
			t.Errorf("KL = %v, want +Inf", loss.KL)
		}
		for _, g := range slices.Concat(dx.Data, grads) {
			if math.IsNaN(float64(g)) || math.IsInf(float64(g), 0) {
				t.Fatalf("gradient %v, want finite", g)
			}
		}
	}
}
