package model

import (
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// Loss is summed over the target tokens of a batch; see layer.Loss.
type Loss = layer.Loss

// Pass takes batches through a Transformer, forward and backward. A batch goes in parts, some sentences each, and every
// thread takes a part from the embeddings to the loss and back, on its own: threads meet only where they add to the same gradient,
// which they do in the order of the parts. So losses and gradients do not depend on the number of threads, nor on the parts.
//
// After the largest batch has been seen, or announced to Reserve, a Pass allocates nothing. It is not for concurrent use.
type Pass struct {
	stacks // for what is not cut in parts; the derivatives are those of the whole batch

	rows   int       // of a part at most, but for a single sentence
	crew   []*worker // one a thread
	idle   chan *worker
	cuts   []int        // the first sentence of each part, and at the end how many there are
	losses layer.Losses // of each target token of the batch
	twice  Batch        // of TrainRDrop
}

// worker takes one part after another.
type worker struct {
	stacks
	batch  Batch
	number layer.Part
}

const (
	// partRows is how many tokens on a side go through the layers together: so many that the matrix products are at their
	// speed, and so few that what one layer hands to the next is still in a cache nearby, and that the activations of all of
	// a large batch never exist at once.
	partRows = 256
	// fewPartRows are enough to be worth a part where a batch is small and threads are many.
	fewPartRows = 64
)

// NewPass returns a pass on the threads of p. The Transformer must have been allocated, with gradients for Train. Any number
// of goroutines may make passes of one Transformer, and evaluate with them, at once; one at a time may train it.
func NewPass(t *Transformer, p *mat.Pool) *Pass {
	arenas := make([]*layer.Arena, 1+p.Threads())
	for i := range arenas {
		arenas[i] = new(layer.Arena)
	}
	return newPass(t, p, arenas)
}

// Sharing returns a pass of t, a Transformer of the same Config, in the memory of s: the two take turns, a batch each.
func (s *Pass) Sharing(t *Transformer) *Pass {
	arenas := []*layer.Arena{s.arena}
	for _, w := range s.crew {
		arenas = append(arenas, w.arena)
	}
	return newPass(t, s.pool, arenas)
}

// newPass has a worker for each but the first of arenas, which is for the whole batch.
func newPass(t *Transformer, p *mat.Pool, arenas []*layer.Arena) *Pass {
	s := &Pass{stacks: newStacks(t, p, arenas[0]), rows: partRows, idle: make(chan *worker, p.Threads())}
	for _, a := range arenas[1:] {
		w := new(worker)
		w.stacks = newStacks(t.share(&w.number), nil, a)
		s.crew = append(s.crew, w)
		s.idle <- w
	}
	return s
}

// Reserve makes room for training on batches of up to src source and tgt target tokens, in sentences of up to longest, BOS
// and EOS counted.
func (s *Pass) Reserve(src, tgt, longest int) {
	_, rows := s.partsOf(max(src, tgt))
	s.reserve(src, tgt, max(rows, longest), false)
}

func (s *Pass) reserve(src, tgt, rows int, rdrop bool) {
	s.bindWhole(src, tgt, true)
	s.cuts = slices.Grow(s.cuts[:0], 2*max(src, tgt)/fewPartRows+2) // two neighbours have more rows than a part may
	for _, w := range s.crew {
		w.bind(min(src, rows), min(tgt, rows), true, rdrop)
		w.batch.SrcStarts, w.batch.TgtStarts = slices.Grow(w.batch.SrcStarts[:0], rows+1), slices.Grow(w.batch.TgtStarts[:0], rows+1)
	}
}

// most is how many rows a part has at most: more in bf16, for preparing the weights takes as long as it does in float32.
func (s *Pass) most() int {
	if s.Output.Precision != layer.Float32 {
		return 2 * s.rows
	}
	return s.rows
}

// partsOf is into how many parts a batch of so many rows goes, and how many rows they have at most: fewer than usual where that
// gives every thread a part. In bf16, whose sums depend on where they are cut, it is an even number for any number of threads.
func (s *Pass) partsOf(rows int) (parts, most int) {
	if s.Output.Precision != layer.Float32 {
		most = s.most()
		parts = (rows + most - 1) / most
		if rows > s.rows { // the halves of less would be too small for bf16 to gain
			parts += parts % 2
		}
		return parts, most
	}
	threads := len(s.crew)
	most = min(s.rows, max(fewPartRows, (rows+threads-1)/threads))
	return (rows + most - 1) / most, most
}

// Bytes is the memory of the activations.
func (s *Pass) Bytes() int64 {
	n := s.arena.Bytes()
	for _, w := range s.crew {
		n += w.arena.Bytes()
	}
	return n
}

// bindWhole gives what belongs to a whole batch of m source and n target tokens its memory.
func (s *Pass) bindWhole(m, n int, train bool) {
	s.arena.Fit(func() {
		s.losses = layer.NewLosses(s.arena, n)
		if train {
			s.dsrc, s.dtgt = s.arena.Matrix(m, s.Config.DModel), s.arena.Matrix(n, s.Config.DModel)
		}
	})
}

// bind gives the activations of a part their memory.
func (w *worker) bind(m, n int, train, rdrop bool) {
	w.arena.Fit(func() {
		w.take(m, n, train)
		if rdrop {
			w.room = w.Output.NewRDropRoom(w.arena, n/2)
		}
	})
}

// Train takes a batch forward with dropout, whose masks are a function of seed, and backward, and adds scale
// times the derivative of the summed loss (Loss.Sum) to the gradients. Ids and lengths must be within the
// vocabularies and Config.MaxLen, and the Transformer must have gradients; it panics otherwise.
func (s *Pass) Train(b *Batch, seed uint64, scale float32) Loss {
	s.checkTrain(b)
	s.divide(b)
	return s.train(b, seed, scale, 0)
}

func (s *Pass) checkTrain(b *Batch) {
	b.check(s.Config)
	if s.Params.G == nil {
		panic("model: training of a Transformer that was allocated without gradients")
	}
}

// divide sets cuts to parts that suit the threads.
func (s *Pass) divide(b *Batch) {
	parts, most := s.partsOf(b.side())
	s.cut(b, parts, most)
}

// cut sets cuts to so many parts, or more, of up to so many rows on each side, evenly.
func (s *Pass) cut(b *Batch, parts, most int) {
	even := min(most, b.side()/max(parts, 1)+b.longest()/2)
	s.cuts = append(s.cuts[:0], 0)
	for at := 0; at < b.Sentences(); {
		at = b.end(at, even)
		s.cuts = append(s.cuts, at)
	}
}

// train trains on the parts of b that cuts says, with R-Drop of alpha if that is not 0.
func (s *Pass) train(b *Batch, seed uint64, scale, alpha float32) Loss {
	s.bindWhole(len(b.Src), len(b.TgtIn), true)
	s.Params.FirstPart()
	enc, dec := s.drops(seed)
	mat.Each(s.pool, len(s.cuts)-1, 1, trainParts{s, b, enc, dec, scale, alpha})
	s.embedBackward(b, enc, dec)
	return s.losses.Total()
}

// trainParts is the loop over the parts of b. Each must begin them in order: one waits for those before it.
type trainParts struct {
	*Pass
	b            *Batch
	enc, dec     dropouts
	scale, alpha float32
}

func (t *trainParts) Range(lo, hi int) {
	w := <-t.idle
	for i := lo; i < hi; i++ {
		w.train(t, i)
	}
	t.idle <- w
}

// train takes part i forward and backward.
func (w *worker) train(t *trainParts, i int) {
	first, b := t.cuts[i], &w.batch
	t.b.part(b, first, t.cuts[i+1])
	m, n := len(b.Src), len(b.TgtIn)
	w.number.Number = int32(i)
	w.bind(m, n, true, t.alpha != 0)
	src, tgt := int(t.b.SrcStarts[first]), int(t.b.TgtStarts[first])
	w.dsrc, w.dtgt = t.dsrc.RowRange(src, src+m), t.dtgt.RowRange(tgt, tgt+n)
	losses := t.losses.Rows(tgt, tgt+n)
	enc, dec := t.enc.behind(src, first), t.dec.behind(tgt, first)

	x := w.forward(b, enc, dec)
	if t.alpha != 0 {
		w.Output.RDrop(nil, w.dtgt, x, b.TgtOut, t.scale, t.alpha, w.room, losses)
	} else {
		w.Output.ForwardBackward(nil, w.dtgt, x, b.TgtOut, t.scale, w.room, losses)
	}
	w.backward(b, enc, dec)
}

// Evaluate returns the loss of a batch, without dropout. It panics on ids and lengths as Train does.
func (s *Pass) Evaluate(b *Batch) Loss {
	b.check(s.Config)
	s.divide(b)
	s.bindWhole(len(b.Src), len(b.TgtIn), false)
	mat.Each(s.pool, len(s.cuts)-1, 1, evaluateParts{s, b})
	return s.losses.Total()
}

type evaluateParts struct {
	*Pass
	b *Batch
}

func (t *evaluateParts) Range(lo, hi int) {
	w := <-t.idle
	for i := lo; i < hi; i++ {
		b := &w.batch
		t.b.part(b, t.cuts[i], t.cuts[i+1])
		w.bind(len(b.Src), len(b.TgtIn), false, false)
		tgt := int(t.b.TgtStarts[t.cuts[i]])
		x := w.forward(b, dropouts{}, dropouts{})
		w.Output.Forward(nil, x, b.TgtOut, w.room, t.losses.Rows(tgt, tgt+len(b.TgtIn)))
	}
	t.idle <- w
}
