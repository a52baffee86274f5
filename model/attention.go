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

// Attention is Evaluate that shows all attention weights: for each sentence of the batch, layer and
// head, visit is called with the weights [queries × keys], whose rows sum to 1. A sentence's source
// tokens end with EOS; its queries in the decoder are BOS and the target, so that row i is the step
// that predicts target token i, the last one EOS. The batch goes in microbatches; within one,
// attentions come in the order of a forward pass, then layers from 0, then heads, then sentences.
// The weights are valid only during the call. They and the Loss have the bits of Evaluate; no
// gradients are needed.
func (s *Pass) Attention(b *Batch, visit func(attention string, layer, head, sentence int, weights mat.Matrix)) Loss {
	b.check(s.p.Config)
	alloc := func(m, n int) {
		s.arena.Alloc(func() {
			s.losses = layer.AllocLosses(s.arena, len(b.TgtIn))
			s.allocForward(m, n, true) // as for backward, so that every layer's queries and keys are kept
		})
	}
	maxRows := s.maxRows()
	rows := max(maxRows, b.maxSentence())
	alloc(rows, rows) // for all microbatches: losses must stay where they are
	s.split(b, 1, maxRows)
	var batch Batch
	var workspace []float32
	for i := range len(s.bounds) - 1 {
		first := s.bounds[i]
		b.slice(&batch, first, s.bounds[i+1])
		alloc(len(batch.Src), len(batch.TgtIn))
		x := s.forward(&batch, dropouts{}, dropouts{})
		tgt := int(b.TgtStarts[first])
		s.p.Output.Forward(s.pool, x, layer.Targets{IDs: batch.TgtOut, Losses: s.losses.RowRange(tgt, tgt+len(batch.TgtOut))}, s.act.loss)
		s.visitWeights(&batch, first, &workspace, visit)
	}
	return s.losses.Total()
}

// visitWeights visits the attention weights of a microbatch that begins with sentence first.
func (s *Pass) visitWeights(b *Batch, first int, workspace *[]float32, visit func(string, int, int, int, mat.Matrix)) {
	show := func(attention string, layer, heads int, in attn.Inputs, r attn.Ragged) {
		for head := range heads {
			for i := range r.Sentences() {
				queries, keys := int(r.Q[i+1]-r.Q[i]), int(r.K[i+1]-r.K[i])
				if queries*keys > len(*workspace) {
					*workspace = make([]float32, 2*queries*keys)
				}
				w := mat.Of(*workspace, queries, keys)
				in.Weights(w, heads, i, head, r)
				visit(attention, layer, head, first+i, w)
			}
		}
	}
	encoder, decoder := s.layerArgs(b, dropouts{}, dropouts{})
	for i, l := range s.p.Encoder {
		show(EncoderSelf, i, l.Self.Heads, l.Self.Inputs(&s.act.enc[i].Self), encoder.Self)
	}
	for i, l := range s.p.Decoder {
		show(DecoderSelf, i, l.Self.Heads, l.Self.Inputs(&s.act.dec[i].Self), decoder.Self)
	}
	for i, l := range s.p.Decoder {
		show(DecoderCross, i, l.Cross.Heads, l.Cross.Inputs(&s.act.dec[i].Cross), decoder.Cross)
	}
}
