package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
)

// spread returns the largest magnitude, the root mean square and the number of all values.
func spread(values ...[]float32) (largest, deviation float64, n int) {
	for _, w := range values {
		for _, v := range w {
			largest = max(largest, math.Abs(float64(v)))
			deviation += float64(v) * float64(v)
			n++
		}
	}
	return largest, math.Sqrt(deviation / float64(n)), n
}

// wantUniform checks the range and the deviation of values from a uniform distribution in ±bound.
func wantUniform(t *testing.T, name string, bound float64, values ...[]float32) {
	t.Helper()
	largest, deviation, n := spread(values...)
	// The expected largest magnitude of n values is bound·n/(n+1). The deviation bound/√3 has a
	// standard error of √(0.2/n) of itself; allow five.
	if largest > bound*(1+1e-6) || largest < bound*(1-20/float64(n)) || math.Abs(deviation*math.Sqrt(3)/bound-1) > 5*math.Sqrt(0.2/float64(n)) {
		t.Errorf("%s: %d values up to %v, deviation %v; want ±%v and %v", name, n, largest, deviation, bound, bound/math.Sqrt(3))
	}
}

// wantNormal checks the deviation of values from a normal distribution.
func wantNormal(t *testing.T, name string, want float64, w []float32) {
	t.Helper()
	largest, deviation, n := spread(w)
	if math.Abs(deviation/want-1) > 5/math.Sqrt(2*float64(n)) || largest < 2.5*want {
		t.Errorf("%s: deviation %v, largest %v; want normal(0, %v)", name, deviation, largest, want)
	}
}

// wantConstant checks that all values are want.
func wantConstant(t *testing.T, name string, want float32, w []float32) {
	t.Helper()
	for _, v := range w {
		if v != want {
			t.Errorf("%s: %v, want %v", name, v, want)
			return
		}
	}
}

// wide returns a configuration with every kind of parameter, large enough for statistics.
func wide() Config {
	c := toy()
	c.DModel, c.Heads, c.DK, c.DV, c.DFF, c.SrcVocab, c.TgtVocab, c.MaxLen = 64, 4, 8, 24, 160, 500, 400, 100
	c.EncoderLayers, c.Tie, c.OutputBias, c.FinalNorm, c.Positions = 3, TieNone, true, FinalNormOn, Learned
	return c
}

// columns returns columns [lo, hi) of each row of w.
func columns(w mat.Matrix, lo, hi int) (rows [][]float32) {
	for i := range w.Rows {
		rows = append(rows, w.Row(i)[lo:hi])
	}
	return rows
}

func TestXavierInit(t *testing.T) {
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
				wantNormal(t, p.Name, 1./8, p.W)
			case strings.HasSuffix(kind, "gain"):
				wantConstant(t, p.Name, 1, p.W)
			default:
				wantConstant(t, p.Name, 0, p.W)
			}
		}
	}
}

// PyTorch 2: nn.Transformer initializes every matrix Xavier uniform, in_proj_weight [3d, d] as one
// matrix, and keeps the biases of nn.MultiheadAttention (0) and nn.Linear (±in^-½). The weights
// of nn.Linear are ±in^-½, those of nn.Embedding normal(0, 1).
func TestPyTorchInit(t *testing.T) {
	c := wide()
	c.DK, c.DV, c.Init = 0, 0, PyTorchInit
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
			wantNormal(t, p.Name, 1, p.W)
		case strings.HasSuffix(kind, "gain"):
			wantConstant(t, p.Name, 1, p.W)
		default:
			wantConstant(t, p.Name, 0, p.W)
		}
	}
}

// With zero-output the last matrix of each sublayer is 0 (an SSRU has none of its own), and no
// other matrix is.
func TestZeroOutputInit(t *testing.T) {
	for _, autoreg := range []Autoreg{SelfAttention, SSRU} {
		c := wide()
		c.Autoreg, c.Init = autoreg, ZeroOutputInit
		zeros := 0
		for _, p := range newModel(t, c).Params.List {
			switch outer := strings.HasSuffix(p.Name, ".outer.weight"); {
			case outer, strings.HasSuffix(p.Name, ".out.weight"):
				zeros++
				wantConstant(t, p.Name, 0, p.W)
			case len(p.Shape) == 2 && slices.Max(p.W) == 0:
				t.Errorf("%s is 0", p.Name)
			}
		}
		if n := 2*c.EncoderLayers + 2*c.DecoderLayers; zeros < n {
			t.Errorf("%v: %d matrices are 0, want at least %d", autoreg, zeros, n)
		}
	}
}

func TestInitIsAFunctionOfTheSeed(t *testing.T) {
	for _, start := range []InitScheme{XavierInit, PyTorchInit, ZeroOutputInit} {
		c := wide()
		c.Init = start
		m := newModel(t, c)
		first := append([]float32(nil), m.Params.W...)
		m.Init(2)
		if bitsEqual(first, m.Params.W) {
			t.Error("seeds 1 and 2 give equal weights")
		}
		m.Init(1)
		if !bitsEqual(first, m.Params.W) {
			t.Error("Init(1) gives different weights the second time")
		}
	}
}
