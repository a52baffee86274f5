package attn

import (
	"tfm/layer"
	"tfm/mat"
)

// Sizes are the sizes of multi-head attention (section 3.2.2).
type Sizes struct {
	Model  int  // d_model
	Heads  int  // h
	DK, DV int  // d_k and d_v, the elements of a query or key and of a value in a head
	NoBias bool // linear maps without biases
}

// keyWidth and valueWidth return h·d_k and h·d_v, the widths of all heads together.
func (s Sizes) keyWidth() int   { return s.Heads * s.DK }
func (s Sizes) valueWidth() int { return s.Heads * s.DV }

// linear declares linear maps side by side, with the given numbers of columns.
func (s Sizes) linear(ps *layer.Params, name string, in int, maps ...int) layer.Linear {
	out := 0
	for _, n := range maps {
		out += n
	}
	declare := layer.NewLinear
	if s.NoBias {
		declare = layer.NewLinearNoBias
	}
	l := declare(ps, name, in, out)
	l.W.Maps = maps
	return l
}

// Self is multi-head self-attention (section 3.2.2), MultiHead(X, X, X), with a bias b in each
// linear map unless Sizes.NoBias. The projections W^Q, W^K and W^V of all heads are one matrix
// [d × (2h·d_k + h·d_v)], so that one product computes all queries, keys and values.
type Self struct {
	QKV layer.Linear // d → 2h·d_k + h·d_v: [W^Q W^K W^V]
	Out layer.Linear // h·d_v → d: W^O
	Sizes
}

// NewSelf declares the linear maps as name.qkv and name.out.
func (s Sizes) NewSelf(ps *layer.Params, name string) Self {
	return Self{
		QKV:   s.linear(ps, name+".qkv", s.Model, s.keyWidth(), s.keyWidth(), s.valueWidth()),
		Out:   s.linear(ps, name+".out", s.valueWidth(), s.Model),
		Sizes: s,
	}
}

// In returns l with the products of its linear maps in precision r. It shares the weights. Scaled
// dot-product attention stays float32.
func (l Self) In(r layer.Precision) Self {
	l.QKV, l.Out = l.QKV.In(r), l.Out.In(r)
	return l
}

// SelfAct holds the activations of a Self, which Forward sets and Backward reads.
type SelfAct struct {
	X      mat.Matrix // [n × d] Forward's input, in the caller's memory
	QKV    mat.Matrix // [n × (2h·d_k + h·d_v)] X·[W^Q W^K W^V] + b
	Ctx    mat.Matrix // [n × h·d_v] Concat(head_1 … head_h)
	Out    mat.Matrix // [n × d] Ctx·W^O + b, until the residual adds its input in place
	ragged Ragged
}

// SelfGrad is the workspace of Self.Backward: gradients of the activations of the same names.
type SelfGrad struct{ QKV, Ctx mat.Matrix }

// Alloc allocates the activations of n tokens.
func (l Self) Alloc(a *layer.Arena, n int) SelfAct {
	return SelfAct{QKV: a.Matrix(n, 2*l.keyWidth()+l.valueWidth()), Ctx: a.Matrix(n, l.valueWidth()), Out: a.Matrix(n, l.Model)}
}

// AllocGrad allocates the workspace of Backward for n tokens.
func (l Self) AllocGrad(a *layer.Arena, n int) SelfGrad {
	return SelfGrad{a.Matrix(n, 2*l.keyWidth()+l.valueWidth()), a.Matrix(n, l.valueWidth())}
}

// Forward returns act.Out [n × d] = Concat(head_1 … head_h)·W^O + b for x [n × d].
func (l Self) Forward(pool *mat.Pool, act *SelfAct, x mat.Matrix, r Ragged) mat.Matrix {
	act.X, act.ragged = x, r
	l.QKV.Forward(pool, act.QKV, x)
	ScaledDotProductHeads(pool, act.Ctx, l.split(act.QKV), l.Heads, r)
	l.Out.Forward(pool, act.Out, act.Ctx)
	return act.Out
}

// Backward sets or adds to dx [n × d] for dy [n × d] and the activations of Forward. With mode
// Set dx may be dy.
func (l Self) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *SelfAct, g *SelfGrad, mode layer.Mode) {
	// y = ctx·W^O + b
	l.Out.Backward(pool, g.Ctx, dy, act.Ctx, layer.Set)

	// ctx = Attention(Q, K, V) of each head
	ScaledDotProductHeadsGrad(pool, l.split(g.QKV), g.Ctx, l.split(act.QKV), l.Heads, act.ragged)

	// [Q K V] = x·[W^Q W^K W^V] + b
	l.QKV.Backward(pool, dx, g.QKV, act.X, mode)
}

