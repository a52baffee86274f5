package model

import (
	"strconv"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// blocks makes the parts of a stack's layers: what the Config says of them.
type blocks struct {
	Config
	ps    *layer.Params
	alpha float32
}

func (b blocks) sizes() attn.Sizes {
	dk, dv := b.HeadSizes()
	return attn.Sizes{Model: b.DModel, Heads: b.Heads, DK: dk, DV: dv, NoBias: b.Biases == NoBiases || b.Biases == FeedForwardBiases}
}

func (b blocks) norm(name string) layer.Norm {
	return layer.NewNorm(b.ps, name, b.DModel, b.NormEps, layer.NormKind(b.NormKind))
}

func (b blocks) residual(name string) layer.Residual {
	return layer.Residual{AddNorm: layer.AddNorm{Norm: b.norm(name), Alpha: b.alpha}, Pre: b.Norm == PreNorm}
}

func (b blocks) feedForward(name string) layer.FeedForward {
	linear := layer.NewLinear
	if b.Biases == NoBiases || b.Biases == AttentionBiases {
		linear = layer.NewLinearNoBias
	}
	return layer.FeedForward{
		Inner: linear(b.ps, name+".inner", b.DModel, b.DFF), Outer: linear(b.ps, name+".outer", b.DFF, b.DModel),
		Activation: kernels[b.Activation],
	}
}

// EncoderLayer is one of the N layers on the left of figure 1 (section 3.1): self-attention and the
// feed-forward network, each with a residual connection and a norm.
type EncoderLayer struct {
	Self  attn.Self         // multi-head self-attention (section 3.2)
	Norm1 layer.Residual    // "Add & Norm" around Self
	FF    layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm2 layer.Residual    // "Add & Norm" around FF
}

func (b blocks) encoderLayer(i int) EncoderLayer {
	name := "encoder." + strconv.Itoa(i)
	return EncoderLayer{
		Self:  b.sizes().NewSelf(b.ps, name+".self"),
		Norm1: b.residual(name + ".norm1"),
		FF:    b.feedForward(name + ".ff"),
		Norm2: b.residual(name + ".norm2"),
	}
}

// encoderState is what an encoderLayer leaves for Backward.
type encoderState struct {
	self  attn.SelfState
	norm1 layer.Normed
	ff    layer.FeedForwardState
	norm2 layer.Normed
}

func (l *EncoderLayer) state(a *layer.Arena, n int, backward bool) encoderState {
	d := l.Self.Model
	return encoderState{l.Self.NewSelfState(a, n), layer.NewNormed(a, n, d), l.FF.NewState(a, n, backward), layer.NewNormed(a, n, d)}
}

// forward returns the layer's output [n × d] for x [n × d]. A sublayer's result is written where the residual is
// added to it.
func (l *EncoderLayer) forward(p *mat.Pool, st *encoderState, x mat.Matrix, r attn.Ragged, drops dropouts) mat.Matrix {
	r.Drop = drops.weightsAt(0)
	l.Self.Forward(p, st.norm1.R, st.self, l.Norm1.Before(p, st.norm1, x), r)
	x = l.Norm1.After(p, st.norm1, x, drops.at(0))
	l.FF.Forward(p, st.norm2.R, st.ff, l.Norm2.Before(p, st.norm2, x), drops.innerAt(1))
	return l.Norm2.After(p, st.norm2, x, drops.at(1))
}

// out is what forward returned.
func (l *EncoderLayer) out(st *encoderState) mat.Matrix { return l.Norm2.Out(st.norm2) }

// backward turns dx, the derivative of the layer's output, into that of its input x: forward's lines in
// reverse. The residual makes dx both what a norm returns and what its sublayer adds to.
func (l *EncoderLayer) backward(p *mat.Pool, dx mat.Matrix, g *gradients, st *encoderState, x mat.Matrix, r attn.Ragged, drops dropouts) {
	x1 := l.Norm1.Out(st.norm1)
	din, how := l.Norm2.BackwardAfter(p, dx, g.sub, st.norm2, drops.at(1))
	l.FF.Backward(p, din, g.hidden, g.sub, st.ff, l.Norm2.In(st.norm2, x1), drops.innerAt(1), how)
	l.Norm2.BackwardBefore(p, dx, din, st.norm2, x1)

	r.Drop = drops.weightsAt(0)
	din, how = l.Norm1.BackwardAfter(p, dx, g.sub, st.norm1, drops.at(0))
	l.Self.Backward(p, din, g.self, g.sub, st.self, l.Norm1.In(st.norm1, x), r, how)
	l.Norm1.BackwardBefore(p, dx, din, st.norm1, x)
}

// DecoderLayer is one of the N layers on the right of figure 1 (section 3.1): self-attention that sees
// no later position, attention to the encoder's output, and the feed-forward network, each with a
// residual connection and a norm.
type DecoderLayer struct {
	Self  attn.Self         // masked multi-head self-attention (sections 3.1, 3.2.3)
	Norm1 layer.Residual    // "Add & Norm" around Self
	Cross attn.Cross        // queries from the decoder, keys and values from the encoder (section 3.2.3)
	Norm2 layer.Residual    // "Add & Norm" around Cross
	FF    layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm3 layer.Residual    // "Add & Norm" around FF
}

func (b blocks) decoderLayer(i int) DecoderLayer {
	name := "decoder." + strconv.Itoa(i)
	return DecoderLayer{
		Self:  b.sizes().NewSelf(b.ps, name+".self"),
		Norm1: b.residual(name + ".norm1"),
		Cross: b.sizes().NewCross(b.ps, name+".cross"),
		Norm2: b.residual(name + ".norm2"),
		FF:    b.feedForward(name + ".ff"),
		Norm3: b.residual(name + ".norm3"),
	}
}

// decoderState is what a decoderLayer leaves for Backward, for n target and m source tokens.
type decoderState struct {
	self  attn.SelfState
	norm1 layer.Normed
	cross attn.CrossState
	norm2 layer.Normed
	ff    layer.FeedForwardState
	norm3 layer.Normed
}

func (l *DecoderLayer) state(a *layer.Arena, n, m int, backward bool) decoderState {
	d := l.Self.Model
	return decoderState{
		l.Self.NewSelfState(a, n), layer.NewNormed(a, n, d),
		l.Cross.NewCrossState(a, n, m), layer.NewNormed(a, n, d),
		l.FF.NewState(a, n, backward), layer.NewNormed(a, n, d),
	}
}

// forward returns the layer's output [n × d] for x [n × d] and the memory [m × d].
func (l *DecoderLayer) forward(p *mat.Pool, st *decoderState, x, memory mat.Matrix, self, cross attn.Ragged, drops dropouts) mat.Matrix {
	self.Drop, cross.Drop = drops.weightsAt(0), drops.weightsAt(1)
	l.Self.Forward(p, st.norm1.R, st.self, l.Norm1.Before(p, st.norm1, x), self)
	x = l.Norm1.After(p, st.norm1, x, drops.at(0))
	l.Cross.Forward(p, st.norm2.R, st.cross, l.Norm2.Before(p, st.norm2, x), memory, cross)
	x = l.Norm2.After(p, st.norm2, x, drops.at(1))
	l.FF.Forward(p, st.norm3.R, st.ff, l.Norm3.Before(p, st.norm3, x), drops.innerAt(2))
	return l.Norm3.After(p, st.norm3, x, drops.at(2))
}

// out is what forward returned.
func (l *DecoderLayer) out(st *decoderState) mat.Matrix { return l.Norm3.Out(st.norm3) }

// backward turns dx, the derivative of the layer's output, into that of its input x, and sets or adds to
// that of the memory.
func (l *DecoderLayer) backward(p *mat.Pool, dx, dmemory mat.Matrix, g *gradients, st *decoderState, x, memory mat.Matrix, self, cross attn.Ragged, drops dropouts, howMemory mat.GemmOptions) {
	self.Drop, cross.Drop = drops.weightsAt(0), drops.weightsAt(1)
	x1, x2 := l.Norm1.Out(st.norm1), l.Norm2.Out(st.norm2)
	din, how := l.Norm3.BackwardAfter(p, dx, g.sub, st.norm3, drops.at(2))
	l.FF.Backward(p, din, g.hidden, g.sub, st.ff, l.Norm3.In(st.norm3, x2), drops.innerAt(2), how)
	l.Norm3.BackwardBefore(p, dx, din, st.norm3, x2)

	din, how = l.Norm2.BackwardAfter(p, dx, g.sub, st.norm2, drops.at(1))
	l.Cross.Backward(p, din, dmemory, g.cross, g.sub, st.cross, l.Norm2.In(st.norm2, x1), memory, cross, how, howMemory)
	l.Norm2.BackwardBefore(p, dx, din, st.norm2, x1)

	din, how = l.Norm1.BackwardAfter(p, dx, g.sub, st.norm1, drops.at(0))
	l.Self.Backward(p, din, g.self, g.sub, st.self, l.Norm1.In(st.norm1, x), self, how)
	l.Norm1.BackwardBefore(p, dx, din, st.norm1, x)
}

// gradients are the derivatives that live only within one layer's backward: every layer of a stack uses the
// same memory.
type gradients struct {
	sub    mat.Matrix // [n × d] of a sublayer's result
	hidden mat.Matrix // [n × ff]
	self   attn.SelfState
	cross  attn.CrossState // in a decoder
}
