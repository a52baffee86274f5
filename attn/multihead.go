package attn

import (
	"tfm/layer"
	"tfm/mat"
)

// Self is multi-head self-attention (section 3.2.2): MultiHead(X, X, X). The projections of queries, keys
// and values, W^Q, W^K and W^V of all heads, are one matrix [d × 3d], so that they are one product.
type Self struct {
	QKV   layer.Linear // d → 3d: queries, keys, values
	Out   layer.Linear // d → d: W^O
	Heads int
}

// NewSelf declares the maps as name.qkv and name.out.
func NewSelf(ps *layer.Params, name string, d, heads int) Self {
	return Self{layer.NewLinear(ps, name+".qkv", d, 3*d), layer.NewLinear(ps, name+".out", d, d), heads}
}

// SelfState is what Self.Forward leaves for Backward.
type SelfState struct {
	QKV mat.Matrix // [n × 3d]
	Ctx mat.Matrix // [n × d] the heads' results, concatenated
}

// NewSelfState takes the memory for n tokens.
func NewSelfState(a *layer.Arena, n, d int) SelfState {
	return SelfState{a.Matrix(n, 3*d), a.Matrix(n, d)}
}

// Forward sets y [n × d] = Concat(head_1 … head_h)·W^O for x [n × d].
func (l Self) Forward(p *mat.Pool, y mat.Matrix, st SelfState, x mat.Matrix, r Ragged) {
	l.QKV.Forward(p, st.QKV, x)
	ScaledDotProductHeads(p, st.Ctx, thirds(st.QKV), l.Heads, r)
	l.Out.Forward(p, y, st.Ctx)
}

// Backward takes dy [n × d], what Forward saw and left, and room for the derivatives of the state; it sets or
// adds to dx [n × d]. It is Forward's three lines in reverse.
func (l Self) Backward(p *mat.Pool, dx mat.Matrix, dst SelfState, dy mat.Matrix, st SelfState, x mat.Matrix, r Ragged, how mat.Product) {
	l.Out.Backward(p, dst.Ctx, dy, st.Ctx, layer.Set)
	ScaledDotProductHeadsGrad(p, thirds(dst.QKV), dst.Ctx, thirds(st.QKV), l.Heads, r)
	l.QKV.Backward(p, dx, dst.QKV, x, how)
}

// thirds views the columns of a [n × 3d] matrix as queries, keys and values.
func thirds(qkv mat.Matrix) Inputs {
	d := qkv.Cols / 3
	return Inputs{qkv.ColRange(0, d), qkv.ColRange(d, 2*d), qkv.ColRange(2*d, 3*d)}
}

// Cross is multi-head attention from the decoder to the encoder's output (section 3.2.3):
// MultiHead(X, M, M), X [n × d] of target tokens and M [m × d], the memory, of source tokens.
type Cross struct {
	Q     layer.Linear // d → d
	KV    layer.Linear // d → 2d: keys, values
	Out   layer.Linear // d → d
	Heads int
}

// NewCross declares the maps as name.q, name.kv and name.out.
func NewCross(ps *layer.Params, name string, d, heads int) Cross {
	return Cross{layer.NewLinear(ps, name+".q", d, d), layer.NewLinear(ps, name+".kv", d, 2*d), layer.NewLinear(ps, name+".out", d, d), heads}
}

// CrossState is what Cross.Forward leaves for Backward.
type CrossState struct {
	Q   mat.Matrix // [n × d]
	KV  mat.Matrix // [m × 2d]
	Ctx mat.Matrix // [n × d]
}

// NewCrossState takes the memory for n target and m source tokens.
func NewCrossState(a *layer.Arena, n, m, d int) CrossState {
	return CrossState{a.Matrix(n, d), a.Matrix(m, 2*d), a.Matrix(n, d)}
}

func (s CrossState) inputs() Inputs {
	d := s.Q.Cols
	return Inputs{s.Q, s.KV.ColRange(0, d), s.KV.ColRange(d, 2*d)}
}

// Forward sets y [n × d] for x [n × d] and the memory [m × d].
func (l Cross) Forward(p *mat.Pool, y mat.Matrix, st CrossState, x, memory mat.Matrix, r Ragged) {
	l.Q.Forward(p, st.Q, x)
	l.KV.Forward(p, st.KV, memory)
	ScaledDotProductHeads(p, st.Ctx, st.inputs(), l.Heads, r)
	l.Out.Forward(p, y, st.Ctx)
}

// Backward takes dy [n × d], what Forward saw and left, and room for the derivatives of the state; it sets or
// adds to dx [n × d], as howX says, and dmemory [m × d], as howMemory says.
func (l Cross) Backward(p *mat.Pool, dx, dmemory mat.Matrix, dst CrossState, dy mat.Matrix, st CrossState, x, memory mat.Matrix, r Ragged, howX, howMemory mat.Product) {
	l.Out.Backward(p, dst.Ctx, dy, st.Ctx, layer.Set)
	ScaledDotProductHeadsGrad(p, dst.inputs(), dst.Ctx, st.inputs(), l.Heads, r)
	l.KV.Backward(p, dmemory, dst.KV, memory, howMemory)
	l.Q.Backward(p, dx, dst.Q, x, howX)
}

// Weights returns, of what Forward left, the weights [queries × keys] of one head of one sentence.
func (s CrossState) Weights(sentence, head, heads int, r Ragged) mat.Matrix {
	q, k, _ := s.inputs().head(r, heads, sentence, head)
	w := mat.New(q.Rows, k.Rows)
	r.weights(w, q, k, 0)
	return w
}
