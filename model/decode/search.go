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
	// the last token, which Tokens omits unless the limit is Options.LengthFactor.
	Truncated bool

	// With Options.TokenScores, the log-probabilities of Tokens and of EOS, or of the token
	// that Tokens omits.
	TokenScores []float64

	// With Options.Alternatives, the most probable tokens in the position of each element of
	// Tokens and of EOS, of those that may follow, by descending probability.
	Alternatives [][]Alternative
}

// Alternative is a token that may have a position of a translation.
type Alternative struct {
	Token int32
	LogP  float64
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

// maxContinuations returns the limit of the results of expand for a row of q.
func (q *sourceSearch) maxContinuations() int {
	n := q.options.Alternatives
	if q.options.Sample {
		n++ // after the token that was drawn
	}
	n = max(n, q.strategy.maxContinuations())
	if q.goal != nil {
		n += q.goal.maxAdvancing()
	}
	return n
}

// search searches for the translations of several sources at the same time. It keeps the memory of
// those that are done for others.
type search struct {
	sentences []sourceSearch // those that are not done
	paused    bool           // sources of requests in the background have no rows in a step
	rows      []Row          // of the next step
	owners    []owner        // of each row
	logits    mat.Matrix
	bounds    stepper    // not nil if logits are those of its stepBounds
	weights   mat.Matrix // of the attention of each row, if a source has a coverage penalty

	rowContinuations int             // continuations that a row has memory for
	expanded         []continuation  // [rows × rowContinuations] results of expand
	counts           []int           // of each row: number of its continuations
	merged           []continuation  // of one sentence, in mergeBuffer
	mergeBuffer      []continuation  // for the widest beam
	nextLive         []live          // workspace of one sentence
	nextStates       []uint64        // workspace of one sentence
	goalStates       []uint64        // workspace of one continuation
	candidates       []goalCandidate // workspace of one sentence
	nextCoverage     []float32       // workspace of one sentence
	maxSuppressed    int             // suppressed pieces that a row has memory for
	hidden           []float32       // [rows × maxSuppressed] logits of the suppressed pieces
	partials         []Partial       // of each row

	sampling samplingWorkspace
}

// owner is the hypothesis of a row: indices into search.sentences and sourceSearch.live.
type owner struct{ sentence, hypothesis int32 }

// backpointer is a token of a hypothesis, EOS included.
type backpointer struct {
	logP     float64 // of the hypothesis up to the token
	token    int32
	previous int32 // backpointer of the previous token, -1 for the first
}

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
	maxTokens int  // length limit, EOS counted
	keepsLast bool // when it is truncated, see Options.keepsLast

	constraint Constraint // nil allows every token
	stateLen   int        // of the constraint
	goal       goal       // of the constraint, in beam search; may be nil
	goalStart  int        // index of its state in that of the constraint

	tokens       int // length of every live hypothesis
	live         []live
	states       []uint64      // [live × stateLen] of the constraint
	sourceTokens int           // with EOS
	coverage     []float32     // [live × sourceTokens] attention to the source, see Coverage
	firstRow     int           // of live, in the last step
	backpointers []backpointer // tokens of all hypotheses
	alternatives []Alternative // [backpointers × Options.Alternatives]; Token is -1 after the last
	finished     int           // number of finished hypotheses, in beam search
	reported     int           // tokens that were passed to request.token
	nBest        []finishedHyp // sorted by descending score
}

