package model

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// stacks takes sentences through a Transformer's encoder and decoder, forward and backward, and owns the activations. After
// the most tokens have been seen it allocates nothing. It is not for concurrent use.
type stacks struct {
	*Transformer
	pool  *mat.Pool
	arena *layer.Arena

	src, tgt         mat.Matrix     // [m × d], [n × d] embedded tokens
	enc              []encoderState // of each layer; all the same memory where nothing is taken backward
	dec              []decoderState // likewise
	encNorm, decNorm layer.Normed   // behind the stacks, if there are norms
	memory           mat.Matrix     // [m × d] the encoder's output
	room             layer.LossRoom

	dsrc, dtgt       mat.Matrix // derivatives that flow down the two stacks; dsrc begins as that of the memory
	encGrad, decGrad gradients
}

func newStacks(t *Transformer, p *mat.Pool, a *layer.Arena) stacks {
	return stacks{Transformer: t, pool: p, arena: a, enc: make([]encoderState, len(t.Encoder)), dec: make([]decoderState, len(t.Decoder))}
}

// bind gives every activation of m source and n target tokens its memory.
func (s *stacks) bind(m, n int, train bool) {
	s.arena.Fit(func() {
		s.take(m, n, train)
		if train {
			s.dsrc, s.dtgt = s.arena.Matrix(m, s.Config.DModel), s.arena.Matrix(n, s.Config.DModel)
		}
	})
}

func (s *stacks) take(m, n int, train bool) {
	a, d, ff, final := s.arena, s.Config.DModel, s.Config.DFF, s.Config.HasFinalNorm()
	s.src, s.tgt = a.Matrix(m, d), a.Matrix(n, d)
	// A layer is done with its input x before it writes its result, so what is not to be taken backward can go from
	// layer to layer in one memory.
	for i := range s.Encoder {
		if train || i == 0 {
			s.enc[i] = s.Encoder[i].state(a, m, train)
		} else {
			s.enc[i] = s.enc[0]
		}
	}
	for i := range s.Decoder {
		if train || i == 0 {
			s.dec[i] = s.Decoder[i].state(a, n, m, train)
		} else {
			s.dec[i] = s.dec[0]
		}
	}
	if final {
		s.encNorm, s.decNorm = layer.NewNormedAlone(a, m, d), layer.NewNormedAlone(a, n, d)
	}
	s.room = s.Output.NewLossRoom(a, n)
	if !train {
		return
	}
	enc := &s.Encoder[0] // as the others are
	s.encGrad = gradients{sub: a.Matrix(m, d), hidden: a.Matrix(m, ff), self: enc.Self.NewSelfState(a, m)}
	if len(s.Decoder) == 0 { // in a Classifier
		return
	}
	dec := &s.Decoder[0]
	s.decGrad = gradients{sub: a.Matrix(n, d), hidden: a.Matrix(n, ff), self: dec.Self.NewSelfState(a, n), cross: dec.Cross.NewCrossState(a, n, m)}
}

// drops gives the places of the encoder and of the decoder where dropout is applied: the embeddings of a stack, then
// two for each layer of the encoder or three for each of the decoder.
func (s *stacks) drops(seed uint64) (enc, dec dropouts) {
	c := &s.Config
	enc = dropouts{rates: c.rates(), seed: seed, width: c.DModel, ff: c.DFF, heads: c.Heads}
	return enc, enc.from(1 + 2*len(s.Encoder))
}

func (b *Batch) ragged() (encoder, decoder, cross attn.Ragged) {
	return attn.Ragged{Q: b.SrcStarts, K: b.SrcStarts},
		attn.Ragged{Q: b.TgtStarts, K: b.TgtStarts, Causal: true},
		attn.Ragged{Q: b.TgtStarts, K: b.SrcStarts}
}

// forward returns the decoder's output [n × d]: figure 1 up to the last linear map.
func (s *stacks) forward(b *Batch, enc, dec dropouts) mat.Matrix {
	self, causal, cross := b.ragged()
	s.encode(b.Src, self, enc)
	s.TgtEmbed.Forward(s.pool, s.tgt, b.TgtIn, b.TgtStarts, dec.at(0))
	return s.decoderStack(causal, cross, dec)
}