// split views the columns of qkv as queries, keys and values.
func (s Sizes) split(qkv mat.Matrix) Inputs {
	k := s.keyWidth()
	return Inputs{qkv.ColRange(0, k), qkv.ColRange(k, 2*k), qkv.ColRange(2*k, qkv.Cols)}
}

// Cross is multi-head attention of the decoder to the encoder's output (section 3.2.3),
// MultiHead(X, M, M), for X [n × d] of the target and the memory M [m × d] of the source, with
// biases as in Self.
type Cross struct {
	Q   layer.Linear // d → h·d_k: W^Q
	KV  layer.Linear // d → h·d_k + h·d_v: [W^K W^V]
	Out layer.Linear // h·d_v → d: W^O
	Sizes
}

// NewCross declares the linear maps as name.q, name.kv and name.out.
func (s Sizes) NewCross(ps *layer.Params, name string) Cross {
	return Cross{
		Q:     s.linear(ps, name+".q", s.Model, s.keyWidth()),
		KV:    s.linear(ps, name+".kv", s.Model, s.keyWidth(), s.valueWidth()),
		Out:   s.linear(ps, name+".out", s.valueWidth(), s.Model),
		Sizes: s,
	}
}

// In returns l in precision r, as Self.In does.
func (l Cross) In(r layer.Precision) Cross {
	l.Q, l.KV, l.Out = l.Q.In(r), l.KV.In(r), l.Out.In(r)
	return l
}

// CrossAct holds the activations of a Cross, which Forward sets and Backward reads.
type CrossAct struct {
	X, Memory mat.Matrix // [n × d], [m × d] Forward's inputs, in the caller's memory
	Q         mat.Matrix // [n × h·d_k] X·W^Q + b
	KV        mat.Matrix // [m × (h·d_k + h·d_v)] Memory·[W^K W^V] + b
	Ctx       mat.Matrix // [n × h·d_v] Concat(head_1 … head_h)
	Out       mat.Matrix // [n × d] Ctx·W^O + b, until the residual adds its input in place
	ragged    Ragged
}

// CrossGrad is the workspace of Cross.Backward, gradients of the activations of the same names, and
// the gradient of the memory.
type CrossGrad struct {
	Q, KV, Ctx mat.Matrix
	Memory     mat.Matrix // [m × d] accumulates over the layers of the decoder
}

// Alloc allocates the activations of n target and m source tokens.
func (l Cross) Alloc(a *layer.Arena, n, m int) CrossAct {
	return CrossAct{Q: a.Matrix(n, l.keyWidth()), KV: a.Matrix(m, l.keyWidth()+l.valueWidth()), Ctx: a.Matrix(n, l.valueWidth()), Out: a.Matrix(n, l.Model)}
}

// AllocGrad allocates the workspace of Backward for n target and m source tokens. The caller sets
// Memory.
func (l Cross) AllocGrad(a *layer.Arena, n, m int) CrossGrad {
	return CrossGrad{Q: a.Matrix(n, l.keyWidth()), KV: a.Matrix(m, l.keyWidth()+l.valueWidth()), Ctx: a.Matrix(n, l.valueWidth())}
}

// Forward returns act.Out [n × d] = Concat(head_1 … head_h)·W^O + b for x [n × d] and memory
// [m × d].
func (l Cross) Forward(pool *mat.Pool, act *CrossAct, x, memory mat.Matrix, r Ragged) mat.Matrix {
	act.X, act.Memory, act.ragged = x, memory, r
	l.Q.Forward(pool, act.Q, x)
	l.KV.Forward(pool, act.KV, memory)
	ScaledDotProductHeads(pool, act.Ctx, crossInputs(act.Q, act.KV), l.Heads, r)
	l.Out.Forward(pool, act.Out, act.Ctx)
	return act.Out
}

// Backward sets or adds to dx [n × d] and adds to g.Memory [m × d], for dy [n × d] and the
// activations of Forward. With mode Set dx may be dy.
func (l Cross) Backward(pool *mat.Pool, dx, dy mat.Matrix, act *CrossAct, g *CrossGrad, mode layer.Mode) {
	// y = ctx·W^O + b
	l.Out.Backward(pool, g.Ctx, dy, act.Ctx, layer.Set)

	// ctx = Attention(Q, K, V) of each head
	ScaledDotProductHeadsGrad(pool, crossInputs(g.Q, g.KV), g.Ctx, crossInputs(act.Q, act.KV), l.Heads, act.ragged)

	// [K V] = memory·[W^K W^V] + b
	l.KV.Backward(pool, g.Memory, g.KV, act.Memory, layer.Add)

	// Q = x·W^Q + b
	l.Q.Backward(pool, dx, g.Q, act.X, mode)
}

// crossInputs views q and the columns of kv as queries, keys and values.
func crossInputs(q, kv mat.Matrix) Inputs {
	return Inputs{q, kv.ColRange(0, q.Cols), kv.ColRange(q.Cols, kv.Cols)}
}
