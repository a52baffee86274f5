package decode

import (
	"context"
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// stepper is the model that a search runs on: State, or a table in tests.
type stepper interface {
	// Step appends a token to each row's hypothesis and returns the logits [rows × V] of the next
	// token. The caller may overwrite them.
	Step([]Row) mat.Matrix
}

// Hypothesis is a translation.
type Hypothesis struct {
	Tokens []int32 // without BOS and EOS
	Score  float64 // log-probability divided by the length penalty

	// Truncated reports that the hypothesis reached its length limit before EOS. Tokens then lacks
	// the token in the position of EOS, which Score counts.
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
	// advance finishes hypotheses of sent, or extends them into s.nextLive, from the continuations
	// of its rows, which start at row first.
	advance(s *search, sent *sentence, first int)
	// isDone reports whether no live hypothesis can change sent.nBest.
	isDone(sent *sentence) bool
	// finishTruncated finishes the hypotheses of sent that are live at the length limit, if they
	// count as translations.
	finishTruncated(s *search, sent *sentence)
}

// search searches for the translations of several sources at the same time, and keeps its memory
// for the next search.
type search struct {
	sentences    []sentence    // those that are not done
	backpointers []backpointer // tokens of all hypotheses
	rows         []Row         // of the next step
	owners       []owner       // of each row
	logits       mat.Matrix

	rowContinuations int            // continuations that a row has memory for
	expanded         []continuation // [rows × rowContinuations] results of expand
	counts           []int          // of each row: number of its continuations
	merged           []continuation // workspace of one sentence
	nextLive         []live         // workspace of one sentence

	hasSampling bool // the strategy of some sentence is sample
	sampling    samplingWorkspace
}

// owner is the hypothesis of a row: indices into search.sentences and sentence.live.
type owner struct{ sentence, hypothesis int32 }

// backpointer is a token of a hypothesis. parent is the index of the previous token's backpointer,
// -1 for the first.
type backpointer struct{ token, parent int32 }

// live is a live hypothesis.
type live struct {
	logP   float64
	tail   int32 // backpointer of the last token, -1 before the first
	row    int32 // in the last step, -1 before the first
	number int32 // of the initial hypothesis that it continues
}

// continuation is a token that may follow a hypothesis.
type continuation struct {
	logP   float64 // of the token; in search.merged, of the hypothesis with the token
	token  int32
	parent int32 // in search.merged: index of the hypothesis in sentence.live
}

// sentence is the search for the translations of one source.
type sentence struct {
	source    int    // index of the source in the search
	number    uint64 // of the source, see Options.First
	options   *Options
	strategy  strategy
	maxTokens int // length limit, EOS counted
	tokens    int // length of every live hypothesis
	live      []live
	finished  int           // number of finished hypotheses, in beam search
	nBest     []finishedHyp // sorted by descending score
}

// finishedHyp is a finished hypothesis.
type finishedHyp struct {
	score     float64
	tail      int32 // backpointer of the last token before EOS
	truncated bool
}

// finish inserts h into nBest if its score is high enough; of equal scores the first wins. It
// ignores a score of NaN or -Inf.
func (sent *sentence) finish(h finishedHyp) {
	if !(h.score > math.Inf(-1)) {
		return
	}
	i := len(sent.nBest)
	for ; i > 0 && sent.nBest[i-1].score < h.score; i-- {
	}
	if len(sent.nBest) == sent.options.nBest() {
		if i == len(sent.nBest) {
			return
		}
		sent.nBest = sent.nBest[:len(sent.nBest)-1]
	}
	sent.nBest = slices.Insert(sent.nBest, i, h)
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

// reset removes all sentences and keeps the memory.
func (s *search) reset() {
	s.sentences, s.backpointers, s.rowContinuations, s.hasSampling = s.sentences[:0], s.backpointers[:0], 0, false
}

// add adds the source with the given index and number to the search, with a limit of maxTokens, EOS
// counted.
func (s *search) add(source int, number uint64, maxTokens int, o *Options, strat strategy) {
	if len(s.sentences) < cap(s.sentences) {
		s.sentences = s.sentences[:len(s.sentences)+1] // keeps the memory of its slices
	} else {
		s.sentences = append(s.sentences, sentence{})
	}
	sent := &s.sentences[len(s.sentences)-1]
	*sent = sentence{source: source, number: number, options: o, strategy: strat, maxTokens: maxTokens, live: sent.live[:0], nBest: sent.nBest[:0]}
	for i := range strat.initialHypotheses() {
		sent.live = append(sent.live, live{tail: -1, row: -1, number: int32(i)})
	}
	s.rowContinuations = max(s.rowContinuations, strat.maxContinuations())
	if _, ok := strat.(sample); ok {
		s.hasSampling = true
	}
}

// run finds the translations of all sentences and calls done with the index of each source and its
// n-best list. When ctx ends, run returns its error without reporting the remaining sentences.
//
// Equal scores are ordered by hypothesis and token id, so that results are the same everywhere.
func (s *search) run(ctx context.Context, p *mat.Pool, m stepper, done func(source int, list []Hypothesis)) error {
	for len(s.sentences) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.step(p, m)
		first, kept := 0, 0
		for i := range s.sentences {
			sent := &s.sentences[i]
			rows := len(sent.live)
			s.advance(sent, first)
			first += rows
			if sent.tokens >= sent.maxTokens || len(sent.live) == 0 || sent.strategy.isDone(sent) {
				done(sent.source, s.results(sent))
			} else {
				s.sentences[kept], s.sentences[i] = s.sentences[i], s.sentences[kept]
				kept++
			}
		}
		s.sentences = s.sentences[:kept]
	}
	return nil
}

// step runs one decode step of all live hypotheses and expands each row.
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

// hypothesis returns the sentence and the live hypothesis of a row.
func (s *search) hypothesis(row int) (*sentence, *live) {
	sent := &s.sentences[s.owners[row].sentence]
	return sent, &sent.live[s.owners[row].hypothesis]
}

// expandRows is the parallel loop over the rows of a step.
type expandRows struct{ *search }

func (s *expandRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		logits := s.logits.Row(i)
		// Pad and BOS cannot follow a hypothesis.
		logits[model.Pad], logits[model.BOS] = float32(math.Inf(-1)), float32(math.Inf(-1))
		sent, _ := s.hypothesis(i)
		strat := sent.strategy
		out := s.expanded[i*s.rowContinuations:][:0:strat.maxContinuations()]
		s.counts[i] = len(strat.expand(s.search, i, logits, out))
	}
}

