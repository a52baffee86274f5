package model

import (
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// Loss is summed over the target tokens of a batch; see layer.Loss.
type Loss = layer.Loss

// Pass takes batches through a Transformer, forward and backward. It splits a batch into
// microbatches; each worker takes one microbatch at a time from the embeddings to the loss and
// back. Workers add to each gradient in microbatch order and end their microbatches in that order;
// otherwise they do not wait for each other (layer.Accumulator). So losses and gradients do not
// depend on the number of threads, nor, in float32, on the split.
//
// A Pass allocates nothing after its largest batch, or after Alloc for batches up to the given
// sizes. It is not safe for concurrent use.
type Pass struct {
	p     *Transformer // parameters
	pool  *mat.Pool
	arena *layer.Arena // of the whole batch; each worker has its own

	losses     layer.Losses // of each target token of the batch
	dsrc, dtgt mat.Matrix   // [m × d] and [n × d] gradients of the embedded tokens of the batch

	microbatchRows int          // row limit of a microbatch; a single sentence may exceed it
	workers        []*worker    // one for each thread
	free           chan *worker // workers without a microbatch
	bounds         []int        // first sentence of each microbatch, then the number of sentences
	doubled        Batch        // workspace of TrainRDrop
}

// worker takes one microbatch at a time through the model, on one thread: its layers have a nil
// pool, except in Attention, which runs one microbatch at a time.
type worker struct {
	stacks
	batch       Batch
	accumulator *layer.Accumulator
}

const (
	// maxMicrobatchRows is the row limit of a microbatch on either side: enough rows for matrix
	// products at full speed, but few enough that a layer's output is still in the cache when
	// the next layer reads it, and that activations need little memory however large the batch
	// is.
	maxMicrobatchRows = 256
	// minMicrobatchRows is the smallest row limit that a small batch on many threads gets.
	minMicrobatchRows = 64
)

// NewPass returns a pass on the threads of pool. The memory of t must have been allocated, for
// Train with AllocForTraining. Several goroutines may make passes of one Transformer and evaluate
// with them at the same time, but only one of them may call Train.
func NewPass(t *Transformer, pool *mat.Pool) *Pass {
	arenas := make([]*layer.Arena, 1+pool.Threads())
	for i := range arenas {
		arenas[i] = new(layer.Arena)
	}
	return newPass(t, pool, arenas)
}

// Sharing returns a pass of t, a Transformer of the same Config, that shares the memory of s. Only
// one of the two may be in use at a time.
func (s *Pass) Sharing(t *Transformer) *Pass {
	arenas := []*layer.Arena{s.arena}
	for _, w := range s.workers {
		arenas = append(arenas, w.arena)
	}
	return newPass(t, s.pool, arenas)
}

// newPass returns a pass with arenas[0] for the whole batch and a worker for each other arena.
func newPass(t *Transformer, pool *mat.Pool, arenas []*layer.Arena) *Pass {
	s := &Pass{p: t, pool: pool, arena: arenas[0], microbatchRows: maxMicrobatchRows, free: make(chan *worker, pool.Threads())}
	for _, a := range arenas[1:] {
		shared, accumulator := t.share()
		w := &worker{stacks: newStacks(shared, nil, a), accumulator: accumulator}
		s.workers = append(s.workers, w)
		s.free <- w
	}
	return s
}

// Alloc allocates the memory for training on batches of up to src source and tgt target tokens, in
// sentences of up to longest tokens, including BOS and EOS.
func (s *Pass) Alloc(src, tgt, longest int) {
	s.reserve(src, tgt, max(s.maxRowsOf(max(src, tgt), longest), longest), false)
}

// reserve is Alloc for microbatches of up to rows rows on each side.
func (s *Pass) reserve(src, tgt, rows int, rdrop bool) {
	s.allocBatch(src, tgt, true)
	// Two consecutive microbatches together exceed the row limit on one side, so there are at
	// most 2·(src+tgt)/limit + 1. split may halve the limit.
	s.bounds = slices.Grow(s.bounds[:0], 2*(src+tgt)/(minMicrobatchRows/2)+2)
	for _, w := range s.workers {
		w.alloc(min(src, rows), min(tgt, rows), true, rdrop, nil)
		w.batch.Grow(min(src, rows), min(tgt, rows), rows)
	}
}

// maxRows returns the row limit of a microbatch. It doubles in bf16 to amortize the conversion of
// the weights.
func (s *Pass) maxRows() int {
	if s.p.Output.Precision != layer.Float32 {
		return 2 * s.microbatchRows
	}
	return s.microbatchRows
}

// maxRowsOf returns the row limit for a batch with the given rows and longest sentence: in float32
// fewer if every thread can get a microbatch that way.
func (s *Pass) maxRowsOf(rows, longest int) int {
	if s.p.Output.Precision != layer.Float32 {
		return s.maxRows()
	}
	threads := len(s.workers)
	return min(s.maxRows(), max(minMicrobatchRows, (rows+threads-1)/threads+longest))
}

// Bytes returns the size of the memory of activations and workspaces.
func (s *Pass) Bytes() int64 {
	n := s.arena.Bytes()
	for _, w := range s.workers {
		n += w.arena.Bytes()
	}
	return n
}

// allocBatch allocates the losses and gradients of a whole batch of m source and n target tokens.
func (s *Pass) allocBatch(m, n int, train bool) {
	s.arena.Alloc(func() {
		s.losses = layer.AllocLosses(s.arena, n)
		if train {
			d := s.p.Config.DModel
			s.dsrc, s.dtgt = s.arena.Matrix(m, d), s.arena.Matrix(n, d)
		}
	})
}

// Train takes b forward, with dropout masks that are a function of seed, and backward, adds scale
// times the derivative of Loss.Sum to the gradients, and returns the loss. It panics on ids outside
// the vocabularies, on sentences that are empty or longer than Config.MaxLen, and if the
// Transformer has no gradients.
func (s *Pass) Train(b *Batch, seed uint64, scale float32) Loss {
	s.checkTrain(b)
	s.splitForThreads(b)
	return s.train(b, seed, scale, 0)
}

func (s *Pass) checkTrain(b *Batch) {
	b.check(s.p.Config)
	if s.p.Params.G == nil {
		panic("model: training a Transformer without gradients; use AllocForTraining")
	}
}

// splitForThreads sets bounds to a split of b that suits the number of threads: the fewest
// microbatches, rounded up to a multiple of the threads, and among such splits one with the
// smallest row limit, so that all threads end at about the same time. In bf16 gradients depend on
// the split, so it does not depend on the threads.
func (s *Pass) splitForThreads(b *Batch) {
	rows, threads, maxRows := b.rows(), len(s.workers), s.maxRowsOf(b.rows(), b.maxSentence())
	if s.p.Output.Precision != layer.Float32 {
		n := (rows + maxRows - 1) / maxRows
		if rows > s.microbatchRows { // bf16 is not faster on halves of smaller batches
			n += n % 2 // keeps two threads busy
		}
		s.split(b, n, maxRows)
		return
	}
	s.splitRows(b, maxRows)
	n := max(len(s.bounds)-1, min(threads, rows/minMicrobatchRows))
	if n > threads {
		n = (n + threads - 1) / threads * threads
	}
	for limit := max(rows/max(n, 1), minMicrobatchRows/2); limit <= maxRows; limit++ {
		if s.splitRows(b, limit); len(s.bounds)-1 <= n {
			break
		}
	}
}

// split sets bounds to a split of b into n or more microbatches of similar size, with up to maxRows
// rows on each side.
func (s *Pass) split(b *Batch, n, maxRows int) {
	// A microbatch ends before the first sentence that exceeds its row limit: on average about
	// half a sentence early. Half a sentence more keeps the remainder from becoming a further,
	// small microbatch.
	s.splitRows(b, min(maxRows, b.rows()/max(n, 1)+b.maxSentence()/2))
}

// splitRows sets bounds to a split of b into microbatches of up to limit rows on each side.
func (s *Pass) splitRows(b *Batch, limit int) {
	s.bounds = append(s.bounds[:0], 0)
	for end := 0; end < b.Sentences(); {
		end = b.microbatchEnd(end, limit)
		s.bounds = append(s.bounds, end)
	}
}

// train is Train for the split in bounds, with R-Drop if alpha is not 0.
func (s *Pass) train(b *Batch, seed uint64, scale, alpha float32) Loss {
	s.allocBatch(len(b.Src), len(b.TgtIn), true)
	s.p.Params.BeginBatch()
	enc, dec := s.p.Config.dropouts(seed)
	mat.Each(s.pool, len(s.bounds)-1, 1, microbatches{Pass: s, b: b, backward: true, enc: enc, dec: dec, scale: scale, alpha: alpha})
	s.embedBackward(b, enc, dec)
	return s.losses.Total()
}

// embedBackward adds to the gradients of the embeddings, from those of the embedded tokens.
func (s *Pass) embedBackward(b *Batch, enc, dec dropouts) {
	s.p.TgtEmbed.Backward(s.pool, s.dtgt, b.TgtIn, b.TgtStarts, dec.at(0))
	s.p.SrcEmbed.Backward(s.pool, s.dsrc, b.Src, b.SrcStarts, enc.at(0))
}

// Evaluate returns the loss of b without dropout. It panics on ids and sentences as Train does.
func (s *Pass) Evaluate(b *Batch) Loss {
	b.check(s.p.Config)
	s.splitForThreads(b)
	s.allocBatch(len(b.Src), len(b.TgtIn), false)
	mat.Each(s.pool, len(s.bounds)-1, 1, microbatches{Pass: s, b: b})
	return s.losses.Total()
}

// microbatches is the parallel loop over the microbatches of b. mat.Each starts them in order, as
// layer.Accumulator requires.
type microbatches struct {
	*Pass
	b            *Batch
	backward     bool // train, not evaluate
	keep         bool // evaluate and keep the activations of all layers
	enc, dec     dropouts
	scale, alpha float32
}

func (t *microbatches) Range(lo, hi int) {
	w := <-t.free
	defer func() { t.free <- w }()
	for i := lo; i < hi; i++ {
		w.run(t, i)
	}
}

// run takes microbatch i forward and, if t.backward, backward. It sets the microbatch's rows of
// t.losses and, backward, of t.dsrc and t.dtgt, and adds to the gradients of the parameters.
// embedBackward adds those of the embeddings later.
func (w *worker) run(t *microbatches, i int) {
	if t.backward {
		w.accumulator.Begin(i)
		defer w.accumulator.End()
	}

	// The microbatch starts with sentence first, source row src and target row tgt of the
	// batch.
	first, b := t.bounds[i], &w.batch
	b.Reset()
	b.appendRange(t.b, first, t.bounds[i+1])
	src, tgt := int(t.b.SrcStarts[first]), int(t.b.TgtStarts[first])
	m, n := len(b.Src), len(b.TgtIn)
	w.alloc(m, n, t.backward || t.keep, t.alpha != 0, nil)
	targets := layer.Targets{IDs: b.TgtOut, Losses: t.losses.RowRange(tgt, tgt+n), Scale: t.scale}

	x := w.forward(b, t.enc.offset(src, first), t.dec.offset(tgt, first))
	if !t.backward {
		w.p.Output.Forward(w.pool, x, targets, w.act.loss)
		return
	}
	w.dsrc, w.dtgt = t.dsrc.RowRange(src, src+m), t.dtgt.RowRange(tgt, tgt+n)
	if t.alpha != 0 {
		w.p.Output.RDrop(w.pool, w.dtgt, x, targets, t.alpha, w.act.loss)
	} else {
		w.p.Output.ForwardBackward(w.pool, w.dtgt, x, targets, w.act.loss)
	}
	w.backward()
}
