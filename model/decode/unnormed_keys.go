package decode

import "tfm/mat"

// unnormKeys replaces the keys and values in s.act.qkv, those of norm(x), by those of x. It keeps
// the values, with which a first token attends to itself.
func (s *newestTokens) unnormKeys(l *decoderLayer) {
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
func (s *newestTokens) attendFirst() {
	for i, position := range s.positions {
		if position == 0 {
			copy(s.act.ctx.Row(i), s.act.firstValues.Row(i))
		}
	}
}
