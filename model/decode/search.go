package decode

import (
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// Hypothesis is a translation.
type Hypothesis struct {
	Tokens []int32 // without BOS and EOS
	Score  float64 // log-probability divided by the length penalty

	// Truncated reports that the hypothesis reached its length limit before EOS. Score includes
	// the last token, which Tokens omits.
	Truncated bool
}

// strategy selects the continuations of the hypotheses of one source: greedy, beam or sample.
type strategy interface {
	// initialHypotheses returns the number of hypotheses that a search starts with.
	initialHypotheses() int
	// maxContinuations returns the limit of the continuations that expand returns for a row.
	maxContinuations() int
	// expand appends the continuations of a row to out, best first, and returns it. It may
	// overwrite logits, where Pad and BOS are -Inf. Goroutines call expand concurrently for
	// different rows.
	expand(s *search, row int, logits []float32, out []continuation) []continuation
	// advance applies the continuations of q's rows first, first+1, …: EOS finishes a
	// hypothesis, other tokens extend it into s.nextLive.
	advance(s *search, q *sourceSearch, first int)
	// isDone reports whether the search ends before the length limit although hypotheses are
	// live; see beam.
	isDone(q *sourceSearch) bool
	// finishTruncated finishes the hypotheses of q that are live at the length limit, if they
	// count as translations.
	finishTruncated(q *sourceSearch)
}

// search searches for the translations of several sources at the same time. It keeps the memory of
// those that are done for others.
type search struct {
	sentences []sourceSearch // those that are not done
	rows      []Row          // of the next step
	owners    []owner        // of each row
	logits    mat.Matrix

	rowContinuations int            // continuations that a row has memory for
	expanded         []continuation // [rows × rowContinuations] results of expand
	counts           []int          // of each row: number of its continuations
	merged           []continuation // workspace of one sentence
	nextLive         []live         // workspace of one sentence

	sampling samplingWorkspace
}

// owner is the hypothesis of a row: indices into search.sentences and sourceSearch.live.
type owner struct{ sentence, hypothesis int32 }

// backpointer is a token of a hypothesis. previous is the index of the previous token's
// backpointer, -1 for the first.
type backpointer struct{ token, previous int32 }

// live is a live hypothesis.
type live struct {
	logP   float64
	tail   int32 // backpointer of the last token, -1 before the first
	parent int32 // its index among the rows of its source in the last step, -1 before the first
	number int32 // of the initial hypothesis that it continues
}

// continuation is a token that may follow a hypothesis.
type continuation struct {
	logP       float64 // of the token; in search.merged, of the hypothesis with the token
	token      int32
	hypothesis int32 // in search.merged: index of the hypothesis in sourceSearch.live
}

// sourceSearch is the search for the translations of one source.
type sourceSearch struct {
	request   *request
	index     int    // of the source in the request
	handle    int32  // of the source in the model
	number    uint64 // of the source, see Options.First
	options   *Options
	strategy  strategy
	maxTokens int // length limit, EOS counted

	tokens       int // length of every live hypothesis
	live         []live
	backpointers []backpointer // tokens of all hypotheses
	finished     int           // number of finished hypotheses, in beam search
	nBest        []finishedHyp // sorted by descending score
}

// finishedHyp is a finished hypothesis.
type finishedHyp struct {
	score     float64
	tail      int32 // backpointer of the last token before EOS
	truncated bool
}

// finish inserts h into nBest if its score is high enough; of equal scores the first wins. It
// ignores a score of NaN or -Inf.
func (q *sourceSearch) finish(h finishedHyp) {
	if !(h.score > math.Inf(-1)) {
		return
	}
	i := len(q.nBest)
	for ; i > 0 && q.nBest[i-1].score < h.score; i-- {
	}
	if len(q.nBest) == q.options.nBest() {
		if i == len(q.nBest) {
			return
		}
		q.nBest = q.nBest[:len(q.nBest)-1]
	}
	q.nBest = slices.Insert(q.nBest, i, h)
}

// strategyOf returns the strategy that o selects.
func strategyOf(o *Options) strategy {
	switch {
	case o.Sample:
		return sample{Options: o}
	case o.Beam == 1:
		return greedy{}
	}
	return beam{o.Beam}
}

// add adds source index of a request, with a handle in the model and a limit of maxTokens, EOS
// counted.
func (s *search) add(r *request, index int, handle int32, maxTokens int) {
	if len(s.sentences) < cap(s.sentences) {
		s.sentences = s.sentences[:len(s.sentences)+1] // keeps the memory of its slices
	} else {
		s.sentences = append(s.sentences, sourceSearch{})
	}
	q := &s.sentences[len(s.sentences)-1]
	*q = sourceSearch{
		request: r, index: index, handle: handle, number: r.options.First + uint64(index),
		options: &r.options, strategy: r.strategy, maxTokens: maxTokens,
		live: q.live[:0], backpointers: q.backpointers[:0], nBest: q.nBest[:0],
	}
	for i := range r.strategy.initialHypotheses() {
		q.live = append(q.live, live{tail: -1, parent: -1, number: int32(i)})
	}
}

// removeIf removes the sentences for which f returns true.
func (s *search) removeIf(f func(*sourceSearch) bool) {
	kept := 0
	for i := range s.sentences {
		if f(&s.sentences[i]) {
			q := &s.sentences[i]
			q.request, q.options, q.strategy = nil, nil, nil
			continue
		}
		s.sentences[kept], s.sentences[i] = s.sentences[i], s.sentences[kept]
		kept++
	}
	s.sentences = s.sentences[:kept]
}

// step runs one decode step of all sentences. It calls done with those whose translations are found
// and their n-best lists, and removes them.
//
// Equal scores are ordered by hypothesis and token id, so that results are the same everywhere.
func (s *search) step(p *mat.Pool, m stepper, done func(q *sourceSearch, list []Hypothesis)) {
	s.expand(p, m)
	first := 0
	s.removeIf(func(q *sourceSearch) bool {
		rows := len(q.live)
		s.advance(q, first)
		first += rows
		if q.tokens < q.maxTokens && len(q.live) > 0 && !q.strategy.isDone(q) {
			return false
		}
		done(q, q.results())
		return true
	})
}

// expand runs one decode step of all live hypotheses and finds the continuations of each row.
func (s *search) expand(p *mat.Pool, m stepper) {
	s.rows, s.owners, s.rowContinuations = s.rows[:0], s.owners[:0], 0
	hasSampling := false
	for i := range s.sentences {
		q := &s.sentences[i]
		for j, h := range q.live {
			r := Row{q.handle, model.BOS, h.parent}
			if h.tail >= 0 {
				r.Token = q.backpointers[h.tail].token
			}
			s.rows, s.owners = append(s.rows, r), append(s.owners, owner{int32(i), int32(j)})
		}
		s.rowContinuations = max(s.rowContinuations, q.strategy.maxContinuations())
		hasSampling = hasSampling || q.options.Sample
	}
	s.logits = m.Step(s.rows)
	for len(s.expanded) < len(s.rows)*s.rowContinuations {
		s.expanded = append(s.expanded, continuation{})
	}
	for len(s.counts) < len(s.rows) {
		s.counts = append(s.counts, 0)
	}
	if hasSampling {
		s.sampling.alloc(len(s.rows), s.logits.Cols)
	}
	mat.Each(p, len(s.rows), 4, expandRows{s})
}

// hypothesis returns the sentence and the live hypothesis of a row.
func (s *search) hypothesis(row int) (*sourceSearch, *live) {
	q := &s.sentences[s.owners[row].sentence]
	return q, &q.live[s.owners[row].hypothesis]
}

// expandRows is the parallel loop over the rows of a step.
type expandRows struct{ *search }

func (s *expandRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		logits := s.logits.Row(i)
		// Pad and BOS cannot follow a hypothesis.
		logits[model.Pad], logits[model.BOS] = float32(math.Inf(-1)), float32(math.Inf(-1))
		q, _ := s.hypothesis(i)
		strat := q.strategy
		out := s.expanded[i*s.rowContinuations:][:0:strat.maxContinuations()]
		s.counts[i] = len(strat.expand(s.search, i, logits, out))
	}
}

