package model

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// The attentions of a Transformer (section 3.2.3), as Pass.Attention names them.
const (
	EncoderSelf  = "encoder.self"  // source tokens to source tokens
	DecoderSelf  = "decoder.self"  // target tokens to those up to themselves
	DecoderCross = "decoder.cross" // target tokens to source tokens
)

// Attention is Evaluate that shows all attention weights too: for each sentence of the batch, layer and head, visit is called
// with the weights [queries × keys], whose rows sum to 1. A sentence's source tokens end with EOS; its queries in the decoder are
// BOS and the target, so that row i is the step that says target token i, the last one EOS. The batch goes in parts of some
// sentences; attentions come in the order in which a part meets them, within one the layers from 0, then heads, then sentences. The
// weights are only there during the call. They and the Loss have the bits of Evaluate; it needs no gradients.
func (s *Pass) Attention(b *Batch, visit func(attention string, layer, head, sentence int, weights mat.Matrix)) Loss {
	b.check(s.Config)
	most := s.most()
	rows := max(most, b.longest())
	fit := func(m, n int) {
		s.arena.Fit(func() {
			s.losses = layer.NewLosses(s.arena, len(b.TgtIn))
			s.take(m, n, true) // as for training, or the layers would write over each other's queries and keys
		})
	}
	fit(rows, rows) // for all parts
	s.cut(b, 1, most)
	var part Batch
	var room []float32
	for i := range len(s.cuts) - 1 {
		first := s.cuts[i]
		tgt := int(b.TgtStarts[first])
		b.part(&part, first, s.cuts[i+1])
		fit(len(part.Src), len(part.TgtIn))
		x := s.forward(&part, dropouts{}, dropouts{})
		s.Output.Forward(s.pool, x, part.TgtOut, s.room, s.losses.Rows(tgt, tgt+len(part.TgtOut)))
		s.show(&part, first, &room, visit)
	}
	return s.losses.Total()
}

// show visits the attention weights of a part that begins with sentence first.
func (s *Pass) show(b *Batch, first int, room *[]float32, visit func(string, int, int, int, mat.Matrix)) {
	show := func(attention string, layer, heads int, in attn.Inputs, r attn.Ragged) {
		for head := range heads {
			for i := range r.Sentences() {
				queries, keys := int(r.Q[i+1]-r.Q[i]), int(r.K[i+1]-r.K[i])
				if queries*keys > len(*room) {
					*room = make([]float32, 2*queries*keys)
				}
				w := mat.Of(*room, queries, keys)
				in.Weights(w, heads, i, head, r)
				visit(attention, layer, head, first+i, w)
			}
		}
	}
	self, causal, cross := b.ragged()
	for i, l := range s.Encoder {
		show(EncoderSelf, i, l.Self.Heads, l.Self.Inputs(s.enc[i].self), self)
	}
	for i, l := range s.Decoder {
		show(DecoderSelf, i, l.Self.Heads, l.Self.Inputs(s.dec[i].self), causal)
	}
	for i, l := range s.Decoder {
		show(DecoderCross, i, l.Cross.Heads, l.Cross.Inputs(s.dec[i].cross), cross)
	}
}
