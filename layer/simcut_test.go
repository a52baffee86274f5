package layer_test

import (
	"math"
	"testing"

	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

func TestSimCut(t *testing.T) {
	for _, v := range []struct {
		many, vocab      int // one or more chunks of tokens
		smoothing, alpha float32
		all, bias        bool
	}{
		{many: 1, vocab: 9, alpha: 1},
		{many: 7, vocab: 9, alpha: 3, smoothing: 0.1},
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
		x, targets := copies(r, v.many, v.vocab)
		dx := mat.New(2*v.many, d)
		w := ref.WeightsOf(ps)
		xs, rows := flat(x)
		divergence := func() (sum float64) {
			for i := range v.many {
				p, q := logSoftmax(w["e"], w["b"], rows[i]), logSoftmax(w["e"], w["b"], rows[v.many+i])
				for j := range p {
					sum += math.Exp(p[j]) * (p[j] - q[j])
				}
			}
			return sum
		}
		f := func() float64 {
			sum, _ := ref.CrossEntropy(w["e"], w["b"], rows[:v.many], targets[:v.many], float64(v.smoothing), v.all)
			return 0.25 * (sum + float64(v.alpha)*divergence())
		}
		var workspace layer.LossWorkspace
		all := layer.Targets{IDs: targets, Scale: 0.25}
		arena(func(a *layer.Arena) {
			workspace, all.Losses = l.AllocDoubled(a, v.many), layer.AllocLosses(a, 2*v.many)
		})
		l.SimCut(nil, dx, x, all, v.alpha, workspace)
		got := all.Losses.Total()
		// The KL of a token is a difference of two larger sums: ten roundings of a logit's
		// size.
		if want := 2 * divergence(); math.Abs(got.KL-want) > 1e-6*(want+float64(v.many)) {
			t.Errorf("KL = %v, want %v", got.KL, want)
		}
		first := layer.Targets{IDs: targets[:v.many], Losses: all.Losses.RowRange(0, v.many)}
		l.Forward(nil, x.RowRange(0, v.many), first, workspace)
		if plain := first.Losses.Total(); got.Sum != 2*plain.Sum || got.NLL != 2*plain.NLL || got.Correct != 2*plain.Correct || got.Tokens != 2*plain.Tokens {
			t.Errorf("loss %+v, want twice %+v of the first copy", got, plain)
		}
		ref.CheckGradient(t, "dx", dx.Data, xs, 0, f)
		checkParams(t, ps, w, f)
	}
}
