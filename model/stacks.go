package model

import (
	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// stacks takes sentences through a Transformer's encoder and decoder, forward and backward, and
// owns the activations. After its largest batch it allocates nothing. It is not safe for concurrent
// use.
type stacks struct {
	p     *Transformer // parameters
	act   stackAct
	pool  *mat.Pool
	arena *layer.Arena

	// Gradients, which each layer's Backward replaces. dsrc [m × d]: first that of the memory,
	// finally that of the embedded source. dtgt [n × d]: first that of the decoder's output,
	// finally that of the embedded target.
	dsrc, dtgt       mat.Matrix
	encGrad, decGrad LayerGrad
}

// stackAct holds the activations of both stacks for m source and n target tokens.
type stackAct struct {
	src, tgt         mat.Matrix   // [m × d], [n × d] embedded tokens
	enc              []EncoderAct // of each layer; without backward all share one layer's memory
	dec              []DecoderAct // likewise
	encNorm, decNorm layer.NormAct
	memory           mat.Matrix // [m × d] the encoder's output
	loss             layer.LossWorkspace
}

func newStacks(t *Transformer, pool *mat.Pool, a *layer.Arena) stacks {
	s := stacks{p: t, pool: pool, arena: a}
	s.act.enc, s.act.dec = make([]EncoderAct, len(t.Encoder)), make([]DecoderAct, len(t.Decoder))
	return s
}

// alloc allocates the activations and the workspace of the loss for m source and n target tokens.
// With backward it also allocates the workspace of backward, and layers keep their activations;
// with rdrop the workspace is that of Output.RDrop. more, unless it is nil, allocates from the same
// arena.
func (s *stacks) alloc(m, n int, backward, rdrop bool, more func()) {
	a, act, d := s.arena, &s.act, s.p.Config.DModel
	a.Alloc(func() {
		act.src, act.tgt = a.Matrix(m, d), a.Matrix(n, d)
		// A layer reads its input before it writes its output, so without backward all layers
		// of a stack share one layer's memory.
		for i := range s.p.Encoder {
			act.enc[i] = act.enc[0]
			if backward || i == 0 {
				act.enc[i] = s.p.Encoder[i].Alloc(a, m, backward)
			}
		}
		for i := range s.p.Decoder {
			act.dec[i] = act.dec[0]
			if backward || i == 0 {
				act.dec[i] = s.p.Decoder[i].Alloc(a, n, m, backward)
			}
		}
		if s.p.Config.HasFinalNorm() {
			act.encNorm = s.p.EncNorm.Alloc(a, m)
			if len(s.p.Decoder) > 0 {
				act.decNorm = s.p.DecNorm.Alloc(a, n)
			}
		}
		if backward {
			s.encGrad = s.p.Encoder[0].AllocGrad(a, m) // all layers have equal sizes
			if len(s.p.Decoder) > 0 {
				s.decGrad = s.p.Decoder[0].AllocGrad(a, n, m)
			}
		}
		if rdrop {
			act.loss = s.p.Output.AllocRDrop(a, n/2)
		} else {
			act.loss = s.p.Output.Alloc(a, n)
		}
		if more != nil {
			more()
		}
	})
}

// layerArgs returns the arguments of the encoder's and of the decoder's layers, for sentences that
// begin at rows src and tgt, see Batch.
func (s *stacks) layerArgs(src, tgt []int32, enc, dec dropouts) (encoder, decoder LayerArgs) {
	return LayerArgs{Pool: s.pool, Self: attn.Ragged{QStarts: src, KStarts: src}, drop: enc},
		LayerArgs{
			Pool:  s.pool,
			Self:  attn.Ragged{QStarts: tgt, KStarts: tgt, Causal: true},
			Cross: attn.Ragged{QStarts: tgt, KStarts: src},
			drop:  dec,
		}
}

// forward returns the decoder's output [n × d]: figure 1 up to the last linear map.
func (s *stacks) forward(b *Batch, enc, dec dropouts) mat.Matrix {
	encoder, decoder := s.layerArgs(b.SrcStarts, b.TgtStarts, enc, dec)
	s.p.SrcEmbed.Forward(s.pool, s.act.src, b.Src, b.SrcStarts, enc.at(0))
	s.act.memory = s.encode(encoder, s.act.src)

	s.p.TgtEmbed.Forward(s.pool, s.act.tgt, b.TgtIn, b.TgtStarts, dec.at(0))
	return s.decode(decoder, s.act.tgt)
}

// encode returns the encoder's output for embedded tokens x [m × d].
func (s *stacks) encode(args LayerArgs, x mat.Matrix) mat.Matrix {
	for i := range s.p.Encoder {
		x = s.p.Encoder[i].Forward(args.forLayer(1+2*i), &s.act.enc[i], x)
	}
	if s.p.Config.HasFinalNorm() {
		x = s.p.EncNorm.Forward(s.pool, &s.act.encNorm, x)
	}
	return x
}

// decode returns the decoder's output for embedded tokens x [n × d] and the memory in act.
func (s *stacks) decode(args LayerArgs, x mat.Matrix) mat.Matrix {
	for i := range s.p.Decoder {
		x = s.p.Decoder[i].Forward(args.forLayer(1+3*i), &s.act.dec[i], x, s.act.memory)
	}
	if s.p.Config.HasFinalNorm() {
		x = s.p.DecNorm.Forward(s.pool, &s.act.decNorm, x)
	}
	return x
}

// backward replaces dtgt, the gradient of forward's result, with that of the embedded targets,
// and sets dsrc to that of the embedded sources.
func (s *stacks) backward() {
	s.decodeBackward()
	s.encodeBackward()
}

// decodeBackward replaces dtgt, the gradient of decode's result, with that of its x, and sets
// dsrc to that of the memory.
func (s *stacks) decodeBackward() {
	if s.p.Config.HasFinalNorm() {
		s.p.DecNorm.Backward(s.pool, s.dtgt, s.dtgt, &s.act.decNorm, layer.Set)
	}
	clear(s.dsrc.Data[:s.dsrc.Rows*s.dsrc.Cols])
	for i := len(s.p.Decoder) - 1; i >= 0; i-- {
		s.p.Decoder[i].Backward(s.pool, s.dtgt, s.dsrc, &s.act.dec[i], &s.decGrad)
	}
}

// encodeBackward replaces dsrc, the gradient of encode's result, with that of its x.
func (s *stacks) encodeBackward() {
	if s.p.Config.HasFinalNorm() {
		s.p.EncNorm.Backward(s.pool, s.dsrc, s.dsrc, &s.act.encNorm, layer.Set)
	}
	for i := len(s.p.Encoder) - 1; i >= 0; i-- {
		s.p.Encoder[i].Backward(s.pool, s.dsrc, &s.act.enc[i], &s.encGrad)
	}
}