// continuations returns the result of expand for a row.
func (s *search) continuations(row int) []continuation {
	return s.expanded[row*s.rowContinuations:][:s.counts[row]]
}

// advance replaces the live hypotheses of sent, whose rows start at row first, with those that have
// one token more.
func (s *search) advance(sent *sentence, first int) {
	s.nextLive = s.nextLive[:0]
	sent.tokens++
	sent.strategy.advance(s, sent, first)
	sent.live = append(sent.live[:0], s.nextLive...)
}

// extend appends to s.nextLive the hypothesis h, which has the given row, with the token of c.
func (s *search) extend(h live, row int, c continuation, logP float64) {
	s.backpointers = append(s.backpointers, backpointer{c.token, h.tail})
	s.nextLive = append(s.nextLive, live{logP, int32(len(s.backpointers) - 1), int32(row), h.number})
}

// results returns the n-best list of sent, which is done. It has at least one Hypothesis.
func (s *search) results(sent *sentence) []Hypothesis {
	sent.strategy.finishTruncated(s, sent)
	list := make([]Hypothesis, 0, max(1, len(sent.nBest)))
	for _, f := range sent.nBest {
		h := Hypothesis{Score: f.score, Truncated: f.truncated}
		for i := f.tail; i >= 0; i = s.backpointers[i].parent {
			h.Tokens = append(h.Tokens, s.backpointers[i].token)
		}
		slices.Reverse(h.Tokens)
		h.Tokens = h.Tokens[:min(len(h.Tokens), sent.maxTokens-1)]
		list = append(list, h)
	}
	if len(list) == 0 { // all scores were NaN or -Inf
		list = append(list, Hypothesis{Score: math.Inf(-1)})
	}
	return list
}
