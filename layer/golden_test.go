package layer_test

import (
	"maps"
	"math"
	"testing"

	"tfm/internal/golden"
	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// filled allocates the parameters that declare declares, with PyTorch's weights.
func filled(c *golden.Case, declare func(*layer.Params)) *layer.Params {
	ps := new(layer.Params)
	declare(ps)
	ps.AllocForTraining()
	c.Fill("param/", ps)
	return ps
}

func TestNormMatchesPyTorch(t *testing.T) {
	golden.Each(t, "layer_norm", func(t *testing.T, c *golden.Case) {
		kind := layer.LayerNorm
		if c.Unbiased {
			kind = layer.UnbiasedNorm
		}
		normMatchesPyTorch(t, c, kind)
	})
	golden.Each(t, "rms_norm", func(t *testing.T, c *golden.Case) { normMatchesPyTorch(t, c, layer.RMSNorm) })
}

func normMatchesPyTorch(t *testing.T, c *golden.Case, kind layer.NormKind) {
	l := layer.Residual{Alpha: 1}
	var norm layer.Norm
	ps := filled(c, func(ps *layer.Params) { norm = layer.NewNorm(ps, "norm", c.D, float32(c.Eps), kind) })
	x, dx := c.Input("x"), c.Upstream()
	sum := ref.Sum(1, ref.FromFloat32(x), ref.FromFloat32(c.Input("sub")))
	c.CheckOutput("y", ref.ToFloat32(ref.WeightsOf(ps).Norm("norm", normKinds[kind], sum, c.Eps)))
	dsub := mat.New(x.Rows, c.D)
	var act layer.NormAct
	var residual layer.ResidualAct
	arena(func(a *layer.Arena) { act = norm.Alloc(a, x.Rows) })
	c.CheckOutput("y", norm.Forward(nil, &act, l.Forward(nil, &residual, x, c.Input("sub"), mat.Dropout{})))
	norm.Backward(nil, dx, dx, &act, layer.Set)
	l.Backward(nil, dsub, dx, &residual)
	c.CheckGrad("x", dx)
	c.CheckGrad("sub", dsub)
	c.CheckGrads(ps)
}

func TestFeedForwardMatchesPyTorch(t *testing.T) {
	missing := map[string]mat.Activation{}
	for _, f := range mat.Activations() {
		missing[f.String()] = f
	}
	functions := maps.Clone(missing)
	golden.Each(t, "feed_forward", func(t *testing.T, c *golden.Case) {
		delete(missing, c.Activation)
		linear := layer.NewLinear
		if !c.Bias {
			linear = layer.NewLinearNoBias
		}
		l := layer.FeedForward{Activation: functions[c.Activation]}
		ps := filled(c, func(ps *layer.Params) {
			l.Inner, l.Outer = linear(ps, "ff.inner", c.D, c.FF), linear(ps, "ff.outer", c.FF, c.D)
		})
		x, dy := c.Input("x"), c.Upstream()
		c.CheckOutput("y", ref.ToFloat32(ref.WeightsOf(ps).FeedForward("ff", c.Activation, ref.FromFloat32(x), nil)))
		dx, dhidden := mat.New(x.Rows, c.D), mat.New(x.Rows, c.FF)
		var act, alone layer.FeedForwardAct
		arena(func(a *layer.Arena) { act, alone = l.Alloc(a, x.Rows, true), l.Alloc(a, x.Rows, false) })
		c.CheckOutput("y", l.Forward(nil, &alone, x, mat.Dropout{}))
		c.CheckOutput("y", l.Forward(nil, &act, x, mat.Dropout{}))
		l.Backward(nil, dx, dy, &act, dhidden, layer.Set)
		c.CheckGrad("x", dx)
		c.CheckGrads(ps)
	})
	if len(missing) > 0 {
		t.Errorf("no golden has an activation of %v", missing)
	}
}

// PyTorch's batch is padded, ours ragged.
func TestEmbeddingMatchesPyTorch(t *testing.T) {
	c := golden.Open(t, "embedding.paper")
	var l layer.Embedding
	ps := filled(c, func(ps *layer.Params) {
		l = layer.Embedding{E: ps.New("embedding", 9, c.D), Positions: layer.Sinusoids(8, c.D)}
	})
	padded, starts := c.Int32s("input/ids"), c.Starts("y")
	var ids []int32
	for s := range len(starts) - 1 {
		ids = append(ids, padded[s*5:][:starts[s+1]-starts[s]]...)
	}
	x := mat.New(len(ids), c.D)
	l.Forward(nil, x, ids, starts, mat.Dropout{})
	c.CheckOutput("y", x)
	for s := range len(starts) - 1 {
		rows := ref.Variant{}.Embed(ref.WeightsOf(ps), "embedding", c.D, ids[starts[s]:starts[s+1]])
		copy(x.RowRange(int(starts[s]), int(starts[s+1])).Data, ref.ToFloat32(rows).Data)
	}
	c.CheckOutput("y", x)
	l.Backward(nil, c.Upstream(), ids, starts, mat.Dropout{})
	c.CheckGrads(ps)
}

// Both are computed in float64 and ours is rounded to float32: the bound is half a unit in the last
// place of values below 1, plus float64's rounding of angles up to 40, about 1e-14.
func TestSinusoidsMatchPyTorch(t *testing.T) {
	for name, table := range map[string]func(positions, d int) mat.Matrix{
		"positions.paper":         layer.Sinusoids,
		"positions.marian":        layer.SinusoidHalves,
		"positions.tensor2tensor": layer.TimingSignal,
		"positions.tensor2tensor-from1": func(positions, d int) mat.Matrix {
			return layer.TimingSignal(1+positions, d).RowRange(1, 1+positions)
		},
	} {
		c := golden.Open(t, name)
		want := c.Float64s("table/positions")
		for i, got := range table(len(want)/c.D, c.D).Data {
			if math.Abs(float64(got)-want[i]) > 0x1p-25+1e-14 {
				t.Errorf("%s: PE(%d, %d) = %v, want %v", name, i/c.D, i%c.D, got, want[i])
			}
		}
	}
}

func TestCrossEntropyMatchesPyTorch(t *testing.T) {
	golden.Each(t, "cross_entropy", func(t *testing.T, c *golden.Case) {
		var l layer.Output
		ps := filled(c, func(ps *layer.Params) {
			l = layer.Output{E: ps.New("output.weight", 11, c.D), Smoothing: float32(c.Smoothing), SmoothAll: c.SmoothOver == "all"}
		})
		x, targets := c.Input("x"), c.Int32s("input/targets")
		dx := mat.New(x.Rows, c.D)
		var workspace layer.LossWorkspace
		all := layer.Targets{IDs: targets, Scale: c.Upstream().At(0, 0)}
		arena(func(a *layer.Arena) { workspace, all.Losses = l.Alloc(a, x.Rows), layer.AllocLosses(a, x.Rows) })
		l.ForwardBackward(nil, dx, x, all, workspace)
		c.CheckOutput("y", mat.Of([]float32{float32(all.Losses.Total().Sum)}, 1, 1))
		c.CheckGrad("x", dx)
		c.CheckGrads(ps)
	})
}
