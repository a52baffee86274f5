package model

import (
	"tfm/attn"
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
// Keys in the source are those of Batch.Src. Queries of the decoder are BOS and the target, so row
// i predicts target token i, the last row EOS. visit may use the weights only during the call.
//
// Attention takes microbatches in order. The calls for one microbatch are sorted by attention, in
// the order of a forward pass, then layer, then head, then sentence. Weights and Loss have the bits
// of Evaluate; the Transformer needs no gradients.
func (s *Pass) Attention(b *Batch, visit func(attention string, layer, head, sentence int, weights mat.Matrix)) Loss {
	b.check(s.p.Config)
	s.split(b, 1, s.maxRows())
	s.allocBatch(len(b.Src), len(b.TgtIn), false)
	w := <-s.free
	w.pool = s.pool
	defer func() {
		w.pool = nil
		s.free <- w
	}()
	t := &microbatches{Pass: s, b: b, keep: true}
	var workspace []float32
	for i := range len(s.bounds) - 1 {
		w.run(t, i)
		w.visitWeights(s.bounds[i], &workspace, visit)
	}
	return s.losses.Total()
}

// visitWeights calls visit with the attention weights of the microbatch that w has run. Its first
// sentence has index first in its batch.
func (w *worker) visitWeights(first int, workspace *[]float32, visit func(string, int, int, int, mat.Matrix)) {
	visitHeads := func(attention string, layer, heads int, in attn.Inputs, r attn.Ragged) {
		for head := range heads {
			for i := range r.Sentences() {
				queries, keys := int(r.QStarts[i+1]-r.QStarts[i]), int(r.KStarts[i+1]-r.KStarts[i])
				if queries*keys > len(*workspace) {
					*workspace = make([]float32, 2*queries*keys)
				}
				p := mat.Of(*workspace, queries, keys)
				in.Weights(p, heads, i, head, r)
				visit(attention, layer, head, first+i, p)
			}
		}
	}
	encoder, decoder := w.layerArgs(w.batch.SrcStarts, w.batch.TgtStarts, dropouts{}, dropouts{})
	for i, l := range w.p.Encoder {
		visitHeads(EncoderSelf, i, l.Self.Heads, l.Self.Inputs(&w.act.enc[i].Self), encoder.Self)
	}
	for i, l := range w.p.Decoder {
		if l.SSRU != nil {
			break // no layer has self-attention
		}
		visitHeads(DecoderSelf, i, l.Self.Heads, l.Self.Inputs(&w.act.dec[i].Self), decoder.Self)
	}
	for i, l := range w.p.Decoder {
		visitHeads(DecoderCross, i, l.Cross.Heads, l.Cross.Inputs(&w.act.dec[i].Cross), decoder.Cross)
	}
}
