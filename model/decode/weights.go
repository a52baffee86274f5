package decode

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// Weights are the weights of a model in the form that decoding needs. Any number of States and
// Decoders, on any goroutines, may share them.
//
// The matrices of all linear maps are packed copies of those of a Transformer, or in its memory.
// Embeddings, biases and norms alias it. After a change of the Transformer's weights the caller
// must call Refresh before the next step. No goroutine may decode during the change or Refresh.
type Weights struct {
	model   *model.Transformer
	encoder []encoderLayer
	decoder []decoderLayer
	output  linear // logits
	fixed   bool   // cannot be refreshed
}

// linear is y = x·W + b, row by row.
type linear struct {
	w      *mat.Packed
	int8   *mat.Int8  // if not nil, instead of w
	source mat.Matrix // W, for Refresh
	bias   []float32  // nil for y = x·W
}

// encoderLayer holds the weights of a model.EncoderLayer.
type encoderLayer struct {
	qkv, out     linear
	ff           feedForward
	norm1, norm2 layer.AddNorm
}

// decoderLayer holds the weights of a model.DecoderLayer.
type decoderLayer struct {
	qkv, out            linear // self-attention
	q, kv, crossOut     linear // cross-attention
	ff                  feedForward
	norm1, norm2, norm3 layer.AddNorm
}

// feedForward holds the weights of a layer.FeedForward.
type feedForward struct {
	inner, outer linear
	activation   mat.Activation
}

// NewWeights returns the Weights of t, whose memory must have been allocated, on the threads of p.
func NewWeights(t *model.Transformer, p *mat.Pool) *Weights {
	w := declare(t)
	w.Refresh(p)
	return w
}

// NewWeightsInPlace is NewWeights without a second copy of most matrices. It packs the matrices of
// t in their memory, except embeddings, so that t can neither compute nor train afterwards. The
// Weights cannot be refreshed.
func NewWeightsInPlace(t *model.Transformer, p *mat.Pool) *Weights {
	w := declare(t)
	scratch := new(mat.Packed)
	for _, l := range w.linears() {
		if l == &w.output { // E as rows, often also an embedding
			l.w.Set(p, l.source)
		} else {
			l.w = mat.PackInPlace(p, l.source, scratch)
		}
		l.source = mat.Matrix{}
	}
	w.fixed = true
	return w
}

// NewWeightsInt8 is NewWeights with the matrices of all linear maps rounded to int8, see
// mat.GemmInt8. Embeddings, norms and attention stay float32. Translations differ from those of
// float32, but are the same on every machine. The Weights cannot be refreshed.
func NewWeightsInt8(t *model.Transformer, p *mat.Pool) *Weights {
	w := declare(t)
	mat.Each(p, len(w.linears()), 1, quantize{w.linears()})
	w.fixed = true
	return w
}

// quantize is the parallel loop that rounds linear maps to int8.
type quantize struct{ linears []*linear }

func (q *quantize) Range(lo, hi int) {
	for _, l := range q.linears[lo:hi] {
		l.int8, l.w, l.source = mat.QuantizeInt8(nil, l.source), nil, mat.Matrix{}
	}
}

// declare returns the Weights of t without packed matrices.
func declare(t *model.Transformer) *Weights {
	w := &Weights{model: t, output: linear{w: new(mat.Packed), source: t.Output.E.Weights().T()}}
	if t.Output.Bias != nil {
		w.output.bias = t.Output.Bias.W
	}
	for i := range t.Encoder {
		l := &t.Encoder[i]
		w.encoder = append(w.encoder, encoderLayer{
			qkv: linearOf(l.Self.QKV), out: linearOf(l.Self.Out),
			ff: feedForwardOf(l.FF), norm1: l.Norm1, norm2: l.Norm2,
		})
	}
	for i := range t.Decoder {
		l := &t.Decoder[i]
		w.decoder = append(w.decoder, decoderLayer{
			qkv: linearOf(l.Self.QKV), out: linearOf(l.Self.Out),
			q: linearOf(l.Cross.Q), kv: linearOf(l.Cross.KV), crossOut: linearOf(l.Cross.Out),
			ff: feedForwardOf(l.FF), norm1: l.Norm1, norm2: l.Norm2, norm3: l.Norm3,
		})
	}
	return w
}

// linearOf returns l without its packed matrix.
func linearOf(l layer.Linear) linear {
	x := linear{w: new(mat.Packed), source: l.W.Weights()}
	if l.B != nil {
		x.bias = l.B.W
	}
	return x
}

func feedForwardOf(l layer.FeedForward) feedForward {
	return feedForward{linearOf(l.Inner), linearOf(l.Outer), l.Activation}
}

// Refresh updates the packed copies from the Transformer's weights, in the same memory. Validation
// calls it because training changes the weights. It panics unless NewWeights returned w.
func (w *Weights) Refresh(p *mat.Pool) {
	if w.fixed {
		panic("decode: Refresh of Weights in place or in int8")
	}
	for _, l := range w.linears() {
		l.w.Set(p, l.source)
	}
}

// linears returns all linear maps.
func (w *Weights) linears() []*linear {
	var all []*linear
	for i := range w.encoder {
		l := &w.encoder[i]
		all = append(all, &l.qkv, &l.out, &l.ff.inner, &l.ff.outer)
	}
	for i := range w.decoder {
		l := &w.decoder[i]
		all = append(all, &l.qkv, &l.out, &l.q, &l.kv, &l.crossOut, &l.ff.inner, &l.ff.outer)
	}
	return append(all, &w.output)
}

// sizes returns the sizes of every attention, which all layers share.
func (w *Weights) sizes() attn.Sizes { return w.model.Decoder[0].Self.Sizes }

// preNorm reports whether sublayers normalize their input, not the sum with their output.
func (w *Weights) preNorm() bool { return w.model.Config.Norm == model.PreNorm }

// mul sets y [n × out] = f(x·W + b) for x [n × in].
func (l *linear) mul(p *mat.Pool, y, x mat.Matrix, f mat.Activation) {
	l.gemm(p, y, x, mat.GemmOptions{Bias: l.bias, Activation: f})
}

// mulAdd sets y [n × out] = x·W + b + residual for x [n × in].
func (l *linear) mulAdd(p *mat.Pool, y, x, residual mat.Matrix) {
	l.gemm(p, y, x, mat.GemmOptions{Bias: l.bias, Residual: residual})
}

// gemm sets y = x·W with an epilogue.
func (l *linear) gemm(p *mat.Pool, y, x mat.Matrix, o mat.GemmOptions) {
	if l.int8 != nil {
		mat.GemmInt8(p, y, x, l.int8, o)
	} else {
		mat.GemmPacked(p, y, x, l.w, o)
	}
}
