package decode

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// stack takes rows of tokens through the layers of the encoder or of the decoder.
type stack struct {
	w    *Weights
	pool *mat.Pool

	arena layer.Arena // of act
	act   activations

	ids       []int32      // of the encoder's sources, with marks
	starts    []int32      // index in ids of each source's first token, then len(ids)
	positions []int32      // of the tokens that are embedded
	rounded   mat.Int8Rows // output of the encoder, or input of the output projection
}

// activations are those of all layers of the encoder or of the decoder, for n rows. A layer reads
// its input before it writes its output, so all layers share them.
type activations struct {
	x, h   mat.Matrix    // [n × d] input of a sublayer; its output and the sum with the residual
	qkv    mat.Matrix    // [n × (2h·d_k + h·d_v)]
	q      mat.Matrix    // [n × h·d_k] of cross-attention
	kv     mat.Matrix    // [n × (h·d_k + h·d_v)] of cross-attention
	ctx    mat.Matrix    // [n × h·d_v]
	hidden mat.Matrix    // [n × ff]
	norm   layer.NormAct // mean and rstd; the caller sets Y
	logits mat.Matrix    // [n × V], or of lists; see outputProjection

	maps, cells mat.Matrix // of SSRUs: [n × 2d]; [n × d], which pairPass needs

	unnormed, firstValues mat.Matrix // of unnormKeys: [n × (2h·d_k + h·d_v)], [n × h·d_v]
}

// mixer computes the sublayers of the decoder that mix the tokens of a sentence. x [n × d] is the
// input of a sublayer. Its output is out(y), or y itself if out is nil.
type mixer interface {
	// self is self-attention, or a recurrent cell in its place.
	self(layer int, x mat.Matrix) (y mat.Matrix, out *linear)
	cross(layer int, x mat.Matrix) (y mat.Matrix, out *linear)
}

// decode returns the decoder's output [n × d] for the embeddings in s.act.x.
func (s *stack) decode(m mixer) mat.Matrix {
	for i := range s.w.decoder {
		l := &s.w.decoder[i]
		y, out := m.self(i, s.input(&l.norm1))
		s.add(&l.norm1, y, out)
		y, out = m.cross(i, s.input(&l.norm2))
		s.add(&l.norm2, y, out)
		s.feedForward(&l.norm3, &l.ff)
	}
	if s.w.model.Config.HasFinalNorm() {
		s.finalNorm(&s.w.model.DecNorm)
	}
	return s.act.x
}

// encode returns the encoder's output [m × d] for sources, and sets s.ids and s.starts.
func (s *stack) encode(sources [][]int32) mat.Matrix {
	s.ids, s.starts = s.ids[:0], append(s.starts[:0], 0)
	for _, src := range sources {
		s.ids = s.w.model.Config.Source.Append(s.ids, src)
		s.starts = append(s.starts, int32(len(s.ids)))
	}
	s.alloc(len(s.ids), false)
	act, heads := &s.act, s.w.sizes().Heads
	s.embedSentences(&s.w.source, s.ids, s.starts)
	in := s.selfInputs()
	ragged := attn.Ragged{QStarts: s.starts, KStarts: s.starts}
	for i := range s.w.encoder {
		l := &s.w.encoder[i]
		l.qkv.mul(s.pool, act.qkv, s.input(&l.norm1), mat.Identity)
		attn.ScaledDotProductHeads(s.pool, act.ctx, in, heads, ragged)
		s.add(&l.norm1, act.ctx, &l.out)
		s.feedForward(&l.norm2, &l.ff)
	}
	if s.w.model.Config.HasFinalNorm() {
		s.finalNorm(&s.w.model.EncNorm)
	}
	if s.w.form == Int8 {
		s.rounded.Set(s.pool, act.x) // for the keys and values of all layers
	}
	return act.x
}

// feedForward replaces x by the output of the feed-forward sublayer.
func (s *stack) feedForward(norm *addNorm, l *feedForward) {
	l.inner.mul(s.pool, s.act.hidden, s.input(norm), l.activation)
	s.add(norm, s.act.hidden, &l.outer)
}

