package model

import (
	"strconv"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// builder declares the layers of one stack.
type builder struct {
	Config
	ps    *layer.Params
	alpha float32 // factor of the residuals, see Config.DeepNormScales
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

// LayerArgs holds the arguments of a pass that all layers of a stack share. The exported fields are
// enough for a pass without dropout.
type LayerArgs struct {
	Pool  *mat.Pool
	Self  attn.Ragged // sentences of the queries and keys of self-attention; causal in the decoder
	Cross attn.Ragged // sentences of the queries and keys of cross-attention; decoder only
	drop  dropouts    // site 0 is the layer's first sublayer
}

// forLayer returns the arguments of the layer whose first sublayer has the given dropout site.
func (a LayerArgs) forLayer(site int) LayerArgs {
	a.drop = a.drop.skip(site)
	a.Self.Drop, a.Cross.Drop = a.drop.weightsAt(0), a.drop.weightsAt(1)
	return a
}

// EncoderLayer is one of the N layers on the left of figure 1 (section 3.1): self-attention and the
// feed-forward network, each with a residual connection and a norm.
type EncoderLayer struct {
	Self    attn.Self         // multi-head self-attention (section 3.2)
	Norm1   layer.AddNorm     // "Add & Norm" around Self
	FF      layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm2   layer.AddNorm     // "Add & Norm" around FF
	PreNorm bool              // normalize the input of each sublayer, not the sum with its output
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

// EncoderAct holds the activations of an EncoderLayer, which Forward sets and backward reads.
type EncoderAct struct {
	Self  attn.SelfAct
	Norm1 layer.NormAct
	FF    layer.FeedForwardAct
	Norm2 layer.NormAct
}

// Alloc allocates the activations of n tokens. backward is false if only Forward runs.
func (l *EncoderLayer) Alloc(a *layer.Arena, n int, backward bool) EncoderAct {
	return EncoderAct{l.Self.Alloc(a, n), l.Norm1.Alloc(a, n), l.FF.Alloc(a, n, backward), l.Norm2.Alloc(a, n)}
}

// Forward returns the layer's output [n × d] for x [n × d].
//
//	post-norm, the paper's             pre-norm
//	x = norm1(x + dropout(self(x)))    x = x + dropout(self(norm1(x)))
//	x = norm2(x + dropout(ff(x)))      x = x + dropout(ff(norm2(x)))
func (l *EncoderLayer) Forward(args LayerArgs, act *EncoderAct, x mat.Matrix) mat.Matrix {
	if l.PreNorm {
		h := l.Norm1.Norm.Forward(args.Pool, &act.Norm1, x)
		h = l.Self.Forward(args.Pool, &act.Self, h, args.Self)
		x = layer.Residual(args.Pool, x, h, args.drop.at(0))

		h = l.Norm2.Norm.Forward(args.Pool, &act.Norm2, x)
		h = l.FF.Forward(args.Pool, &act.FF, h, args.drop.innerAt(1))
		return layer.Residual(args.Pool, x, h, args.drop.at(1))
	}
	h := l.Self.Forward(args.Pool, &act.Self, x, args.Self)
	x = l.Norm1.Forward(args.Pool, &act.Norm1, x, h, args.drop.at(0))

	h = l.FF.Forward(args.Pool, &act.FF, x, args.drop.innerAt(1))
	return l.Norm2.Forward(args.Pool, &act.Norm2, x, h, args.drop.at(1))
}

// backward is Forward's lines in reverse. On entry dx is the gradient of the result, on return that
// of x. Through a residual connection dx is also the gradient of its x, so the sublayer's
// backward adds to it.
func (l *EncoderLayer) backward(args LayerArgs, dx mat.Matrix, act *EncoderAct, g *layerGrad) {
	if l.PreNorm {
		// x = x + dropout(ff(norm2(x)))
		layer.ResidualBackward(args.Pool, g.dh, dx, args.drop.at(1))
		l.FF.Backward(args.Pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm2.Norm.Backward(args.Pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		layer.ResidualBackward(args.Pool, g.dh, dx, args.drop.at(0))
		l.Self.Backward(args.Pool, g.dh, g.dh, &act.Self, &g.self, layer.Set)
		l.Norm1.Norm.Backward(args.Pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm2(x + dropout(ff(x)))
	l.Norm2.Backward(args.Pool, dx, g.dh, dx, &act.Norm2) // dy is dx on entry
	l.FF.Backward(args.Pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(args.Pool, dx, g.dh, dx, &act.Norm1)
	l.Self.Backward(args.Pool, dx, g.dh, &act.Self, &g.self, layer.Add)
}

// DecoderLayer is one of the N layers on the right of figure 1 (section 3.1): masked
// self-attention, attention to the encoder's output, and the feed-forward network, each with a
// residual connection and a norm.
type DecoderLayer struct {
	Self    attn.Self         // masked multi-head self-attention (sections 3.1, 3.2.3)
	Norm1   layer.AddNorm     // "Add & Norm" around Self
	Cross   attn.Cross        // encoder-decoder attention (section 3.2.3)
	Norm2   layer.AddNorm     // "Add & Norm" around Cross
	FF      layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm3   layer.AddNorm     // "Add & Norm" around FF
	PreNorm bool              // normalize the input of each sublayer, not the sum with its output
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

// DecoderAct holds the activations of a DecoderLayer, which Forward sets and backward reads.
type DecoderAct struct {
	Self  attn.SelfAct
	Norm1 layer.NormAct
	Cross attn.CrossAct
	Norm2 layer.NormAct
	FF    layer.FeedForwardAct
	Norm3 layer.NormAct
}

// Alloc allocates the activations of n target and m source tokens. backward is false if only
// Forward runs.
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
func (l *DecoderLayer) Forward(args LayerArgs, act *DecoderAct, x, memory mat.Matrix) mat.Matrix {
	if l.PreNorm {
		h := l.Norm1.Norm.Forward(args.Pool, &act.Norm1, x)
		h = l.Self.Forward(args.Pool, &act.Self, h, args.Self)
		x = layer.Residual(args.Pool, x, h, args.drop.at(0))

		h = l.Norm2.Norm.Forward(args.Pool, &act.Norm2, x)
		h = l.Cross.Forward(args.Pool, &act.Cross, h, memory, args.Cross)
		x = layer.Residual(args.Pool, x, h, args.drop.at(1))

		h = l.Norm3.Norm.Forward(args.Pool, &act.Norm3, x)
		h = l.FF.Forward(args.Pool, &act.FF, h, args.drop.innerAt(2))
		return layer.Residual(args.Pool, x, h, args.drop.at(2))
	}
	h := l.Self.Forward(args.Pool, &act.Self, x, args.Self)
	x = l.Norm1.Forward(args.Pool, &act.Norm1, x, h, args.drop.at(0))

	h = l.Cross.Forward(args.Pool, &act.Cross, x, memory, args.Cross)
	x = l.Norm2.Forward(args.Pool, &act.Norm2, x, h, args.drop.at(1))

	h = l.FF.Forward(args.Pool, &act.FF, x, args.drop.innerAt(2))
	return l.Norm3.Forward(args.Pool, &act.Norm3, x, h, args.drop.at(2))
}

// backward is Forward's lines in reverse. On entry dx is the gradient of the result, on return that
// of x. It adds to g.cross.Memory, the gradient of memory.
func (l *DecoderLayer) backward(args LayerArgs, dx mat.Matrix, act *DecoderAct, g *layerGrad) {
	if l.PreNorm {
		// x = x + dropout(ff(norm3(x)))
		layer.ResidualBackward(args.Pool, g.dh, dx, args.drop.at(2))
		l.FF.Backward(args.Pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm3.Norm.Backward(args.Pool, dx, g.dh, &act.Norm3, layer.Add)

		// x = x + dropout(cross(norm2(x), memory))
		layer.ResidualBackward(args.Pool, g.dh, dx, args.drop.at(1))
		l.Cross.Backward(args.Pool, g.dh, g.dh, &act.Cross, &g.cross, layer.Set)
		l.Norm2.Norm.Backward(args.Pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		layer.ResidualBackward(args.Pool, g.dh, dx, args.drop.at(0))
		l.Self.Backward(args.Pool, g.dh, g.dh, &act.Self, &g.self, layer.Set)
		l.Norm1.Norm.Backward(args.Pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm3(x + dropout(ff(x)))
	l.Norm3.Backward(args.Pool, dx, g.dh, dx, &act.Norm3) // dy is dx on entry
	l.FF.Backward(args.Pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm2(x + dropout(cross(x, memory)))
	l.Norm2.Backward(args.Pool, dx, g.dh, dx, &act.Norm2)
	l.Cross.Backward(args.Pool, dx, g.dh, &act.Cross, &g.cross, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(args.Pool, dx, g.dh, dx, &act.Norm1)
	l.Self.Backward(args.Pool, dx, g.dh, &act.Self, &g.self, layer.Add)
}

// layerGrad is the workspace of a layer's backward. All layers of a stack share one.
type layerGrad struct {
	dh     mat.Matrix // [n × d] gradient of h in Forward
	hidden mat.Matrix // [n × ff] gradient of the feed-forward network's hidden layer
	self   attn.SelfGrad
	cross  attn.CrossGrad // decoder only
}
