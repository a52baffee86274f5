package model

import (
	"math"
	"slices"
	"testing"

	"tfm/layer"
	"tfm/mat"
)

// largeProducts is a configuration whose products are large enough for layer.BF16.
func largeProducts() Config {
	c := toy()
	c.DModel, c.DFF, c.SrcVocab, c.TgtVocab = 64, 96, 50, 50
	return c
}

// A rounding to 8 bits moves a number by at most 2^-9 of itself, and so a product of two by 2^-8.
// The derivative of a weight of the first layer has come through all products of the decoder and
// the encoder, forward and back: four in each layer of the encoder and six in one of the decoder,
// and the projection. Norms keep the sizes alike, so to first order the errors add up to 2^-8 for
// each product on that way, measured in the norm of a tensor.
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
			t.Error("nothing is faster in bfloat16 here, and yet the gradient is another")
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
		if most := float64(products) * 0x1p-8; !(relative <= most) {
			t.Errorf("%s: the gradient is off by %.3g of its norm, at most %.3g", p.Name, relative, most)
		}
		worst = max(worst, relative)
	}
	t.Logf("off by at most %.3g of a tensor's norm, bound %.3g", worst, float64(products)*0x1p-8)
	if changed != len(m.Params.List) {
		t.Errorf("the gradients of %d of %d tensors are others than in float32", changed, len(m.Params.List))
	}
	if d := math.Abs(lossBF16.Sum/loss.Sum - 1); d > float64(products/2)*0x1p-8 {
		t.Errorf("loss %v, in float32 %v", lossBF16.Sum, loss.Sum)
	}
}

// What the view trains is evaluated by t as before, in float32, and both work in one memory.
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
