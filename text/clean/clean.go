package clean

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/internal/parallel"
	"tfm/text/internal/words"
)

// Report is the result of Clean.
type Report struct {
	Pairs   int
	Dropped [NumFaults]int // pairs by fault; those of None are kept
	Sampled int            // pairs from which Clean learned

	// Unjudged are faults that Clean did not look for, because the sample is too small or, for
	// Misaligned, does not show which words translate which.
	Unjudged []Fault
}

// Kept returns the number of pairs that are kept.
func (r *Report) Kept() int { return r.Dropped[None] }

// Clean reads the pairs of a corpus, and calls visit with each, in order, and its first fault, None
// for the pairs to keep. It iterates over pairs twice, or more often if the corpus has more than 16
// million pairs. The result depends on pairs and options only.
//
// Errors are those of pairs, of visit, or the cause of the end of ctx.
func Clean(ctx context.Context, pairs iter.Seq2[text.RepairedPair, error], o Options, visit func(*text.RepairedPair, Fault) error) (*Report, error) {
	c := &cleaner{Options: o, pairs: pairs}
	if err := c.survey(ctx); err != nil {
		return nil, err
	}
	if err := c.learn(ctx); err != nil {
		return nil, err
	}
	return c.clean(ctx, visit)
}

// pair is a pair with the measures of both sides.
type pair struct {
	text.RepairedPair
	src, tgt words.Sentence
}

// measure sets the measures.
func (p *pair) measure() {
	p.src.Measure(p.Source)
	p.tgt.Measure(p.Target)
}

// cleaner is the state of Clean.
type cleaner struct {
	Options
	pairs iter.Seq2[text.RepairedPair, error]

	count   int // pairs of the corpus
	sample  sample
	learned struct {
		src, tgt scripts
		ratios   ratios
		lexical  *lexical // nil: not learned
	}
	report Report
}

// plausible reports whether the logarithms of two lengths have a usual ratio.
func (c *cleaner) plausible(x, y int) bool {
	return c.Ratio == 0 || c.learned.ratios.deviations(x, y) <= c.Ratio
}

// fault returns the first fault of a pair before end, which is at most firstAmong. It measures the
// pair before the first rule that needs the measures.
func (c *cleaner) fault(p *pair, end Fault) Fault {
	for f := None + 1; f < end; f++ {
		if f == firstMeasured {
			p.measure()
		}
		if !c.Keep[f] && faults[f].finds(c, p) {
			return f
		}
	}
	return None
}

// survey counts the pairs and draws the sample from those without a fault that needs no learning.
func (c *cleaner) survey(ctx context.Context) error {
	var p pair
	n := 0
	err := c.each(ctx, Surveying, func(next text.RepairedPair) error {
		n++
		p.RepairedPair = next
		if c.sample.has(next.Line) && c.fault(&p, firstLearned) == None {
			c.sample.add(&p)
		}
		return nil
	})
	c.count = n
	return err
}

const progressEvery = 1 << 10 // pairs

// each calls do with each pair, and Progress from time to time.
func (c *cleaner) each(ctx context.Context, stage Stage, do func(text.RepairedPair) error) error {
	progress := Progress{Stage: stage, Done: -1}
	return text.Each(ctx, c.pairs, func(p text.RepairedPair) error {
		progress.Pairs++
		progress.Bytes += int64(p.Bytes)
		if c.count > 0 {
			progress.Done = float64(progress.Pairs) / float64(c.count)
		}
		if progress.Pairs%progressEvery == 0 && c.Progress != nil {
			c.Progress(progress)
		}
		return do(p)
	})
}

// learn learns from the sample, and frees it.
func (c *cleaner) learn(ctx context.Context) error {
	l := &c.learned
	seen := hashCounts{}
	c.sample.pairs = slices.DeleteFunc(c.sample.pairs, func(p sampledPair) bool {
		// A copy would explain the pair after its own counts are left out.
		return seen.add(hash.Pair(p.Source, p.Target)) > 0
	})
	var p pair
	for _, s := range c.sample.pairs {
		p.RepairedPair = s.RepairedPair
		p.measure()
		l.src.add(&p.src)
		l.tgt.add(&p.tgt)
		l.ratios.add(&p)
	}
	l.src.learn()
	l.tgt.learn()
	l.ratios.learn()
	c.sample.pairs = slices.DeleteFunc(c.sample.pairs, func(s sampledPair) bool {
		p.RepairedPair = s.RepairedPair
		return c.fault(&p, firstAmong) != None
	})
	c.report.Sampled = len(c.sample.pairs)
	if len(l.ratios.classes) == 0 && c.Ratio > 0 {
		c.report.Unjudged = append(c.report.Unjudged, Ratio)
	}
	if c.Misaligned > 0 && !c.Keep[Misaligned] {
		lexical := new(lexical)
		ok, err := lexical.learn(ctx, c)
		switch {
		case err != nil:
			return err
		case ok:
			l.lexical = lexical
		default:
			c.report.Unjudged = append(c.report.Unjudged, Misaligned)
		}
	}
	c.sample = sample{}
	return nil
}

// forEachValid calls do with each pair without a fault of its own.
func (c *cleaner) forEachValid(ctx context.Context, do func(*pair)) error {
	var p pair
	return c.each(ctx, Counting, func(next text.RepairedPair) error {
		p.RepairedPair = next
		if c.fault(&p, firstAmong) == None {
			do(&p)
		}
		return nil
	})
}

// verdict is a pair with its fault.
type verdict struct {
	pair
	fault      Fault // of the pair alone
	misaligned bool
}

// batchPairs is the number of pairs that are judged at once on several threads.
const batchPairs = 1 << 11

// clean judges all pairs.
func (c *cleaner) clean(ctx context.Context, visit func(*text.RepairedPair, Fault) error) (*Report, error) {
	repeated, err := newRepeated(c.repeatRules(), c.count, func(do func(*pair)) error { return c.forEachValid(ctx, do) })
	if err != nil {
		return nil, err
	}
	r := &c.report
	batch := make([]verdict, 0, batchPairs)
	judges := make([]*judge, parallel.Workers(c.Threads))
	flush := func() error {
		c.judgeAll(batch, judges)
		for i := range batch {
			v := &batch[i]
			fault := v.fault
			if fault == None {
				fault = repeated.fault(&v.pair)
			}
			if fault == None && v.misaligned {
				fault = Misaligned
			}
			r.Pairs++
			r.Dropped[fault]++
			if err := visit(&v.RepairedPair, fault); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	err = c.each(ctx, Cleaning, func(next text.RepairedPair) error {
		batch = batch[:len(batch)+1]
		batch[len(batch)-1].RepairedPair = next
		if len(batch) < cap(batch) {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return nil, err
	}
	if r.Pairs != c.count {
		return nil, fmt.Errorf("found %d pairs in the first reading of the corpus and %d in the last, expected equal numbers", c.count, r.Pairs)
	}
	return r, nil
}

// judgeAll sets the verdicts of a batch on several threads, one for each of judges.
func (c *cleaner) judgeAll(batch []verdict, judges []*judge) {
	const grain = 64
	parallel.For(c.Threads, len(batch), grain, func(worker, lo, hi int) {
		if judges[worker] == nil && c.learned.lexical != nil {
			judges[worker] = c.learned.lexical.judge()
		}
		w := judges[worker]
		for k := lo; k < hi; k++ {
			v := &batch[k]
			v.fault = c.fault(&v.pair, firstAmong)
			v.misaligned = v.fault == None && w != nil && w.misaligned(&v.pair)
		}
	})
}
