package decode

import "tfm/mat"

// SetUnnormedKeys selects model.Decoding.UnnormedKeys for all States and Decoders of w, which must
// not be in use. It has an effect in pre-norm models only. LogProbs, Attention and training use the
// model that Marian trains, which has no such exception.
func (w *Weights) SetUnnormedKeys(yes bool) { w.unnormedKeys = yes && w.preNorm() }

// unnormKeys replaces the keys and values in s.act.qkv, those of norm(x), by those of x. It keeps
// the values, with which a first token attends to itself.
func (s *State) unnormKeys(l *decoderLayer) {
	if !s.w.unnormedKeys {
		return
	}
	act, sizes := &s.act, s.w.sizes()
	keys := sizes.Heads * sizes.DK
	l.qkv.mul(s.pool, act.unnormed, act.x, mat.Identity)
	for i := range act.qkv.Rows {
		normed, unnormed := act.qkv.Row(i), act.unnormed.Row(i)
		copy(act.firstValues.Row(i), normed[2*keys:])
		copy(normed[keys:], unnormed[keys:])
	}
}

// attendFirst replaces the self-attention of first tokens, which is that to themselves.
func (s *State) attendFirst() {
	if !s.w.unnormedKeys {
		return
	}
	for i, position := range s.positions {
		if position == 0 {
			copy(s.act.ctx.Row(i), s.act.firstValues.Row(i))
		}
	}
}
