package model

import (
	"strconv"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// builder declares the parameters of one stack's layers, as the Config describes them.
type builder struct {
	Config
	ps    *layer.Params
	alpha float32
}

func (b builder) sizes() attn.Sizes {
	dk, dv := b.HeadSizes()
	return attn.Sizes{Model: b.DModel, Heads: b.Heads, DK: dk, DV: dv, NoBias: b.Biases == NoBiases || b.Biases == FeedForwardBiases}
}

func (b builder) norm(name string) layer.Norm {
	return layer.NewNorm(b.ps, name, b.DModel, b.NormEps, layer.NormKind(b.NormKind))
}

func (b builder) addNorm(name string) layer.AddNorm {
	return layer.AddNorm{Norm: b.norm(name), Alpha: b.alpha}
}

func (b builder) feedForward(name string) layer.FeedForward {
	linear := layer.NewLinear
	if b.Biases == NoBiases || b.Biases == AttentionBiases {
		linear = layer.NewLinearNoBias
	}
	return layer.FeedForward{
		Inner: linear(b.ps, name+".inner", b.DModel, b.DFF), Outer: linear(b.ps, name+".outer", b.DFF, b.DModel),
		Activation: activationFunctions[b.Activation],
	}
}

// LayerArgs is what one pass gives every layer of a stack beside its input. Without dropout it needs only
// the exported fields.
type LayerArgs struct {
	Pool  *mat.Pool
	Self  attn.Ragged // which tokens attend to which in self-attention; causal in the decoder
	Cross attn.Ragged // which target tokens attend to which source tokens, in the decoder
	drop  dropouts    // of this layer's sublayers
}

// forLayer returns the run of the forLayer whose first sublayer is the given place of dropout.
func (r LayerArgs) forLayer(site int) LayerArgs {
	r.drop = r.drop.skip(site)
	r.Self.Drop, r.Cross.Drop = r.drop.weightsAt(0), r.drop.weightsAt(1)
	return r
}

// EncoderLayer is one of the N layers on the left of figure 1 (section 3.1): self-attention and the
// feed-forward network, each with a residual connection and a norm.
type EncoderLayer struct {
	Self    attn.Self         // multi-head self-attention (section 3.2)
	Norm1   layer.AddNorm     // "Add & Norm" around Self
	FF      layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm2   layer.AddNorm     // "Add & Norm" around FF
	PreNorm bool              // norms before the sublayers, not after the residual connections
}

func (b builder) encoderLayer(i int) EncoderLayer {
	name := "encoder." + strconv.Itoa(i)
	return EncoderLayer{
		Self:    b.sizes().NewSelf(b.ps, name+".self"),
		Norm1:   b.addNorm(name + ".norm1"),
		FF:      b.feedForward(name + ".ff"),
		Norm2:   b.addNorm(name + ".norm2"),
		PreNorm: b.Norm == PreNorm,
	}
}

// EncoderAct holds the activations of an EncoderLayer. Forward leaves in it what its backward
// needs.
type EncoderAct struct {
	Self  attn.SelfAct
	Norm1 layer.NormAct
	FF    layer.FeedForwardAct
	Norm2 layer.NormAct
}

// Alloc takes the memory for n tokens, for Forward alone or for backward too.
func (l *EncoderLayer) Alloc(a *layer.Arena, n int, backward bool) EncoderAct {
	return EncoderAct{l.Self.Alloc(a, n), l.Norm1.Alloc(a, n), l.FF.Alloc(a, n, backward), l.Norm2.Alloc(a, n)}
}

// Forward returns the layer's output [n × d] for x [n × d].
//
//	post-norm, the paper's             pre-norm
//	x = norm1(x + dropout(self(x)))    x = x + dropout(self(norm1(x)))
//	x = norm2(x + dropout(ff(x)))      x = x + dropout(ff(norm2(x)))
func (l *EncoderLayer) Forward(r LayerArgs, act *EncoderAct, x mat.Matrix) mat.Matrix {
	if l.PreNorm {
		h := l.Norm1.Norm.Forward(r.Pool, &act.Norm1, x)
		h = l.Self.Forward(r.Pool, &act.Self, h, r.Self)
		x = layer.Residual(r.Pool, x, h, r.drop.at(0))

		h = l.Norm2.Norm.Forward(r.Pool, &act.Norm2, x)
		h = l.FF.Forward(r.Pool, &act.FF, h, r.drop.innerAt(1))
		return layer.Residual(r.Pool, x, h, r.drop.at(1))
	}
	h := l.Self.Forward(r.Pool, &act.Self, x, r.Self)
	x = l.Norm1.Forward(r.Pool, &act.Norm1, x, h, r.drop.at(0))

	h = l.FF.Forward(r.Pool, &act.FF, x, r.drop.innerAt(1))
	return l.Norm2.Forward(r.Pool, &act.Norm2, x, h, r.drop.at(1))
}

// backward turns dx, the derivative of Forward's result, into that of x: Forward's lines in
// reverse. dx is also the derivative of each residual connection's x, to which its sublayer adds.
func (l *EncoderLayer) backward(r LayerArgs, dx mat.Matrix, act *EncoderAct, g *layerGrad) {
	if l.PreNorm {
		// x = x + dropout(ff(norm2(x)))
		layer.ResidualBackward(r.Pool, g.dh, dx, r.drop.at(1))
		l.FF.Backward(r.Pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm2.Norm.Backward(r.Pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		layer.ResidualBackward(r.Pool, g.dh, dx, r.drop.at(0))
		l.Self.Backward(r.Pool, g.dh, g.dh, &act.Self, &g.self, layer.Set)
		l.Norm1.Norm.Backward(r.Pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm2(x + dropout(ff(x)))
	l.Norm2.Backward(r.Pool, dx, g.dh, dx, &act.Norm2)
	l.FF.Backward(r.Pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(r.Pool, dx, g.dh, dx, &act.Norm1)
	l.Self.Backward(r.Pool, dx, g.dh, &act.Self, &g.self, layer.Add)
}

// DecoderLayer is one of the N layers on the right of figure 1 (section 3.1): self-attention that
// sees no later position, attention to the encoder's output, and the feed-forward network, each
// with a residual connection and a norm.
type DecoderLayer struct {
	Self    attn.Self         // masked multi-head self-attention (sections 3.1, 3.2.3)
	Norm1   layer.AddNorm     // "Add & Norm" around Self
	Cross   attn.Cross        // queries from the decoder, keys and values from the encoder (section 3.2.3)
	Norm2   layer.AddNorm     // "Add & Norm" around Cross
	FF      layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm3   layer.AddNorm     // "Add & Norm" around FF
	PreNorm bool              // norms before the sublayers, not after the residual connections
}

func (b builder) decoderLayer(i int) DecoderLayer {
	name := "decoder." + strconv.Itoa(i)
	return DecoderLayer{
		Self:    b.sizes().NewSelf(b.ps, name+".self"),
		Norm1:   b.addNorm(name + ".norm1"),
		Cross:   b.sizes().NewCross(b.ps, name+".cross"),
		Norm2:   b.addNorm(name + ".norm2"),
		FF:      b.feedForward(name + ".ff"),
		Norm3:   b.addNorm(name + ".norm3"),
		PreNorm: b.Norm == PreNorm,
	}
}

// DecoderAct holds the activations of a DecoderLayer. Forward leaves in it what its backward needs.
type DecoderAct struct {
	Self  attn.SelfAct
	Norm1 layer.NormAct
	Cross attn.CrossAct
	Norm2 layer.NormAct
	FF    layer.FeedForwardAct
	Norm3 layer.NormAct
}

// Alloc takes the memory for n target and m source tokens, for Forward alone or for backward too.
func (l *DecoderLayer) Alloc(a *layer.Arena, n, m int, backward bool) DecoderAct {
	return DecoderAct{
		l.Self.Alloc(a, n), l.Norm1.Alloc(a, n),
		l.Cross.Alloc(a, n, m), l.Norm2.Alloc(a, n),
		l.FF.Alloc(a, n, backward), l.Norm3.Alloc(a, n),
	}
}

// Forward returns the layer's output [n × d] for x [n × d] and the encoder's output, memory
// [m × d].
//
//	post-norm, the paper's                      pre-norm
//	x = norm1(x + dropout(self(x)))             x = x + dropout(self(norm1(x)))
//	x = norm2(x + dropout(cross(x, memory)))    x = x + dropout(cross(norm2(x), memory))
//	x = norm3(x + dropout(ff(x)))               x = x + dropout(ff(norm3(x)))
func (l *DecoderLayer) Forward(r LayerArgs, act *DecoderAct, x, memory mat.Matrix) mat.Matrix {
	if l.PreNorm {
		h := l.Norm1.Norm.Forward(r.Pool, &act.Norm1, x)
		h = l.Self.Forward(r.Pool, &act.Self, h, r.Self)
		x = layer.Residual(r.Pool, x, h, r.drop.at(0))

		h = l.Norm2.Norm.Forward(r.Pool, &act.Norm2, x)
		h = l.Cross.Forward(r.Pool, &act.Cross, h, memory, r.Cross)
		x = layer.Residual(r.Pool, x, h, r.drop.at(1))

		h = l.Norm3.Norm.Forward(r.Pool, &act.Norm3, x)
		h = l.FF.Forward(r.Pool, &act.FF, h, r.drop.innerAt(2))
		return layer.Residual(r.Pool, x, h, r.drop.at(2))
	}
	h := l.Self.Forward(r.Pool, &act.Self, x, r.Self)
	x = l.Norm1.Forward(r.Pool, &act.Norm1, x, h, r.drop.at(0))

	h = l.Cross.Forward(r.Pool, &act.Cross, x, memory, r.Cross)
	x = l.Norm2.Forward(r.Pool, &act.Norm2, x, h, r.drop.at(1))

	h = l.FF.Forward(r.Pool, &act.FF, x, r.drop.innerAt(2))
	return l.Norm3.Forward(r.Pool, &act.Norm3, x, h, r.drop.at(2))
}

// backward turns dx, the derivative of Forward's result, into that of x, and adds to that of the
// memory, g.cross.Memory: Forward's lines in reverse.
func (l *DecoderLayer) backward(r LayerArgs, dx mat.Matrix, act *DecoderAct, g *layerGrad) {
	if l.PreNorm {
		// x = x + dropout(ff(norm3(x)))
		layer.ResidualBackward(r.Pool, g.dh, dx, r.drop.at(2))
		l.FF.Backward(r.Pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm3.Norm.Backward(r.Pool, dx, g.dh, &act.Norm3, layer.Add)

		// x = x + dropout(cross(norm2(x), memory))
		layer.ResidualBackward(r.Pool, g.dh, dx, r.drop.at(1))
		l.Cross.Backward(r.Pool, g.dh, g.dh, &act.Cross, &g.cross, layer.Set)
		l.Norm2.Norm.Backward(r.Pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		layer.ResidualBackward(r.Pool, g.dh, dx, r.drop.at(0))
		l.Self.Backward(r.Pool, g.dh, g.dh, &act.Self, &g.self, layer.Set)
		l.Norm1.Norm.Backward(r.Pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm3(x + dropout(ff(x)))
	l.Norm3.Backward(r.Pool, dx, g.dh, dx, &act.Norm3)
	l.FF.Backward(r.Pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm2(x + dropout(cross(x, memory)))
	l.Norm2.Backward(r.Pool, dx, g.dh, dx, &act.Norm2)
	l.Cross.Backward(r.Pool, dx, g.dh, &act.Cross, &g.cross, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(r.Pool, dx, g.dh, dx, &act.Norm1)
	l.Self.Backward(r.Pool, dx, g.dh, &act.Self, &g.self, layer.Add)
}

// layerGrad holds the derivatives that exist only within one layer's backward; every layer of a
// stack uses the same memory.
type layerGrad struct {
	dh     mat.Matrix // [n × d] of h in Forward
	hidden mat.Matrix // [n × ff]
	self   attn.SelfGrad
	cross  attn.CrossGrad // in a decoder
}
