package corpus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"tfm/internal/format"
	"tfm/text"
	"tfm/text/augment"
	"tfm/train"
)

// stream is a corpus in files as a train.Stream: windows of consecutive pairs of each source.
type stream struct {
	datasets []*dataset
	schedule *schedule
	encoders [2]encoder
	affixes  affixes
	heldOut  map[int]bool // pairs that are held out, by their index in the corpus
	pairs    int          // of all sources, and so of an epoch; held-out pairs included
	windows  int
	seed     uint64

	ids     [2][]int32
	changes rand.PCG // of the modifiers
}

// newStream returns the stream of a text that has been read. Its windows have about equal sizes of
// at most o.ShuffleWindow pairs; 0 is one window.
func newStream(t *Text, encoders [2]encoder, a affixes, heldOut map[int]bool, o train.Options) (*stream, error) {
	s := &stream{encoders: encoders, affixes: a, heldOut: heldOut, windows: 1, seed: o.Seed}
	heldOutOf, first := make([]int, len(t.parts)), 0
	for i, of := range t.parts {
		s.datasets = append(s.datasets, newDataset(of, first, t.counts[i]))
		for j := range heldOut {
			if first <= j && j < first+t.counts[i] {
				heldOutOf[i]++
			}
		}
		if heldOutOf[i] == t.counts[i] {
			return nil, fmt.Errorf("%s: all %s of %s are held out: give -valid-src and -valid-tgt", t.Name, format.Count(t.counts[i], "pair"), of.Name)
		}
		first += t.counts[i]
	}
	s.pairs = first
	stages := t.stages
	if stages == nil {
		stages = []Stage{{Shares: []float64{1}}}
	}
	var err error
	if s.schedule, err = newSchedule(stages, t.counts, heldOutOf); err != nil {
		return nil, err
	}
	if o.ShuffleWindow > 0 {
		s.windows = max(1, (s.pairs+o.ShuffleWindow-1)/o.ShuffleWindow)
	}
	return s, nil
}

// Windows implements train.Stream.
func (s *stream) Windows() int { return s.windows }

// start returns the number of pairs before a window of an epoch.
func (s *stream) start(epoch, window int) int {
	return epoch*s.pairs + int(int64(s.pairs)*int64(window)/int64(s.windows))
}

// Read implements train.Stream.
func (s *stream) Read(ctx context.Context, dst *train.Pairs, epoch, window int) error {
	from, to := s.start(epoch, window), s.start(epoch, window+1)
	return s.schedule.split(from, to, func(stage, x, y int) error {
		for i, dataset := range s.datasets {
			r := datasetReader{stream: s, dataset: dataset, dst: dst, window: to - from}
			r.at, r.end = s.schedule.count(stage, i, x), s.schedule.count(stage, i, y)
			if err := r.read(ctx, s.schedule.stages[stage].Modifiers); err != nil {
				return err
			}
		}
		return nil
	})
}

// datasetReader adds pairs of a dataset to a window.
type datasetReader struct {
	*stream
	dataset *dataset
	dst     *train.Pairs
	window  int // pairs of the window
	at, end int // the next pair and the end, counted through all passes
	pass    int // of the last pair
	index   int // of the last pair in the corpus
	last    text.Pair
	again   bool // next returns the last pair again
	err     error
}

// read adds the pairs.
func (r *datasetReader) read(ctx context.Context, modifiers []augment.Modifier) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, ok := r.next()
		if !ok {
			break
		}
		if _, rest := r.cutTag(p.Source); len(modifiers) == 0 || text.IsBlank(rest) || text.IsBlank(p.Target) {
			r.add(r.dataset.tagged(p.Source), p.Target)
		} else {
			r.modify(p, modifiers)
		}
		if r.dst.Len() == growAfter {
			r.dst.Grow(max(0, r.window-growAfter))
		}
	}
	if r.err == nil {
		r.err = r.dataset.checkEnd()
	}
	return r.err
}

// draws returns the random stream of the last pair in its pass: one from 2^61 to below 2^62.
// Package train uses those of small numbers and from 2^63.
func (r *datasetReader) draws() uint64 {
	const first = 1 << 61
	return first | (uint64(r.pass)<<40|uint64(r.index))&(first-1)
}

// next returns the next pair that is not held out, or false at the end or after an error.
func (r *datasetReader) next() (p text.Pair, ok bool) {
	if r.again {
		r.again = false
		return r.last, true
	}
	for r.err == nil && r.at < r.end {
		i := r.at % r.dataset.pairs
		r.pass, r.index = r.at/r.dataset.pairs, r.dataset.first+i
		r.at++
		if r.last, r.err = r.dataset.read(i); r.err == nil && !r.heldOut[r.index] {
			return r.last, true
		}
	}
	return text.Pair{}, false
}

// modify adds what modifiers make of a pair. They do not change the tag before the source. A blank
// sentence, or another tag, ends the sentences that are joined.
func (r *datasetReader) modify(p text.Pair, modifiers []augment.Modifier) {
	r.changes.Seed(r.seed, r.draws())
	tag, rest := r.cutTag(p.Source)
	tag, p.Source = strings.Clone(tag), rest
	further := func() (text.Pair, bool) {
		p, ok := r.next()
		if !ok {
			return p, false
		}
		other, rest := r.cutTag(p.Source)
		if r.again = other != tag || text.IsBlank(rest) || text.IsBlank(p.Target); r.again {
			return p, false
		}
		p.Source = rest
		return p, true
	}
	p = augment.Apply(modifiers, rand.New(&r.changes), p, further)
	r.add(r.dataset.tagged(tag+p.Source), p.Target)
}

// cutTag returns the language that a source sentence of the files begins with, and the rest.
func (r *datasetReader) cutTag(source string) (tag, rest string) {
	if r.dataset.Tag != "" {
		return "", source
	}
	_, rest = r.affixes.cut(source)
	return source[:len(source)-len(rest)], rest
}

// add appends the ids of a pair to dst.
func (r *datasetReader) add(src, tgt string) {
	s := r.stream
	s.affixes.encode(&s.ids, r.dataset.Dataset, src, tgt, s.encoders)
	r.dst.Add(s.ids[0], s.ids[1])
}

// close closes the files.
func (s *stream) close() {
	for _, dataset := range s.datasets {
		dataset.close()
	}
}