// finishedHyp is a finished hypothesis.
type finishedHyp struct {
	score     float64
	tail      int32 // backpointer of EOS or of the last token
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
	if len(q.nBest) == q.maxNBest() {
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
	switch o.Search {
	case model.SearchShrinking:
		return shrinkingBeam{o.Beam}
	case model.SearchHeuristic:
		return openBeam{beam{o.Beam}, true}
	case model.SearchExact:
		return openBeam{beam{o.Beam}, false}
	}
	return beam{o.Beam}
}

// maxNBest returns the limit of q.nBest. The heuristic needs a list as long as the beam.
func (q *sourceSearch) maxNBest() int {
	if k, ok := q.strategy.(openBeam); ok && k.heuristic {
		return k.width
	}
	return q.options.nBest()
}

// add adds source index of a request, with a handle in the model and a limit of maxTokens, EOS
// counted. The caller must call start next.
func (s *search) add(r *request, index int, handle int32, maxTokens int) *sourceSearch {
	if len(s.sentences) < cap(s.sentences) {
		s.sentences = s.sentences[:len(s.sentences)+1] // keeps the memory of its slices
	} else {
		s.sentences = append(s.sentences, sourceSearch{})
	}
	q := &s.sentences[len(s.sentences)-1]
	*q = sourceSearch{
		request: r, index: index, handle: handle, number: r.options.First + uint64(index),
		options: &r.options, strategy: r.strategy, maxTokens: maxTokens, keepsLast: r.options.keepsLast(len(r.sources[index]), maxTokens),
		live: q.live[:0], backpointers: q.backpointers[:0], alternatives: q.alternatives[:0], nBest: q.nBest[:0],
		constraint: r.constraint, states: q.states[:0], coverage: q.coverage[:0],
	}
	if q.options.Coverage > 0 {
		q.sourceTokens = len(r.sources[index]) + 1
	}
	if q.constraint != nil {
		q.stateLen = q.constraint.StateLen()
		if q.options.width() > 1 && !q.options.Sample {
			q.goal, q.goalStart = goalOf(q.constraint)
		}
	}
	return q
}

// start sets the initial hypotheses.
func (q *sourceSearch) start() {
	r := q.request
	for i := range r.strategy.initialHypotheses() {
		q.live = append(q.live, live{tail: -1, parent: -1, number: int32(i)})
		for range q.sourceTokens {
			q.coverage = append(q.coverage, 0)
		}
		if q.constraint != nil {
			q.states = growStates(q.states, q.stateLen)
			q.constraint.Start(q.state(i), r.source(q.index, q.maxTokens))
		}
	}
}

// growStates appends n words to states.
func growStates(states []uint64, n int) []uint64 {
	for range n {
		states = append(states, 0)
	}
	return states
}

// state returns the state of a live hypothesis.
func (q *sourceSearch) state(i int) []uint64 { return q.states[i*q.stateLen:][:q.stateLen] }

// removeIf removes the sentences that f selects.
func (s *search) removeIf(f func(*sourceSearch) bool) {
	kept := 0
	for i := range s.sentences {
		if f(&s.sentences[i]) {
			q := &s.sentences[i]
			q.request, q.options, q.strategy, q.constraint, q.goal = nil, nil, nil, nil, nil
			continue
		}
		s.sentences[kept], s.sentences[i] = s.sentences[i], s.sentences[kept]
		kept++
	}
	s.sentences = s.sentences[:kept]
}

// step runs one decode step of all sentences. It calls done with those that have their
// translations, and the n-best lists, and removes them.
//
// Equal scores are ordered by hypothesis and token id, so that results are the same everywhere.
func (s *search) step(p *mat.Pool, m stepper, done func(q *sourceSearch, list []Hypothesis)) {
	s.expand(p, m)
	first := 0
	s.removeIf(func(q *sourceSearch) bool {
		if s.isPaused(q) {
			return false
		}
		rows := len(q.live)
		if q.request.fault.Load() == nil {
			q.request.guard(func() { s.advance(q, first) })
		}
		if first += rows; q.request.fault.Load() != nil {
			return false // its request ends
		}
		if q.tokens < q.maxTokens && len(q.live) > 0 && !q.strategy.isDone(q) {
			if q.request.token != nil {
				q.report(q.certain())
			}
			return false
		}
		list := q.results()
		if q.request.token != nil {
			q.report(list[0].Tokens)
		}
		done(q, list)
		return true
	})
}

func (s *search) isPaused(q *sourceSearch) bool { return s.paused && q.options.Background }

// expand runs one decode step of all live hypotheses and finds the continuations of each row.
func (s *search) expand(p *mat.Pool, m stepper) {
	s.rows, s.owners, s.rowContinuations, s.maxSuppressed = s.rows[:0], s.owners[:0], 0, 0
	hasSampling, constrained, covers, bounds := false, false, false, true
	for i := range s.sentences {
		q := &s.sentences[i]
		if s.isPaused(q) {
			continue
		}
		for j, h := range q.live {
			r := Row{q.handle, model.BOS, h.parent}
			if h.tail >= 0 {
				r.Token = q.backpointers[h.tail].token
			}
			s.rows, s.owners = append(s.rows, r), append(s.owners, owner{int32(i), int32(j)})
		}
		s.rowContinuations = max(s.rowContinuations, q.maxContinuations())
		s.maxSuppressed = max(s.maxSuppressed, len(q.request.suppressed))
		hasSampling = hasSampling || q.options.Sample
		constrained = constrained || q.constraint != nil
		covers = covers || q.options.Coverage > 0
		bounds = bounds && q.options.omitsScore() && !q.options.penalizesRepetition()
	}
	s.bounds = nil
	switch {
	case covers:
		s.logits, s.weights = m.StepWeights(s.rows)
	case bounds:
		s.logits, s.bounds = m.stepBounds(s.rows), m
	default:
		s.logits = m.Step(s.rows)
	}
	for len(s.expanded) < len(s.rows)*s.rowContinuations {
		s.expanded = append(s.expanded, continuation{})
	}
	for len(s.counts) < len(s.rows) {
		s.counts = append(s.counts, 0)
		s.partials = append(s.partials, Partial{})
	}
	for len(s.hidden) < len(s.rows)*s.maxSuppressed {
		s.hidden = append(s.hidden, 0)
	}
	if hasSampling {
		s.sampling.alloc(len(s.rows), s.logits.Cols, constrained)
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
		s.counts[i] = 0
		q.request.guard(func() {
			s.setPartial(i)
			if q.options.penalizesRepetition() {
				penalizeRepetition(logits, s.partials[i].Tokens(), float32(q.options.RepetitionPenalty))
			}
			out := s.expanded[i*s.rowContinuations:][:0:q.maxContinuations()]
			s.counts[i] = len(q.strategy.expand(s.search, i, logits, out))
		})
	}
}

// continuations returns the result of expand for a row.
func (s *search) continuations(row int) []continuation {
	return s.expanded[row*s.rowContinuations:][:s.counts[row]]
}

// advance replaces the live hypotheses of q, rows first, first+1, …, with those that have one
// token more.
func (s *search) advance(q *sourceSearch, first int) {
	s.nextLive, s.nextStates, s.nextCoverage = s.nextLive[:0], s.nextStates[:0], s.nextCoverage[:0]
	for i := range q.live {
		if n := q.sourceTokens; n > 0 {
			mat.Axpy(1, s.weights.Row(first + i)[:n], q.coverage[i*n:][:n])
		}
	}
	q.firstRow = first
	q.tokens++
	q.strategy.advance(s, q, first)
	q.live = append(q.live[:0], s.nextLive...)
	q.states = append(q.states[:0], s.nextStates...)
	q.coverage = append(q.coverage[:0], s.nextCoverage...)
}

// extend appends hypothesis i of q with the token of c to s.nextLive.
func (s *search) extend(q *sourceSearch, i int, c continuation, logP float64) {
	s.nextLive = append(s.nextLive, live{logP, s.addToken(q, i, c.token, logP), int32(i), q.live[i].number})
	s.nextCoverage = append(s.nextCoverage, q.coverage[i*q.sourceTokens:][:q.sourceTokens]...)
	if q.constraint != nil {
		s.nextStates = append(s.nextStates, q.state(i)...)
		q.constraint.Next(s.nextStates[len(s.nextStates)-q.stateLen:], c.token)
	}
}

// addToken adds a token after hypothesis i of q and returns its backpointer. logP is that of the
// hypothesis with the token.
func (s *search) addToken(q *sourceSearch, i int, token int32, logP float64) int32 {
	q.backpointers = append(q.backpointers, backpointer{logP, token, q.live[i].tail})
	if n := q.options.Alternatives; n > 0 {
		list := s.continuations(q.firstRow + i)
		if q.options.Sample {
			list = list[1:] // after the token that was drawn
		}
		for k := range n {
			a := Alternative{Token: -1}
			if k < len(list) {
				a = Alternative{list[k].token, list[k].logP}
			}
			q.alternatives = append(q.alternatives, a)
		}
	}
	return int32(len(q.backpointers) - 1)
}

// finishAtEOS finishes hypothesis i of q. logP is its log-probability with EOS.
func (s *search) finishAtEOS(q *sourceSearch, i int, logP float64) {
	q.finish(finishedHyp{q.score(i, logP), s.addToken(q, i, model.EOS, logP), false})
}

// score returns the score of hypothesis i with log-probability logP.
func (q *sourceSearch) score(i int, logP float64) float64 {
	score := q.options.score(logP, q.tokens)
	if n := q.sourceTokens; n > 0 {
		score += q.options.coveragePenalty(q.coverage[i*n:][:n-1])
	}
	return score
}

// appendTokens appends the tokens of a hypothesis, up to the one with the backpointer tail.
func appendTokens(tokens []int32, backpointers []backpointer, tail int32) []int32 {
	n := len(tokens)
	for i := tail; i >= 0; i = backpointers[i].previous {
		tokens = append(tokens, backpointers[i].token)
	}
	slices.Reverse(tokens[n:])
	return tokens
}

// results returns the n-best list of q, which is done. It has at least one Hypothesis.
func (q *sourceSearch) results() []Hypothesis {
	q.strategy.finishTruncated(q)
	q.nBest = q.nBest[:min(len(q.nBest), q.options.nBest())]
	list := make([]Hypothesis, 0, max(1, len(q.nBest)))
	for _, f := range q.nBest {
		last := q.backpointers[f.tail].previous
		if f.truncated && q.keepsLast {
			last = f.tail
		}
		h := Hypothesis{Score: f.score, Truncated: f.truncated, Tokens: appendTokens(nil, q.backpointers, last)}
		q.addDetails(&h, f.tail)
		list = append(list, h)
	}
	if len(list) == 0 { // all scores were NaN or -Inf
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}

// addDetails sets the fields of h that Options.TokenScores and Alternatives ask for. tail is the
// backpointer of EOS or of the last token.
func (q *sourceSearch) addDetails(h *Hypothesis, tail int32) {
	n := q.options.Alternatives
	for i := tail; i >= 0 && (q.options.TokenScores || n > 0); i = q.backpointers[i].previous {
		if b := q.backpointers[i]; q.options.TokenScores {
			logP := b.logP
			if b.previous >= 0 {
				logP -= q.backpointers[b.previous].logP
			}
			h.TokenScores = append(h.TokenScores, logP)
		}
		if n > 0 {
			list := q.alternatives[int(i)*n:][:n]
			if end := slices.IndexFunc(list, func(a Alternative) bool { return a.Token < 0 }); end >= 0 {
				list = list[:end]
			}
			h.Alternatives = append(h.Alternatives, slices.Clone(list))
		}
	}
	slices.Reverse(h.TokenScores)
	slices.Reverse(h.Alternatives)
}
