package attn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tfm/attn"
	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// padding is the shape of a padded batch.
type padding struct {
	lengths []int
	tokens  int // of each padded sentence
}

func padded(lengths ...int) padding {
	p := padding{lengths: lengths}
	for _, n := range lengths {
		p.tokens = max(p.tokens, n)
	}
	return p
}

func (p padding) starts() []int32 {
	starts := []int32{0}
	for i, n := range p.lengths {
		starts = append(starts, starts[i]+int32(n))
	}
	return starts
}

// pad copies the rows of a ragged batch to a padded one, with values of fill in the padding.
func (p padding) pad(ragged mat.Matrix, fill func() float32) mat.Matrix {
	m := mat.New(len(p.lengths)*p.tokens, ragged.Cols)
	for i := range m.Data {
		m.Data[i] = fill()
	}
	row := 0
	for s, n := range p.lengths {
		for i := range n {
			copy(m.Row(s*p.tokens+i), ragged.Row(row))
			row++
		}
	}
	return m
}

// real is the inverse of pad.
func (p padding) real(m mat.Matrix) mat.Matrix {
	starts := p.starts()
	ragged := mat.New(int(starts[len(p.lengths)]), m.Cols)
	for s, n := range p.lengths {
		for i := range n {
			copy(ragged.Row(int(starts[s])+i), m.Row(s*p.tokens+i))
		}
	}
	return ragged
}

func wantBits(t *testing.T, name string, got, want mat.Matrix) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			if math.Float32bits(got.At(i, j)) != math.Float32bits(want.At(i, j)) {
				t.Fatalf("%s: element (%d, %d) = %v, want %v", name, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}

// A ragged batch and a padded one with masks have the same bits: contexts, gradients of the inputs,
// and gradients of a linear map before them. One sentence is longer than a block of queries. The
// padding holds large values, which must not change any result.
func TestRaggedIsPaddedWithMasksBitForBit(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	junk := func() float32 { return float32(100 * r.NormFloat64()) }
	zero := func() float32 { return 0 }
	tgt, src := padded(3, 70, 1, 4), padded(6, 17, 40, 1)
	for name, c := range map[string]struct {
		q, k   padding
		causal bool
	}{"self": {src, src, false}, "causal": {tgt, tgt, true}, "cross": {tgt, src, false}} {
		rag := attn.Ragged{QStarts: c.q.starts(), KStarts: c.k.starts(), Causal: c.causal}
		var masks []ref.Mask
		for _, n := range c.k.lengths {
			masks = append(masks, func(i, j int) bool { return j < n && (!c.causal || ref.LookAhead(i, j)) })
		}
		n, m := int(rag.QStarts[len(rag.QStarts)-1]), int(rag.KStarts[len(rag.KStarts)-1])
		in := attn.Inputs{Q: random(r, n, d), K: random(r, m, d), V: random(r, m, d)}
		dctx, ctx := random(r, n, d), mat.New(n, d)
		grad := attn.Inputs{Q: mat.New(n, d), K: mat.New(m, d), V: mat.New(m, d)}
		attn.ScaledDotProductHeads(nil, ctx, in, heads, rag)
		attn.ScaledDotProductHeadsGrad(nil, grad, dctx, in, heads, rag)

		pin := attn.Inputs{Q: c.q.pad(in.Q, junk), K: c.k.pad(in.K, junk), V: c.k.pad(in.V, junk)}
		pctx := mat.New(pin.Q.Rows, d)
		pgrad := attn.Inputs{Q: mat.New(pin.Q.Rows, d), K: mat.New(pin.K.Rows, d), V: mat.New(pin.K.Rows, d)}
		ref.PaddedHeads(pctx, pin, heads, masks)
		ref.PaddedHeadsGrad(pgrad, c.q.pad(dctx, zero), pin, heads, masks)
		wantBits(t, name, c.q.real(pctx), ctx)
		wantBits(t, name+" dQ", c.q.real(pgrad.Q), grad.Q)
		wantBits(t, name+" dK", c.k.real(pgrad.K), grad.K)
		wantBits(t, name+" dV", c.k.real(pgrad.V), grad.V)

		var l layer.Linear
		ps, _ := setUp(func(ps *layer.Params) { l = layer.NewLinear(ps, "l", d, d) })
		x, dx, px := random(r, m, d), mat.New(m, d), mat.New(pgrad.K.Rows, d)
		l.Backward(nil, dx, grad.K, x, layer.Set)
		want := append([]float32(nil), ps.G...)
		clear(ps.G)
		l.Backward(nil, px, pgrad.K, c.k.pad(x, junk), layer.Set)
		wantBits(t, name+" dx", c.k.real(px), dx)
		wantBits(t, name+" gradients", mat.Of(ps.G, 1, len(want)), mat.Of(want, 1, len(want)))
	}
}
