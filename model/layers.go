package model

import (
	"strconv"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// encoderLayer is one layer of the encoder (section 3.1): self-attention and the feed-forward network, each
// as LayerNorm(x + Dropout(Sublayer(x))).
type encoderLayer struct {
	self     attn.Self
	norm1    layer.AddNorm
	ff       layer.FeedForward
	norm2    layer.AddNorm
	d, inner int
}

func newEncoderLayer(ps *layer.Params, i int, c Config) encoderLayer {
	name := "encoder." + strconv.Itoa(i)
	return encoderLayer{
		self:  attn.NewSelf(ps, name+".self", c.DModel, c.Heads),
		norm1: layer.NewAddNorm(ps, name+".norm1", c.DModel, c.NormEps),
		ff:    layer.NewFeedForward(ps, name+".ff", c.DModel, c.DFF),
		norm2: layer.NewAddNorm(ps, name+".norm2", c.DModel, c.NormEps),
		d:     c.DModel, inner: c.DFF,
	}
}

// encoderState is what an encoderLayer leaves for Backward.
type encoderState struct {
	self   attn.SelfState
	norm1  layer.Normed
	hidden mat.Matrix // [n × ff]
	norm2  layer.Normed
}

func (l *encoderLayer) state(a *layer.Arena, n int) encoderState {
	return encoderState{attn.NewSelfState(a, n, l.d), layer.NewNormed(a, n, l.d), a.Matrix(n, l.inner), layer.NewNormed(a, n, l.d)}
}

// forward returns the layer's output [n × d] for x [n × d]. A sublayer's result is written where the norm
// behind it adds the residual.
func (l *encoderLayer) forward(p *mat.Pool, st *encoderState, x mat.Matrix, r attn.Ragged, drops dropouts) mat.Matrix {
	l.self.Forward(p, st.norm1.R, st.self, x, r)
	l.norm1.Forward(p, st.norm1, x, st.norm1.R, drops.at(0))
	l.ff.Forward(p, st.norm2.R, st.hidden, st.norm1.Y)
	l.norm2.Forward(p, st.norm2, st.norm1.Y, st.norm2.R, drops.at(1))
	return st.norm2.Y
}

// backward turns dx, the derivative of the layer's output, into that of its input x: forward's four lines in
// reverse. The residual makes dx both what a norm returns and what its sublayer adds to.
func (l *encoderLayer) backward(p *mat.Pool, dx mat.Matrix, g *gradients, st *encoderState, x mat.Matrix, r attn.Ragged, drops dropouts) {
	l.norm2.Backward(p, dx, g.sub, dx, st.norm2, drops.at(1))
	l.ff.Backward(p, dx, g.hidden, g.sub, st.hidden, st.norm1.Y, layer.Add)
	l.norm1.Backward(p, dx, g.sub, dx, st.norm1, drops.at(0))
	l.self.Backward(p, dx, g.self, g.sub, st.self, x, r, layer.Add)
}

// decoderLayer is one layer of the decoder (section 3.1): self-attention with the look-ahead mask, attention
// to the encoder's output, and the feed-forward network.
type decoderLayer struct {
	self     attn.Self
	norm1    layer.AddNorm
	cross    attn.Cross
	norm2    layer.AddNorm
	ff       layer.FeedForward
	norm3    layer.AddNorm
	d, inner int
}

func newDecoderLayer(ps *layer.Params, i int, c Config) decoderLayer {
	name := "decoder." + strconv.Itoa(i)
	return decoderLayer{
		self:  attn.NewSelf(ps, name+".self", c.DModel, c.Heads),
		norm1: layer.NewAddNorm(ps, name+".norm1", c.DModel, c.NormEps),
		cross: attn.NewCross(ps, name+".cross", c.DModel, c.Heads),
		norm2: layer.NewAddNorm(ps, name+".norm2", c.DModel, c.NormEps),
		ff:    layer.NewFeedForward(ps, name+".ff", c.DModel, c.DFF),
		norm3: layer.NewAddNorm(ps, name+".norm3", c.DModel, c.NormEps),
		d:     c.DModel, inner: c.DFF,
	}
}

// decoderState is what a decoderLayer leaves for Backward, for n target and m source tokens.
type decoderState struct {
	self   attn.SelfState
	norm1  layer.Normed
	cross  attn.CrossState
	norm2  layer.Normed
	hidden mat.Matrix // [n × ff]
	norm3  layer.Normed
}

func (l *decoderLayer) state(a *layer.Arena, n, m int) decoderState {
	return decoderState{
		attn.NewSelfState(a, n, l.d), layer.NewNormed(a, n, l.d),
		attn.NewCrossState(a, n, m, l.d), layer.NewNormed(a, n, l.d),
		a.Matrix(n, l.inner), layer.NewNormed(a, n, l.d),
	}
}

// forward returns the layer's output [n × d] for x [n × d] and the memory [m × d].
func (l *decoderLayer) forward(p *mat.Pool, st *decoderState, x, memory mat.Matrix, self, cross attn.Ragged, drops dropouts) mat.Matrix {
	l.self.Forward(p, st.norm1.R, st.self, x, self)
	l.norm1.Forward(p, st.norm1, x, st.norm1.R, drops.at(0))
	l.cross.Forward(p, st.norm2.R, st.cross, st.norm1.Y, memory, cross)
	l.norm2.Forward(p, st.norm2, st.norm1.Y, st.norm2.R, drops.at(1))
	l.ff.Forward(p, st.norm3.R, st.hidden, st.norm2.Y)
	l.norm3.Forward(p, st.norm3, st.norm2.Y, st.norm3.R, drops.at(2))
	return st.norm3.Y
}

// backward turns dx, the derivative of the layer's output, into that of its input x, and sets or adds to
// that of the memory.
func (l *decoderLayer) backward(p *mat.Pool, dx, dmemory mat.Matrix, g *gradients, st *decoderState, x, memory mat.Matrix, self, cross attn.Ragged, drops dropouts, howMemory mat.Product) {
	l.norm3.Backward(p, dx, g.sub, dx, st.norm3, drops.at(2))
	l.ff.Backward(p, dx, g.hidden, g.sub, st.hidden, st.norm2.Y, layer.Add)
	l.norm2.Backward(p, dx, g.sub, dx, st.norm2, drops.at(1))
	l.cross.Backward(p, dx, dmemory, g.cross, g.sub, st.cross, st.norm1.Y, memory, cross, layer.Add, howMemory)
	l.norm1.Backward(p, dx, g.sub, dx, st.norm1, drops.at(0))
	l.self.Backward(p, dx, g.self, g.sub, st.self, x, self, layer.Add)
}

// gradients are the derivatives that live only within one layer's backward: every layer of a stack uses the
// same memory.
type gradients struct {
	sub    mat.Matrix // [n × d] of a sublayer's result
	hidden mat.Matrix // [n × ff]
	self   attn.SelfState
	cross  attn.CrossState // in a decoder
}
