package decode

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// encode returns the encoder's output [m × d] for the sources in s.ids.
func (s *State) encode() mat.Matrix {
	p, act, heads := s.pool, &s.act, s.w.sizes().Heads
	s.allocEncoder(len(s.ids))
	s.embedSentences(&s.w.source, s.ids, s.starts)
	in := s.selfInputs()
	ragged := attn.Ragged{QStarts: s.starts, KStarts: s.starts}
	for i := range s.w.encoder {
		l := &s.w.encoder[i]
		l.qkv.mul(p, act.qkv, s.sublayerInput(&l.norm1), mat.Identity)
		attn.ScaledDotProductHeads(p, act.ctx, in, heads, ragged)
		s.addSublayer(&l.norm1, &l.out, act.ctx)

		l.ff.inner.mul(p, act.hidden, s.sublayerInput(&l.norm2), l.ff.activation)
		s.addSublayer(&l.norm2, &l.ff.outer, act.hidden)
	}
	if s.w.model.Config.HasFinalNorm() {
		s.finalNorm(&s.w.model.EncNorm)
	}
	return act.x
}

// selfInputs returns the inputs of self-attention in s.act.qkv.
func (s *State) selfInputs() attn.Inputs {
	sizes, qkv := s.w.sizes(), s.act.qkv
	keys := sizes.Heads * sizes.DK
	return attn.Inputs{Q: qkv.ColRange(0, keys), K: qkv.ColRange(keys, 2*keys), V: qkv.ColRange(2*keys, qkv.Cols)}
}

// embedSentences sets s.act.x to the embeddings of ids, sentences that begin at starts.
func (s *State) embedSentences(e *embedding, ids, starts []int32) {
	s.positions = s.positions[:0]
	for i, end := range starts[1:] {
		for position := range end - starts[i] {
			s.positions = append(s.positions, position)
		}
	}
	s.embed(e, ids)
}

// embed sets s.act.x to the embeddings of ids at s.positions.
func (s *State) embed(e *embedding, ids []int32) {
	mat.Each(s.pool, len(ids), embedGrain, embedRows{e, s.act.x, ids, s.positions})
}

// embedGrain is the number of rows of one call: tens of microseconds, because columns of a large
// matrix are not in the cache.
const embedGrain = 8

// decode takes s.act.x [rows × d], the newest tokens, through the decoder, with the keys and
// values of earlier tokens.
func (s *State) decode() {
	p, act := s.pool, &s.act
	for i := range s.w.decoder {
		l := &s.w.decoder[i]
		l.qkv.mul(p, act.qkv, s.sublayerInput(&l.norm1), mat.Identity)
		s.unnormKeys(l)
		s.attendSelf(i)
		s.attendFirst()
		s.addSublayer(&l.norm1, &l.out, act.ctx)

		l.q.mul(p, act.q, s.sublayerInput(&l.norm2), mat.Identity)
		s.attendCross(i)
		s.addSublayer(&l.norm2, &l.crossOut, act.ctx)

		l.ff.inner.mul(p, act.hidden, s.sublayerInput(&l.norm3), l.ff.activation)
		s.addSublayer(&l.norm3, &l.ff.outer, act.hidden)
	}
	if s.w.model.Config.HasFinalNorm() {
		s.finalNorm(&s.w.model.DecNorm)
	}
}

// sublayerInput returns the input of a sublayer [n × d]: x, or norm(x) in pre-norm.
func (s *State) sublayerInput(l *addNorm) mat.Matrix {
	if !s.w.preNorm() {
		return s.act.x
	}
	s.act.norm.Y = s.act.h
	return l.Norm.Forward(s.pool, &s.act.norm, s.act.x)
}

// addSublayer replaces x by the output of a sublayer with its residual connection and norm. out is
// the sublayer's last linear map, y the input of that.
//
//	post-norm                    pre-norm
//	x = norm(α·x + out(y))       x = x + out(y)
func (s *State) addSublayer(l *addNorm, out *linear, y mat.Matrix) {
	act := &s.act
	switch {
	case s.w.preNorm():
		out.mulAdd(s.pool, act.h, y, act.x)
		act.x, act.h = act.h, act.x
	case l.residual.Alpha == 1:
		out.mulAdd(s.pool, act.h, y, act.x)
		act.norm.Y = act.x
		l.Norm.Forward(s.pool, &act.norm, act.h)
	default:
		out.mul(s.pool, act.h, y, mat.Identity)
		act.norm.Y = act.x
		h := l.residual.Forward(s.pool, &layer.ResidualAct{}, act.x, act.h, mat.Dropout{})
		l.Norm.Forward(s.pool, &act.norm, h)
	}
}

// finalNorm replaces x by its norm.
func (s *State) finalNorm(l *layer.Norm) {
	act := &s.act
	act.norm.Y = act.h
	l.Forward(s.pool, &act.norm, act.x)
	act.x, act.h = act.h, act.x
}
