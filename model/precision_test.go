package model

import (
	"math"
	"slices"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// largeProducts returns a configuration with products large enough for layer.BF16.
func largeProducts() Config {
	c := toy()
	c.DModel, c.DFF, c.SrcVocab, c.TgtVocab = 64, 96, 50, 50
	return c
}

// Rounding to bf16 changes a value by at most 2^-9 of itself, so a product of two values by 2^-8.
// The gradient of a weight of the first layer depends on all products of both stacks, forward and
// backward: four in each encoder layer, six in each decoder layer, and the output projection. Norms
// keep magnitudes similar, so to first order the relative error of a tensor, in its norm, is at
// most 2^-8 times the number of these products.
func TestGradientInBF16(t *testing.T) {
	c := largeProducts()
	m := newModel(t, c)
	b := randomBatch(c, 40, 2, 1)
	gradient := func(m *Transformer) ([]float32, Loss) {
		clear(m.Params.G)
		loss := NewPass(m, nil).Train(b, 1, 1/float32(len(b.TgtOut)))
		return slices.Clone(m.Params.G), loss
	}
	want, loss := gradient(m)
	got, lossBF16 := gradient(m.In(layer.BF16))
	if layer.BF16.Kernel() == layer.Float32.Kernel() {
		if !slices.Equal(got, want) || loss != lossBF16 {
			t.Error("this machine has no bf16 kernel, but the gradient differs from float32")
		}
		return
	}
	products := 2 * (4*c.EncoderLayers + 6*c.DecoderLayers + 1)
	at, changed, worst := 0, 0, 0.0
	for _, p := range m.Params.List {
		var off, size float64
		for i := range p.G {
			d, g := float64(got[at+i])-float64(want[at+i]), float64(want[at+i])
			off, size = off+d*d, size+g*g
		}
		at += len(p.G)
		if off > 0 {
			changed++
		}
		relative := math.Sqrt(off / size)
		if limit := float64(products) * 0x1p-8; !(relative <= limit) {
			t.Errorf("%s: relative error of the gradient %.3g, want at most %.3g", p.Name, relative, limit)
		}
		worst = max(worst, relative)
	}
	t.Logf("largest relative error of a gradient %.3g, limit %.3g", worst, float64(products)*0x1p-8)
	if changed != len(m.Params.List) {
		t.Errorf("%d of %d gradients differ from float32, want all", changed, len(m.Params.List))
	}
	if d := math.Abs(lossBF16.Sum/loss.Sum - 1); d > float64(products/2)*0x1p-8 {
		t.Errorf("loss %v in bf16, want about %v", lossBF16.Sum, loss.Sum)
	}
}

// A pass in bf16 and a pass in float32 of the same weights share their memory.
func TestPassesShareMemory(t *testing.T) {
	c := largeProducts()
	m := newModel(t, c)
	p := mat.NewPool(2)
	defer p.Close()
	b := randomBatch(c, 40, 2, 1)
	want := NewPass(m, p).Evaluate(b)
	pass := NewPass(m, p)
	training := pass.Sharing(m.In(layer.BF16))
	training.Alloc(len(b.Src), len(b.TgtIn), 64)
	bytes := pass.Bytes()
	training.Train(b, 1, 1)
	if got := pass.Evaluate(b); got != want {
		t.Errorf("loss %+v, want %+v", got, want)
	}
	if pass.Bytes() != bytes || training.Bytes() != bytes || bytes == 0 {
		t.Errorf("%d and %d bytes, want %d", pass.Bytes(), training.Bytes(), bytes)
	}
}
