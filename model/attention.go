package model

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// The three attentions of a Transformer (section 3.2.3), as arguments of Pass.Attention's visit.
const (
	EncoderSelf  = "encoder.self"  // source tokens to source tokens
	DecoderSelf  = "decoder.self"  // target tokens to themselves and earlier ones
	DecoderCross = "decoder.cross" // target tokens to source tokens
)

// Attention is Evaluate with access to the attention weights: it calls visit for each attention,
// layer, head and sentence of the batch with the weights [queries × keys], whose rows sum to 1.
// Keys in the source end with EOS. Queries of the decoder are BOS and the target, so row i predicts
// target token i, the last row EOS. visit may use the weights only during the call.
//
// Attention takes microbatches in order. The calls for one microbatch are sorted by attention, in
// the order of a forward pass, then layer, then head, then sentence. Weights and Loss have the bits
// of Evaluate; the Transformer needs no gradients.
func (s *Pass) Attention(b *Batch, visit func(attention string, layer, head, sentence int, weights mat.Matrix)) Loss {
	b.check(s.p.Config)
	alloc := func(m, n int) {
		s.arena.Alloc(func() {
			s.losses, s.act.loss = layer.AllocLosses(s.arena, len(b.TgtIn)), s.p.Output.Alloc(s.arena, n)
			s.allocForward(m, n, true) // true: layers must not share memory, visitWeights reads all
		})
	}
	maxRows := s.maxRows()
	// Enough memory for every microbatch, so that the arena does not move the losses. A single
	// sentence may exceed maxRows.
	rows := max(maxRows, b.maxSentence())
	alloc(rows, rows)
	s.split(b, 1, maxRows)
	var batch Batch
	var workspace []float32
	for i := range len(s.bounds) - 1 {
		first := s.bounds[i]
		b.slice(&batch, first, s.bounds[i+1])
		alloc(len(batch.Src), len(batch.TgtIn))
		tgt := int(b.TgtStarts[first])
		targets := layer.Targets{IDs: batch.TgtOut, Losses: s.losses.RowRange(tgt, tgt+len(batch.TgtOut))}

		x := s.forward(&batch, dropouts{}, dropouts{})
		s.p.Output.Forward(s.pool, x, targets, s.act.loss)
		s.visitWeights(&batch, first, &workspace, visit)
	}
	return s.losses.Total()
}

// visitWeights calls visit with the attention weights of a microbatch whose first sentence has
// index first in its batch.
func (s *Pass) visitWeights(b *Batch, first int, workspace *[]float32, visit func(string, int, int, int, mat.Matrix)) {
	visitHeads := func(attention string, layer, heads int, in attn.Inputs, r attn.Ragged) {
		for head := range heads {
			for i := range r.Sentences() {
				queries, keys := int(r.QStarts[i+1]-r.QStarts[i]), int(r.KStarts[i+1]-r.KStarts[i])
				if queries*keys > len(*workspace) {
					*workspace = make([]float32, 2*queries*keys)
				}
				w := mat.Of(*workspace, queries, keys)
				in.Weights(w, heads, i, head, r)
				visit(attention, layer, head, first+i, w)
			}
		}
	}
	encoder, decoder := s.layerArgs(b.SrcStarts, b.TgtStarts, dropouts{}, dropouts{})
	for i, l := range s.p.Encoder {
		visitHeads(EncoderSelf, i, l.Self.Heads, l.Self.Inputs(&s.act.enc[i].Self), encoder.Self)
	}
	for i, l := range s.p.Decoder {
		visitHeads(DecoderSelf, i, l.Self.Heads, l.Self.Inputs(&s.act.dec[i].Self), decoder.Self)
	}
	for i, l := range s.p.Decoder {
		visitHeads(DecoderCross, i, l.Cross.Heads, l.Cross.Inputs(&s.act.dec[i].Cross), decoder.Cross)
	}
}
