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
	ps       *layer.Params
	residual layer.Residual // see Config.DeepNormScales
}

func (b builder) sizes() attn.Sizes {
	dk, dv := b.HeadSizes()
	return attn.Sizes{Model: b.DModel, Heads: b.Heads, DK: dk, DV: dv, NoBias: b.Biases == NoBiases || b.Biases == FeedForwardBiases}
}

func (b builder) norm(name string) layer.Norm {
	return layer.NewNorm(b.ps, name, b.DModel, b.NormEps, layer.NormKind(b.NormKind))
}

func (b builder) feedForward(name string) layer.FeedForward {
	linear := layer.NewLinear
	if b.Biases == NoBiases || b.Biases == AttentionBiases {
		linear = layer.NewLinearNoBias
	}
	return layer.FeedForward{
		Inner: linear(b.ps, name+".inner", b.DModel, b.DFF), Outer: linear(b.ps, name+".outer", b.DFF, b.DModel),
		Activation: b.Activation.Function(),
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
	Self     attn.Self         // multi-head self-attention (section 3.2)
	Norm1    layer.Norm        // of Self
	FF       layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm2    layer.Norm        // of FF
	Residual layer.Residual    // around each sublayer
	PreNorm  bool              // normalize the input of each sublayer, not the sum with its output
}

func (b builder) encoderLayer(i int) EncoderLayer {
	name := "encoder." + strconv.Itoa(i)
	return EncoderLayer{
		Self:     b.sizes().NewSelf(b.ps, name+".self"),
		Norm1:    b.norm(name + ".norm1"),
		FF:       b.feedForward(name + ".ff"),
		Norm2:    b.norm(name + ".norm2"),
		Residual: b.residual,
		PreNorm:  b.Norm == PreNorm,
	}
}

// EncoderAct holds the activations of an EncoderLayer, which Forward sets and Backward reads.
type EncoderAct struct {
	Self         attn.SelfAct
	FF           layer.FeedForwardAct
	Norm1, Norm2 layer.NormAct
	Res1, Res2   layer.ResidualAct
}

// Alloc allocates the activations of n tokens. backward is false if only Forward runs.
func (l *EncoderLayer) Alloc(a *layer.Arena, n int, backward bool) EncoderAct {
	return EncoderAct{
		Self: l.Self.Alloc(a, n), FF: l.FF.Alloc(a, n, backward),
		Norm1: l.Norm1.Alloc(a, n), Norm2: l.Norm2.Alloc(a, n),
	}
}

// Forward returns the layer's output [n × d] for x [n × d].
//
//	post-norm, the paper's             pre-norm
//	x = norm1(x + dropout(self(x)))    x = x + dropout(self(norm1(x)))
//	x = norm2(x + dropout(ff(x)))      x = x + dropout(ff(norm2(x)))
func (l *EncoderLayer) Forward(args LayerArgs, act *EncoderAct, x mat.Matrix) mat.Matrix {
	if l.PreNorm {
		h := l.Norm1.Forward(args.Pool, &act.Norm1, x)
		h = l.Self.Forward(args.Pool, &act.Self, h, args.Self)
		x = l.Residual.Forward(args.Pool, &act.Res1, x, h, args.drop.at(0))

		h = l.Norm2.Forward(args.Pool, &act.Norm2, x)
		h = l.FF.Forward(args.Pool, &act.FF, h, args.drop.innerAt(1))
		return l.Residual.Forward(args.Pool, &act.Res2, x, h, args.drop.at(1))
	}
	h := l.Self.Forward(args.Pool, &act.Self, x, args.Self)
	h = l.Residual.Forward(args.Pool, &act.Res1, x, h, args.drop.at(0))
	x = l.Norm1.Forward(args.Pool, &act.Norm1, h)

	h = l.FF.Forward(args.Pool, &act.FF, x, args.drop.innerAt(1))
	h = l.Residual.Forward(args.Pool, &act.Res2, x, h, args.drop.at(1))
	return l.Norm2.Forward(args.Pool, &act.Norm2, h)
}

// Backward is Forward's lines in reverse. On entry dx [n × d] is the gradient of the result, on
// return that of x. Through a residual connection dx is also the gradient of its x, so the
// sublayer's Backward adds to it.
func (l *EncoderLayer) Backward(pool *mat.Pool, dx mat.Matrix, act *EncoderAct, g *LayerGrad) {
	if l.PreNorm {
		// x = x + dropout(ff(norm2(x)))
		l.Residual.Backward(pool, g.dh, dx, &act.Res2)
		l.FF.Backward(pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm2.Backward(pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		l.Residual.Backward(pool, g.dh, dx, &act.Res1)
		l.Self.Backward(pool, g.dh, g.dh, &act.Self, &g.self, layer.Set)
		l.Norm1.Backward(pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm2(x + dropout(ff(x)))
	l.Norm2.Backward(pool, dx, dx, &act.Norm2, layer.Set)
	l.Residual.Backward(pool, g.dh, dx, &act.Res2)
	l.FF.Backward(pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(pool, dx, dx, &act.Norm1, layer.Set)
	l.Residual.Backward(pool, g.dh, dx, &act.Res1)
	l.Self.Backward(pool, dx, g.dh, &act.Self, &g.self, layer.Add)
}

// DecoderLayer is one of the N layers on the right of figure 1 (section 3.1): masked
// self-attention or an SSRU, attention to the encoder's output, and the feed-forward network, each
// with a residual connection and a norm.
type DecoderLayer struct {
	Self     attn.Self         // masked multi-head self-attention (sections 3.1, 3.2.3)
	SSRU     *layer.SSRU       // in the place of Self; nil if the layer has Self
	Norm1    layer.Norm        // of Self
	Cross    attn.Cross        // encoder-decoder attention (section 3.2.3)
	Norm2    layer.Norm        // of Cross
	FF       layer.FeedForward // position-wise feed-forward network (section 3.3)
	Norm3    layer.Norm        // of FF
	Residual layer.Residual    // around each sublayer
	PreNorm  bool              // normalize the input of each sublayer, not the sum with its output
}

func (b builder) decoderLayer(i int) DecoderLayer {
	name := "decoder." + strconv.Itoa(i)
	self, ssru := b.autoreg(name)
	return DecoderLayer{
		Self: self, SSRU: ssru,
		Norm1:    b.norm(name + ".norm1"),
		Cross:    b.sizes().NewCross(b.ps, name+".cross"),
		Norm2:    b.norm(name + ".norm2"),
		FF:       b.feedForward(name + ".ff"),
		Norm3:    b.norm(name + ".norm3"),
		Residual: b.residual,
		PreNorm:  b.Norm == PreNorm,
	}
}

// autoreg declares the first sublayer of a decoder layer.
func (b builder) autoreg(name string) (attn.Self, *layer.SSRU) {
	if b.Autoreg == SSRU {
		ssru := layer.NewSSRU(b.ps, name+".ssru", b.DModel)
		return attn.Self{}, &ssru
	}
	return b.sizes().NewSelf(b.ps, name+".self"), nil
}

// DecoderAct holds the activations of a DecoderLayer, which Forward sets and Backward reads.
type DecoderAct struct {
	Self                attn.SelfAct
	SSRU                layer.SSRUAct
	Cross               attn.CrossAct
	FF                  layer.FeedForwardAct
	Norm1, Norm2, Norm3 layer.NormAct
	Res1, Res2, Res3    layer.ResidualAct
}

// Alloc allocates the activations of n target and m source tokens. backward is false if only
// Forward runs.
func (l *DecoderLayer) Alloc(a *layer.Arena, n, m int, backward bool) DecoderAct {
	act := DecoderAct{
		Cross: l.Cross.Alloc(a, n, m), FF: l.FF.Alloc(a, n, backward),
		Norm1: l.Norm1.Alloc(a, n), Norm2: l.Norm2.Alloc(a, n), Norm3: l.Norm3.Alloc(a, n),
	}
	if l.SSRU != nil {
		act.SSRU = l.SSRU.Alloc(a, n)
	} else {
		act.Self = l.Self.Alloc(a, n)
	}
	return act
}

// autoreg is the first sublayer: self-attention or the SSRU in its place.
func (l *DecoderLayer) autoreg(args LayerArgs, act *DecoderAct, x mat.Matrix) mat.Matrix {
	if l.SSRU != nil {
		return l.SSRU.Forward(args.Pool, &act.SSRU, x, args.Self.QStarts)
	}
	return l.Self.Forward(args.Pool, &act.Self, x, args.Self)
}

// autoregBackward sets or adds to dx [n × d] for dy [n × d], which it may overwrite.
func (l *DecoderLayer) autoregBackward(pool *mat.Pool, dx, dy mat.Matrix, act *DecoderAct, g *LayerGrad, mode layer.Mode) {
	if l.SSRU != nil {
		l.SSRU.Backward(pool, dx, dy, &act.SSRU, g.ssru, mode)
		return
	}
	l.Self.Backward(pool, dx, dy, &act.Self, &g.self, mode)
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
		h := l.Norm1.Forward(args.Pool, &act.Norm1, x)
		h = l.autoreg(args, act, h)
		x = l.Residual.Forward(args.Pool, &act.Res1, x, h, args.drop.at(0))

		h = l.Norm2.Forward(args.Pool, &act.Norm2, x)
		h = l.Cross.Forward(args.Pool, &act.Cross, h, memory, args.Cross)
		x = l.Residual.Forward(args.Pool, &act.Res2, x, h, args.drop.at(1))

		h = l.Norm3.Forward(args.Pool, &act.Norm3, x)
		h = l.FF.Forward(args.Pool, &act.FF, h, args.drop.innerAt(2))
		return l.Residual.Forward(args.Pool, &act.Res3, x, h, args.drop.at(2))
	}
	h := l.autoreg(args, act, x)
	h = l.Residual.Forward(args.Pool, &act.Res1, x, h, args.drop.at(0))
	x = l.Norm1.Forward(args.Pool, &act.Norm1, h)

	h = l.Cross.Forward(args.Pool, &act.Cross, x, memory, args.Cross)
	h = l.Residual.Forward(args.Pool, &act.Res2, x, h, args.drop.at(1))
	x = l.Norm2.Forward(args.Pool, &act.Norm2, h)

	h = l.FF.Forward(args.Pool, &act.FF, x, args.drop.innerAt(2))
	h = l.Residual.Forward(args.Pool, &act.Res3, x, h, args.drop.at(2))
	return l.Norm3.Forward(args.Pool, &act.Norm3, h)
}

// Backward is Forward's lines in reverse. On entry dx [n × d] is the gradient of the result, on
// return that of x. It adds to dmemory [m × d], the gradient of memory.
func (l *DecoderLayer) Backward(pool *mat.Pool, dx, dmemory mat.Matrix, act *DecoderAct, g *LayerGrad) {
	g.cross.Memory = dmemory
	if l.PreNorm {
		// x = x + dropout(ff(norm3(x)))
		l.Residual.Backward(pool, g.dh, dx, &act.Res3)
		l.FF.Backward(pool, g.dh, g.dh, &act.FF, g.hidden, layer.Set)
		l.Norm3.Backward(pool, dx, g.dh, &act.Norm3, layer.Add)

		// x = x + dropout(cross(norm2(x), memory))
		l.Residual.Backward(pool, g.dh, dx, &act.Res2)
		l.Cross.Backward(pool, g.dh, g.dh, &act.Cross, &g.cross, layer.Set)
		l.Norm2.Backward(pool, dx, g.dh, &act.Norm2, layer.Add)

		// x = x + dropout(self(norm1(x)))
		l.Residual.Backward(pool, g.dh, dx, &act.Res1)
		l.autoregBackward(pool, g.dh, g.dh, act, g, layer.Set)
		l.Norm1.Backward(pool, dx, g.dh, &act.Norm1, layer.Add)
		return
	}
	// x = norm3(x + dropout(ff(x)))
	l.Norm3.Backward(pool, dx, dx, &act.Norm3, layer.Set)
	l.Residual.Backward(pool, g.dh, dx, &act.Res3)
	l.FF.Backward(pool, dx, g.dh, &act.FF, g.hidden, layer.Add)

	// x = norm2(x + dropout(cross(x, memory)))
	l.Norm2.Backward(pool, dx, dx, &act.Norm2, layer.Set)
	l.Residual.Backward(pool, g.dh, dx, &act.Res2)
	l.Cross.Backward(pool, dx, g.dh, &act.Cross, &g.cross, layer.Add)

	// x = norm1(x + dropout(self(x)))
	l.Norm1.Backward(pool, dx, dx, &act.Norm1, layer.Set)
	l.Residual.Backward(pool, g.dh, dx, &act.Res1)
	l.autoregBackward(pool, dx, g.dh, act, g, layer.Add)
}

// LayerGrad is the workspace of a layer's Backward. All layers of a stack may share one.
type LayerGrad struct {
	dh     mat.Matrix // [n × d] gradient of h in Forward
	hidden mat.Matrix // [n × ff] gradient of the feed-forward network's hidden layer
	self   attn.SelfGrad
	ssru   mat.Matrix     // [n × 2d] decoder only, without self
	cross  attn.CrossGrad // decoder only
}

// AllocGrad allocates the workspace of Backward for n tokens.
func (l *EncoderLayer) AllocGrad(a *layer.Arena, n int) LayerGrad {
	return LayerGrad{dh: a.Matrix(n, l.Self.Model), hidden: l.FF.AllocGrad(a, n), self: l.Self.AllocGrad(a, n)}
}

// AllocGrad allocates the workspace of Backward for n target and m source tokens.
func (l *DecoderLayer) AllocGrad(a *layer.Arena, n, m int) LayerGrad {
	g := LayerGrad{dh: a.Matrix(n, l.Cross.Model), hidden: l.FF.AllocGrad(a, n), cross: l.Cross.AllocGrad(a, n, m)}
	if l.SSRU != nil {
		g.ssru = l.SSRU.AllocGrad(a, n)
	} else {
		g.self = l.Self.AllocGrad(a, n)
	}
	return g
}
