package decode

import (
	"context"
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// stepper is a language model as a search sees it: State, or in tests a table.
type stepper interface {
	// Step gives each row its token and returns the logits [rows × V] of the next one, which may be
	// overwritten.
	Step([]Row) mat.Matrix
}

// Hypothesis is a translation.
type Hypothesis struct {
	Tokens    []int32 // without BOS and EOS
	Score     float64 // log-probability divided by the length penalty
	Truncated bool    // the length limit came before EOS; Score counts the token that came in its place and is cut off
}

// strategy says how the hypotheses of one source go on: greedy, beam or sample.
type strategy interface {
	initialHypotheses() int // hypotheses that a search begins with
	maxContinuations() int  // most continuations that expand leaves of a row
	// expand leaves the continuations of a row in out, best first, and returns them. It may
	// overwrite logits, in which Pad and BOS have been ruled out. Rows are expanded on several
	// threads at once.
	expand(s *search, row int, logits []float32, out []continuation) []continuation
	// advance makes of the continuations of b's rows, of which first is the first, endings and the
	// hypotheses that go on, which it leaves in s.next.
	advance(s *search, b *sentence, first int)
	// isDone reports that nothing can change the list of b's best.
	isDone(b *sentence) bool
	// finishTruncated adds to that list the hypotheses that the length limit has cut, if they count.
	finishTruncated(s *search, b *sentence)
}

// search is the memory of one search after another: for the translations of some sources at once.
type search struct {
	sentences    []sentence
	backpointers []backpointer // the tokens of all hypotheses
	rows         []Row         // of the next step
	owners       []owner       // of each row
	logits       mat.Matrix

	rowContinuations int            // continuations of a row at most
	expanded         []continuation // [rows × each]
	counts           []int          // of each row
	merged           []continuation // of one sentence
	nextLive         []live

	hasSampling bool // some sentence has the strategy sample
	sampling    samplingWorkspace
}

// owner says whose a row is: a sentence's hypothesis, both as indices.
type owner struct{ sentence, hypothesis int32 }

// backpointer is the last token of a hypothesis; the tokens before it are found through parent.
type backpointer struct{ token, parent int32 }

// live is a hypothesis that goes on.
type live struct {
	logP float64
	tail int32 // in search.history, -1 before the first token
	row  int32 // of the last step, -1 before the first

	number int32 // among those that its search began with
}

// continuation is a token that could follow a hypothesis.
type continuation struct {
	logP   float64 // of the token, or in search.best of the hypothesis with it
	token  int32
	parent int32 // in search.best: among the sentence's hypotheses
}

// sentence is the search for the translations of one source.
type sentence struct {
	source    int    // of the source among those of the search
	number    uint64 // see Options.First
	options   *Options
	strategy  strategy
	maxTokens int // EOS counted
	tokens    int // that every live hypothesis has, EOS counted
	live      []live
	finished  int
	nBest     []finishedHyp // of what is finished, in order; as many as are listed
}

// finishedHyp is a hypothesis that is finished.
type finishedHyp struct {
	score     float64
	tail      int32 // in search.history, the last token before EOS
	truncated bool
}

// finish keeps e if it is among the best; of equal ones the first is the better. What is not a
// number is none.
func (b *sentence) finish(e finishedHyp) {
	if !(e.score > math.Inf(-1)) {
		return
	}
	i := len(b.nBest)
	for ; i > 0 && b.nBest[i-1].score < e.score; i-- {
	}
	if len(b.nBest) == b.options.nBest() {
		if i == len(b.nBest) {
			return
		}
		b.nBest = b.nBest[:len(b.nBest)-1]
	}
	b.nBest = slices.Insert(b.nBest, i, e)
}

// strategyOf returns the strategy that options ask for.
func strategyOf(o *Options) strategy {
	switch {
	case o.Sample:
		return sample{Options: o}
	case o.Beam == 1:
		return greedy{}
	}
	return beam{o.Beam}
}

// reset forgets the last search.
func (s *search) reset() {
	s.sentences, s.backpointers, s.rowContinuations, s.hasSampling = s.sentences[:0], s.backpointers[:0], 0, false
}

// add begins the search for translations of the source at a place, of at most maxTokens, EOS
// counted.
func (s *search) add(source int, number uint64, maxTokens int, o *Options, strat strategy) {
	if len(s.sentences) < cap(s.sentences) {
		s.sentences = s.sentences[:len(s.sentences)+1] // its slices are used again
	} else {
		s.sentences = append(s.sentences, sentence{})
	}
	b := &s.sentences[len(s.sentences)-1]
	*b = sentence{source: source, number: number, options: o, strategy: strat, maxTokens: maxTokens, live: b.live[:0], nBest: b.nBest[:0]}
	for i := range strat.initialHypotheses() {
		b.live = append(b.live, live{tail: -1, row: -1, number: int32(i)})
	}
	s.rowContinuations = max(s.rowContinuations, strat.maxContinuations())
	if _, ok := strat.(sample); ok {
		s.hasSampling = true
	}
}

// run finds the translations of all sentences that have been added, and calls done with those of
// each and its place. It returns early, with the error of ctx, when that ends; sentences that
// were not done then are not reported.
//
// Equal scores are ordered by hypothesis and token id, so that the result is the same everywhere.
func (s *search) run(ctx context.Context, p *mat.Pool, m stepper, done func(place int, list []Hypothesis)) error {
	for len(s.sentences) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.step(p, m)
		first, kept := 0, 0
		for i := range s.sentences {
			b := &s.sentences[i]
			rows := len(b.live)
			s.advance(b, first)
			first += rows
			if b.tokens >= b.maxTokens || len(b.live) == 0 || b.strategy.isDone(b) {
				done(b.source, s.results(b))
			} else {
				s.sentences[kept], s.sentences[i] = s.sentences[i], s.sentences[kept]
				kept++
			}
		}
		s.sentences = s.sentences[:kept]
	}
	return nil
}