// encode returns the encoder's output [m × d].
func (s *stacks) encode(src []int32, r attn.Ragged, drops dropouts) mat.Matrix {
	s.SrcEmbed.Forward(s.pool, s.src, src, r.Q, drops.at(0))
	return s.encoderStack(r, drops)
}

// encoderStack takes src through the encoder's layers to memory [m × d], and returns it.
func (s *stacks) encoderStack(r attn.Ragged, drops dropouts) mat.Matrix {
	x := s.src
	for i := range s.Encoder {
		x = s.Encoder[i].forward(s.pool, &s.enc[i], x, r, drops.from(1+2*i))
	}
	if s.Config.HasFinalNorm() {
		s.Transformer.EncNorm.Forward(s.pool, s.encNorm, x)
		x = s.encNorm.Y
	}
	s.memory = x
	return x
}

// decoderStack takes tgt through the decoder's layers and returns their output [n × d].
func (s *stacks) decoderStack(causal, cross attn.Ragged, drops dropouts) mat.Matrix {
	x := s.tgt
	for i := range s.Decoder {
		x = s.Decoder[i].forward(s.pool, &s.dec[i], x, s.memory, causal, cross, drops.from(1+3*i))
	}
	if s.Config.HasFinalNorm() {
		s.Transformer.DecNorm.Forward(s.pool, s.decNorm, x)
		x = s.decNorm.Y
	}
	return x
}

// backward takes dtgt, the derivative of forward's result, down both stacks, to those of the embedded tokens.
func (s *stacks) backward(b *Batch, enc, dec dropouts) {
	self, causal, cross := b.ragged()
	s.decoderStackBackward(causal, cross, dec)
	s.encoderStackBackward(self, enc)
}

// embedBackward takes dsrc and dtgt, the derivatives of a batch's embedded tokens, to the gradients of the embeddings.
func (s *stacks) embedBackward(b *Batch, enc, dec dropouts) {
	s.TgtEmbed.Backward(s.pool, s.dtgt, b.TgtIn, b.TgtStarts, dec.at(0))
	s.SrcEmbed.Backward(s.pool, s.dsrc, b.Src, b.SrcStarts, enc.at(0))
}

// decoderStackBackward turns dtgt, the derivative of decoderStack's result, into that of tgt, and sets dsrc, that
// of the memory.
func (s *stacks) decoderStackBackward(causal, cross attn.Ragged, drops dropouts) {
	last := len(s.Decoder) - 1
	if s.Config.HasFinalNorm() {
		s.Transformer.DecNorm.Backward(s.pool, s.dtgt, s.dtgt, s.decNorm, s.Decoder[last].out(&s.dec[last]), layer.Set)
	}
	how := layer.Set // every layer of the decoder adds to the memory's derivative; the first to come sets it
	for i := last; i >= 0; i-- {
		x := s.tgt
		if i > 0 {
			x = s.Decoder[i-1].out(&s.dec[i-1])
		}
		s.Decoder[i].backward(s.pool, s.dtgt, s.dsrc, &s.decGrad, &s.dec[i], x, s.memory, causal, cross, drops.from(1+3*i), how)
		how = layer.Add
	}
}

// encoderStackBackward turns dsrc, the derivative of the memory, into that of src.
func (s *stacks) encoderStackBackward(r attn.Ragged, drops dropouts) {
	last := len(s.Encoder) - 1
	if s.Config.HasFinalNorm() {
		s.Transformer.EncNorm.Backward(s.pool, s.dsrc, s.dsrc, s.encNorm, s.Encoder[last].out(&s.enc[last]), layer.Set)
	}
	for i := last; i >= 0; i-- {
		x := s.src
		if i > 0 {
			x = s.Encoder[i-1].out(&s.enc[i-1])
		}
		s.Encoder[i].backward(s.pool, s.dsrc, &s.encGrad, &s.enc[i], x, r, drops.from(1+2*i))
	}
}