// continuations returns the result of expand for a row.
func (s *search) continuations(row int) []continuation {
	return s.expanded[row*s.rowContinuations:][:s.counts[row]]
}

// advance replaces the live hypotheses of q, whose rows start at row first, with those that have
// one token more.
func (s *search) advance(q *sourceSearch, first int) {
	s.nextLive = s.nextLive[:0]
	q.tokens++
	q.strategy.advance(s, q, first)
	q.live = append(q.live[:0], s.nextLive...)
}

// extend appends hypothesis i of q with the token of c to s.nextLive.
func (s *search) extend(q *sourceSearch, i int, c continuation, logP float64) {
	h := &q.live[i]
	q.backpointers = append(q.backpointers, backpointer{c.token, h.tail})
	s.nextLive = append(s.nextLive, live{logP, int32(len(q.backpointers) - 1), int32(i), h.number})
}

// results returns the n-best list of q, which is done. It has at least one Hypothesis.
func (q *sourceSearch) results() []Hypothesis {
	q.strategy.finishTruncated(q)
	list := make([]Hypothesis, 0, max(1, len(q.nBest)))
	for _, f := range q.nBest {
		h := Hypothesis{Score: f.score, Truncated: f.truncated}
		for i := f.tail; i >= 0; i = q.backpointers[i].previous {
			h.Tokens = append(h.Tokens, q.backpointers[i].token)
		}
		slices.Reverse(h.Tokens)
		h.Tokens = h.Tokens[:min(len(h.Tokens), q.maxTokens-1)]
		list = append(list, h)
	}
	if len(list) == 0 { // all scores were NaN or -Inf
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}