// step takes a step of m and finds the continuations of every row.
func (s *search) step(p *mat.Pool, m stepper) {
	s.rows, s.owners = s.rows[:0], s.owners[:0]
	for i := range s.sentences {
		for j, h := range s.sentences[i].live {
			r := Row{model.BOS, int32(s.sentences[i].source), h.row}
			if h.tail >= 0 {
				r.Token = s.backpointers[h.tail].token
			}
			s.rows, s.owners = append(s.rows, r), append(s.owners, owner{int32(i), int32(j)})
		}
	}
	s.logits = m.Step(s.rows)
	for len(s.expanded) < len(s.rows)*s.rowContinuations {
		s.expanded = append(s.expanded, continuation{})
	}
	for len(s.counts) < len(s.rows) {
		s.counts = append(s.counts, 0)
	}
	if s.hasSampling {
		s.sampling.alloc(len(s.rows), s.logits.Cols)
	}
	mat.Each(p, len(s.rows), 4, expandRows{s})
}

// hypothesis returns the one whose row it is, and its sentence.
func (s *search) hypothesis(row int) (*sentence, *live) {
	b := &s.sentences[s.owners[row].sentence]
	return b, &b.live[s.owners[row].hypothesis]
}

// expandRows is the loop over the rows of a step.
type expandRows struct{ *search }

func (s *expandRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		logits := s.logits.Row(i)
		logits[model.Pad], logits[model.BOS] = float32(math.Inf(-1)), float32(math.Inf(-1)) // never said
		b, _ := s.hypothesis(i)
		how := b.strategy
		s.counts[i] = len(how.expand(s.search, i, logits, s.expanded[i*s.rowContinuations:][:0:how.maxContinuations()]))
	}
}

// continuations are those that expand found of a row.
func (s *search) continuations(row int) []continuation {
	return s.expanded[row*s.rowContinuations:][:s.counts[row]]
}

// advance takes b, of whose rows first is the first, a token on.
func (s *search) advance(b *sentence, first int) {
	s.nextLive = s.nextLive[:0]
	b.tokens++
	b.strategy.advance(s, b, first)
	b.live = append(b.live[:0], s.nextLive...)
}

// extend adds to s.next the hypothesis h, whose row is given, with a token more.
func (s *search) extend(h live, row int, c continuation, logP float64) {
	s.backpointers = append(s.backpointers, backpointer{c.token, h.tail})
	s.nextLive = append(s.nextLive, live{logP, int32(len(s.backpointers) - 1), int32(row), h.number})
}

// results are the best hypotheses of b, which is done.
func (s *search) results(b *sentence) []Hypothesis {
	b.strategy.finishTruncated(s, b)
	list := make([]Hypothesis, 0, max(1, len(b.nBest)))
	for _, e := range b.nBest {
		h := Hypothesis{Score: e.score, Truncated: e.truncated}
		for i := e.tail; i >= 0; i = s.backpointers[i].parent {
			h.Tokens = append(h.Tokens, s.backpointers[i].token)
		}
		slices.Reverse(h.Tokens)
		h.Tokens = h.Tokens[:min(len(h.Tokens), b.maxTokens-1)]
		list = append(list, h)
	}
	if len(list) == 0 { // the model's weights are not numbers
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}
