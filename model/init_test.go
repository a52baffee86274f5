package model

import (
	"math"
	"strings"
	"testing"

	"tfm/mat"
)

// spread is the largest number of some and their deviation from 0.
func spread(parts ...[]float32) (largest, deviation float64, n int) {
	for _, w := range parts {
		for _, v := range w {
			largest = max(largest, math.Abs(float64(v)))
			deviation += float64(v) * float64(v)
			n++
		}
	}
	return largest, math.Sqrt(deviation / float64(n)), n
}

// wantUniform fails the test unless the numbers are as those of a uniform distribution from -bound
// to bound.
func wantUniform(t *testing.T, name string, bound float64, parts ...[]float32) {
	t.Helper()
	largest, deviation, n := spread(parts...)
	// The largest of n is bound·n/(n+1) on average; σ = bound/√3 is found to within σ·√(0.2/n), of
	// which five.
	if largest > bound*(1+1e-6) || largest < bound*(1-20/float64(n)) || math.Abs(deviation*math.Sqrt(3)/bound-1) > 5*math.Sqrt(0.2/float64(n)) {
		t.Errorf("%s: %d numbers up to %v, deviation %v; want ±%v and %v", name, n, largest, deviation, bound, bound/math.Sqrt(3))
	}
}

func normal(t *testing.T, name string, want float64, w []float32) {
	t.Helper()
	largest, deviation, n := spread(w)
	if math.Abs(deviation/want-1) > 5/math.Sqrt(2*float64(n)) || largest < 2.5*want {
		t.Errorf("%s: deviation %v, largest %v; want normal(0, %v)", name, deviation, largest, want)
	}
}

func constant(t *testing.T, name string, want float32, w []float32) {
	t.Helper()
	for _, v := range w {
		if v != want {
			t.Errorf("%s: %v, want %v", name, v, want)
			return
		}
	}
}

// wide has enough weights for statistics, and every kind of them.
func wide() Config {
	c := toy()
	c.DModel, c.Heads, c.DK, c.DV, c.DFF, c.SrcVocab, c.TgtVocab, c.MaxLen = 64, 4, 8, 24, 160, 500, 400, 100
	c.EncoderLayers, c.Tie, c.OutputBias, c.FinalNorm, c.Positions = 3, TieNone, true, FinalNormOn, Learned
	return c
}

// columns are those of a matrix from lo on.
func columns(w mat.Matrix, lo, hi int) (parts [][]float32) {
	for i := range w.Rows {
		parts = append(parts, w.Row(i)[lo:hi])
	}
	return parts
}

func TestXavierStart(t *testing.T) {
	for _, norm := range []Placement{PostNorm, DeepNorm} {
		c := wide()
		c.Norm = norm
		_, encBeta, _, decBeta := c.DeepNormScales()
		m := newModel(t, c)
		d, k, v := 64, 32, 96 // of all heads
		xavier := func(in, out int) float64 { return math.Sqrt(6 / float64(in+out)) }
		for _, p := range m.Params.List {
			beta := decBeta
			if strings.HasPrefix(p.Name, "encoder") {
				beta = encBeta
			}
			switch _, kind, _ := strings.Cut(p.Name, "."); {
			case strings.HasSuffix(kind, "qkv.weight"):
				wantUniform(t, p.Name+" Q", xavier(d, k), columns(p.Weights(), 0, k)...)
				wantUniform(t, p.Name+" K", xavier(d, k), columns(p.Weights(), k, 2*k)...)
				wantUniform(t, p.Name+" V", beta*xavier(d, v), columns(p.Weights(), 2*k, 2*k+v)...)
			case strings.HasSuffix(kind, "kv.weight"):
				wantUniform(t, p.Name+" K", xavier(d, k), columns(p.Weights(), 0, k)...)
				wantUniform(t, p.Name+" V", beta*xavier(d, v), columns(p.Weights(), k, k+v)...)
			case strings.HasSuffix(kind, "q.weight"):
				wantUniform(t, p.Name, xavier(d, k), p.W)
			case strings.HasSuffix(kind, "out.weight"):
				wantUniform(t, p.Name, beta*xavier(v, d), p.W)
			case strings.Contains(kind, "ff.") && len(p.Shape) == 2:
				wantUniform(t, p.Name, beta*xavier(d, 160), p.W)
			case len(p.Shape) == 2:
				normal(t, p.Name, 1./8, p.W)
			case strings.HasSuffix(kind, "gain"):
				constant(t, p.Name, 1, p.W)
			default:
				constant(t, p.Name, 0, p.W)
			}
		}
	}
}

// What PyTorch 2 does: nn.Transformer gives every matrix Xavier's uniform numbers, among them
// in_proj_weight [3d, d] as one, and leaves biases as nn.MultiheadAttention (0) and nn.Linear
// (±in^-½) set them; nn.Linear's own weights are ±in^-½ too, nn.Embedding's normal(0, 1).
func TestPyTorchStart(t *testing.T) {
	c := wide()
	c.DK, c.DV, c.Start = 0, 0, PyTorchStart
	m := newModel(t, c)
	for _, p := range m.Params.List {
		switch _, kind, _ := strings.Cut(p.Name, "."); {
		case strings.HasSuffix(kind, "qkv.weight"), strings.HasSuffix(kind, "kv.weight"), strings.HasSuffix(kind, "q.weight"):
			wantUniform(t, p.Name, math.Sqrt(6./(64+3*64)), p.W)
		case strings.HasSuffix(kind, "out.weight"):
			wantUniform(t, p.Name, math.Sqrt(6./(64+64)), p.W)
		case strings.Contains(kind, "ff.") && len(p.Shape) == 2:
			wantUniform(t, p.Name, math.Sqrt(6./(64+160)), p.W)
		case strings.HasSuffix(kind, "inner.bias"), p.Name == "output.weight", p.Name == "output.bias":
			wantUniform(t, p.Name, 1./8, p.W)
		case strings.HasSuffix(kind, "outer.bias"):
			wantUniform(t, p.Name, 1/math.Sqrt(160), p.W)
		case len(p.Shape) == 2:
			normal(t, p.Name, 1, p.W)
		case strings.HasSuffix(kind, "gain"):
			constant(t, p.Name, 1, p.W)
		default:
			constant(t, p.Name, 0, p.W)
		}
	}
}

func TestASeedFixesEverything(t *testing.T) {
	for _, start := range []Start{XavierStart, PyTorchStart} {
		c := wide()
		c.Start = start
		m := newModel(t, c)
		first := append([]float32(nil), m.Params.W...)
		m.Init(2)
		if bitsEqual(first, m.Params.W) {
			t.Error("another seed gives the same weights")
		}
		m.Init(1)
		if !bitsEqual(first, m.Params.W) {
			t.Error("the same seed gives other weights")
		}
	}
}
