package attn

import (
	"tfm/layer"
	"tfm/mat"
)

// Sizes are those of multi-head attention.
type Sizes struct {
	Model  int  // d_model
	Heads  int  // h
	DK, DV int  // numbers a head has in queries and keys, and in values; in the paper both are d_model/h
	NoBias bool // the maps have none
}

// PaperSizes are those of section 3.2.2: d_k = d_v = d/h, with biases.
func PaperSizes(d, heads int) Sizes {
	return Sizes{Model: d, Heads: heads, DK: d / heads, DV: d / heads}
}

// keys and values are the widths of all heads together.
func (s Sizes) keys() int   { return s.Heads * s.DK }
func (s Sizes) values() int { return s.Heads * s.DV }

func (s Sizes) linear(ps *layer.Params, name string, in, out int) layer.Linear {
	if s.NoBias {
		return layer.NewLinearNoBias(ps, name, in, out)
	}
	return layer.NewLinear(ps, name, in, out)
}

// Self is multi-head self-attention (section 3.2.2): MultiHead(X, X, X). The projections of queries, keys
// and values, W^Q, W^K and W^V of all heads, are one matrix [d × (2h·d_k + h·d_v)], so that they are one product.
type Self struct {
	QKV layer.Linear // d → 2h·d_k + h·d_v: queries, keys, values
	Out layer.Linear // h·d_v → d: W^O
	Sizes
}

// NewSelf declares the paper's maps as name.qkv and name.out.
func NewSelf(ps *layer.Params, name string, d, heads int) Self {
	return PaperSizes(d, heads).NewSelf(ps, name)
}

// NewSelf declares the maps as name.qkv and name.out.
func (s Sizes) NewSelf(ps *layer.Params, name string) Self {
	return Self{s.linear(ps, name+".qkv", s.Model, 2*s.keys()+s.values()), s.linear(ps, name+".out", s.values(), s.Model), s}
}

// In is the same layer, with the same weights, whose maps are in another precision. What is between them stays float32.
func (l Self) In(r layer.Precision) Self {
	l.QKV, l.Out = l.QKV.In(r), l.Out.In(r)
	return l
}

// SelfState is what Self.Forward leaves for Backward.
type SelfState struct {
	QKV mat.Matrix // [n × (2h·d_k + h·d_v)]
	Ctx mat.Matrix // [n × h·d_v] the heads' results, concatenated
}

// NewSelfState takes the memory for n tokens.
func (s Sizes) NewSelfState(a *layer.Arena, n int) SelfState {
	return SelfState{a.Matrix(n, 2*s.keys()+s.values()), a.Matrix(n, s.values())}
}

// Forward sets y [n × d] = Concat(head_1 … head_h)·W^O for x [n × d].
func (l Self) Forward(p *mat.Pool, y mat.Matrix, st SelfState, x mat.Matrix, r Ragged) {
	l.QKV.Forward(p, st.QKV, x)
	ScaledDotProductHeads(p, st.Ctx, l.split(st.QKV), l.Heads, r)
	l.Out.Forward(p, y, st.Ctx)
}

// Backward takes dy [n × d], what Forward saw and left, and room for the derivatives of the state; it sets or
// adds to dx [n × d], which may be dy if it is set. It is Forward's three lines in reverse.
func (l Self) Backward(p *mat.Pool, dx mat.Matrix, dst SelfState, dy mat.Matrix, st SelfState, x mat.Matrix, r Ragged, how mat.GemmOptions) {
	l.Out.Backward(p, dst.Ctx, dy, st.Ctx, layer.Set)
	ScaledDotProductHeadsGrad(p, l.split(dst.QKV), dst.Ctx, l.split(st.QKV), l.Heads, r)
	l.QKV.Backward(p, dx, dst.QKV, x, how)
}

// split views the columns of QKV as queries, keys and values.
func (s Sizes) split(qkv mat.Matrix) Inputs {
	k := s.keys()
	return Inputs{qkv.ColRange(0, k), qkv.ColRange(k, 2*k), qkv.ColRange(2*k, qkv.Cols)}
}

// Cross is multi-head attention from the decoder to the encoder's output (section 3.2.3):
// MultiHead(X, M, M), X [n × d] of target tokens and M [m × d], the memory, of source tokens.
type Cross struct {
	Q   layer.Linear // d → h·d_k
	KV  layer.Linear // d → h·d_k + h·d_v: keys, values
	Out layer.Linear // h·d_v → d
	Sizes
}

// NewCross declares the paper's maps as name.q, name.kv and name.out.
func NewCross(ps *layer.Params, name string, d, heads int) Cross {
	return PaperSizes(d, heads).NewCross(ps, name)
}

// NewCross declares the maps as name.q, name.kv and name.out.
func (s Sizes) NewCross(ps *layer.Params, name string) Cross {
	return Cross{s.linear(ps, name+".q", s.Model, s.keys()), s.linear(ps, name+".kv", s.Model, s.keys()+s.values()), s.linear(ps, name+".out", s.values(), s.Model), s}
}

// In is the same layer, as Self.In is.
func (l Cross) In(r layer.Precision) Cross {
	l.Q, l.KV, l.Out = l.Q.In(r), l.KV.In(r), l.Out.In(r)
	return l
}

// CrossState is what Cross.Forward leaves for Backward.
type CrossState struct {
	Q   mat.Matrix // [n × h·d_k]
	KV  mat.Matrix // [m × (h·d_k + h·d_v)]
	Ctx mat.Matrix // [n × h·d_v]
}

// NewCrossState takes the memory for n target and m source tokens.
func (s Sizes) NewCrossState(a *layer.Arena, n, m int) CrossState {
	return CrossState{a.Matrix(n, s.keys()), a.Matrix(m, s.keys()+s.values()), a.Matrix(n, s.values())}
}

func (s CrossState) inputs() Inputs {
	k := s.Q.Cols
	return Inputs{s.Q, s.KV.ColRange(0, k), s.KV.ColRange(k, s.KV.Cols)}
}

// Forward sets y [n × d] for x [n × d] and the memory [m × d].
func (l Cross) Forward(p *mat.Pool, y mat.Matrix, st CrossState, x, memory mat.Matrix, r Ragged) {
	l.Q.Forward(p, st.Q, x)
	l.KV.Forward(p, st.KV, memory)
	ScaledDotProductHeads(p, st.Ctx, st.inputs(), l.Heads, r)
	l.Out.Forward(p, y, st.Ctx)
}

// Backward takes dy [n × d], what Forward saw and left, and room for the derivatives of the state; it sets or
// adds to dx [n × d], as howX says, and dmemory [m × d], as howMemory says. dx may be dy if it is set.
func (l Cross) Backward(p *mat.Pool, dx, dmemory mat.Matrix, dst CrossState, dy mat.Matrix, st CrossState, x, memory mat.Matrix, r Ragged, howX, howMemory mat.GemmOptions) {
	l.Out.Backward(p, dst.Ctx, dy, st.Ctx, layer.Set)
	ScaledDotProductHeadsGrad(p, dst.inputs(), dst.Ctx, st.inputs(), l.Heads, r)
	l.KV.Backward(p, dmemory, dst.KV, memory, howMemory)
	l.Q.Backward(p, dx, dst.Q, x, howX)
}