// input returns the input of a sublayer [n × d]: x, or norm(x) in pre-norm.
func (s *stack) input(l *addNorm) mat.Matrix {
	if !s.w.preNorm() {
		return s.act.x
	}
	s.act.norm.Y = s.act.h
	return l.Norm.Forward(s.pool, &s.act.norm, s.act.x)
}

// add replaces x by the output of a sublayer with its residual connection and norm. out is the
// sublayer's last linear map, y the input of that.
//
//	post-norm                    pre-norm
//	x = norm(α·x + out(y))       x = x + out(y)
func (s *stack) add(l *addNorm, y mat.Matrix, out *linear) {
	act := &s.act
	sum := act.h
	switch {
	case out == nil:
		sum = l.residual.Forward(s.pool, &layer.ResidualAct{}, act.x, y, mat.Dropout{})
	case s.w.preNorm() || l.residual.Alpha == 1:
		out.mulAdd(s.pool, sum, y, act.x)
	default:
		out.mul(s.pool, sum, y, mat.Identity)
		l.residual.Forward(s.pool, &layer.ResidualAct{}, act.x, sum, mat.Dropout{})
	}
	switch {
	case !s.w.preNorm():
		act.norm.Y = act.x
		l.Norm.Forward(s.pool, &act.norm, sum)
	case out == nil:
		for i := range sum.Rows {
			copy(act.x.Row(i), sum.Row(i))
		}
	default:
		act.x, act.h = act.h, act.x
	}
}

// finalNorm replaces x by its norm.
func (s *stack) finalNorm(l *layer.Norm) {
	act := &s.act
	act.norm.Y = act.h
	l.Forward(s.pool, &act.norm, act.x)
	act.x, act.h = act.h, act.x
}

// selfInputs returns the inputs of self-attention in s.act.qkv.
func (s *stack) selfInputs() attn.Inputs {
	sizes, qkv := s.w.sizes(), s.act.qkv
	keys := sizes.Heads * sizes.DK
	return attn.Inputs{Q: qkv.ColRange(0, keys), K: qkv.ColRange(keys, 2*keys), V: qkv.ColRange(2*keys, qkv.Cols)}
}

// embedSentences sets s.act.x to the embeddings of ids, sentences that begin at starts.
func (s *stack) embedSentences(e *embedding, ids, starts []int32) {
	s.positions = s.positions[:0]
	for i, end := range starts[1:] {
		for position := range end - starts[i] {
			s.positions = append(s.positions, position)
		}
	}
	s.embed(e, ids)
}

// embed sets s.act.x to the embeddings of ids at s.positions.
func (s *stack) embed(e *embedding, ids []int32) {
	mat.Each(s.pool, len(ids), embedGrain, embedRows{e, s.act.x, ids, s.positions})
}

// embedGrain is the number of rows of one call: tens of microseconds, because columns of a large
// matrix are not in the cache.
const embedGrain = 8

// alloc allocates the activations for n tokens of the decoder or of the encoder.
func (s *stack) alloc(n int, decoder bool) {
	c, sizes := &s.w.model.Config, s.w.sizes()
	keys, values := sizes.Heads*sizes.DK, sizes.Heads*sizes.DV
	s.arena.Alloc(func() {
		a := &s.arena
		s.act = activations{
			x: a.Matrix(n, c.DModel), h: a.Matrix(n, c.DModel), qkv: a.Matrix(n, 2*keys+values), ctx: a.Matrix(n, values),
			hidden: a.Matrix(n, c.DFF), norm: layer.NormAct{Mean: a.Slice(n), RStd: a.Slice(n)},
		}
		if !decoder {
			s.act.kv = a.Matrix(n, keys+values)
			return
		}
		s.act.q = a.Matrix(n, keys)
		if s.w.recurrent() {
			s.act.maps, s.act.cells = a.Matrix(n, 2*c.DModel), a.Matrix(n, c.DModel)
		}
		if s.w.unnormedKeys {
			s.act.unnormed, s.act.firstValues = a.Matrix(n, 2*keys+values), a.Matrix(n, values)
		}
	})
}
