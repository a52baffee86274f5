package decode

import (
	"context"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// Decoder translates for one goroutine. A translation depends neither on the other sources nor on
// the number of threads. A Decoder is not safe for concurrent use; any number of Decoders may share
// Weights. An Engine translates for many goroutines.
type Decoder struct {
	w         *Weights
	pool      *mat.Pool
	state     *State
	scheduler *scheduler
	handles   []int32 // workspace of Next
	pairs     pairPass
}

// New returns a Decoder with the weights w whose loops run on p.
func New(w *Weights, p *mat.Pool) *Decoder {
	d := &Decoder{w: w, pool: p, pairs: pairPass{weights: w, scratch: scratch{pool: p}}}
	d.reset()
	return d
}

// reset makes d a Decoder without requests.
func (d *Decoder) reset() {
	d.state = NewState(d.w, d.pool)
	d.scheduler = newScheduler(d.w, d.state, d.pool)
}

// Translate returns the best translation of each source, in the order of srcs: the first of its
// list from NBest. Sources are ids without EOS. The error is that of Options.Validate, or that of
// ctx, which Translate checks before each step, or a *PanicError. It panics on ids outside the
// vocabulary and on a source of more than Config.MaxLen-1 tokens.
func (d *Decoder) Translate(ctx context.Context, srcs [][]int32, o Options) ([]Hypothesis, error) {
	return collect(d.each, ctx, srcs, o, func(list []Hypothesis) Hypothesis { return list[0] })
}

// NBest returns for each source a list of 1 to Options.NBest translations by descending score. Beam
// search lists different translations: those that end in EOS, or else the truncated ones. Sampling
// lists all draws, equal ones too. Errors and panics are those of Translate.
func (d *Decoder) NBest(ctx context.Context, srcs [][]int32, o Options) ([][]Hypothesis, error) {
	return collect(d.each, ctx, srcs, o, func(list []Hypothesis) []Hypothesis { return list })
}

// each calls done with the index and the list of translations of each source.
func (d *Decoder) each(ctx context.Context, srcs [][]int32, o Options, done func(int, []Hypothesis)) (err error) {
	if err := checkCall(d.w, srcs, &o); err != nil {
		return err
	}
	defer func() {
		if !d.scheduler.idle() { // a step has panicked, whose request must not be in the next call
			d.reset()
		}
	}()
	d.scheduler.add(newRequest(ctx, srcs, o, done, func(e error) { err = e }))
	for !d.scheduler.idle() {
		d.scheduler.step()
	}
	return err
}

// Next returns, for every id of the target vocabulary, the probability of being the next token
// after given in the translation of src: one decode step. The probabilities are those of the
// searches, bit for bit. Pad and BOS have 0, suppressed pieces their share. Next panics on ids and
// lengths as Translate does.
func (d *Decoder) Next(src, given []int32) []float32 {
	c := &d.w.model.Config
	checkIDs("target", 0, given, c.TgtVocab, c.MaxLen)
	d.handles = d.state.Add(d.handles[:0], src)
	defer d.state.Remove(d.handles[0])
	logits := d.state.Step([]Row{{Source: d.handles[0], Token: model.BOS, Parent: -1}})
	for _, id := range given {
		logits = d.state.Step([]Row{{Source: d.handles[0], Token: id}})
	}
	p := slices.Clone(logits.Row(0))
	mask(p, nil)
	mat.Softmax(p, p, 1)
	return p
}
