package decode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// request is a call that translates sources with the same options.
type request struct {
	ctx        context.Context
	sources    [][]int32
	options    Options
	selection  selection
	candidates candidateSource
	suppressed []int32     // see Settings
	constraint *constraint // nil allows every token

	waiting  []int // indices of the sources that are not added yet; the last is the next
	active   int   // sources that are not done
	inSearch int   // sources that are translated
	skips    int   // since it has no sources in the search

	// token is called with the tokens that are certain; it may be nil.
	token func(i int, token int32)
	done  func(i int, list []Hypothesis)
	end   func(error) // called once, after the last call of done

	abandoned atomic.Bool // the request ends before the next step, as if ctx had ended
}

// newRequest returns a request. The sources and options must be valid. The scheduler calls done
// with the index and the n-best list of each source, in any order, then end with nil, or end with
// the error of ctx.
func newRequest(ctx context.Context, srcs [][]int32, o Options, done func(int, []Hypothesis), end func(error)) *request {
	r := &request{ctx: ctx, sources: srcs, options: o, active: len(srcs), done: done, end: end}
	r.constraint = r.options.constraint()
	r.suppressed, _ = ParseSuppressed(o.Suppressed) // valid
	r.selection = r.options.selection()
	switch {
	case o.Sample:
		r.candidates = r.options.sampled
	case r.options.omitsScore():
		r.candidates = largest
	default:
		r.candidates = mostProbable
	}
	r.waiting = longestFirst(srcs)
	slices.Reverse(r.waiting)
	return r
}

// longestFirst returns the indices of srcs by descending length.
func longestFirst(srcs [][]int32) []int {
	order := make([]int, len(srcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(srcs[b]), len(srcs[a])) })
	return order
}

// maxTokens returns the limit of the tokens of the translation of source i, EOS counted.
func (r *request) maxTokens(i, maxLen int) int {
	return r.options.maxTokens(len(r.sources[i]), maxLen-len(r.options.Begins.of(i)))
}

// positions returns the limit of the positions of source i and its hypotheses.
func (r *request) positions(i, maxLen int) int {
	return r.selection.width * max(len(r.sources[i])+1, r.maxTokens(i, maxLen)+len(r.options.Begins.of(i)))
}

// listLen returns the length limit of the list of finished hypotheses during the search.
func (r *request) listLen() int {
	n := r.options.nBest()
	if r.selection.end == whileBetter {
		n = max(n, r.selection.width)
	}
	return n
}

// err returns the error that ends the request, or nil.
func (r *request) err() error {
	if r.abandoned.Load() {
		return context.Canceled
	}
	return r.ctx.Err()
}

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

// checkCall returns the error of o, and panics on invalid sources.
func checkCall(w *Weights, srcs [][]int32, o *Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c := &w.model.Config
	if err := o.Saved().ValidateFor(*c); err != nil {
		return err
	}
	if o.Pieces != nil && len(o.Pieces.bytes) != c.TgtVocab {
		panic(fmt.Sprintf("decode: Options.Pieces of %d pieces for a target vocabulary of %d", len(o.Pieces.bytes), c.TgtVocab))
	}
	if o.Shortlist != nil && len(o.Shortlist.Starts) != c.SrcVocab+1 {
		panic(fmt.Sprintf("decode: Options.Shortlist for %d pieces and a source vocabulary of %d", len(o.Shortlist.Starts)-1, c.SrcVocab))
	}
	for i, src := range srcs {
		checkIDs("source", i, src, c.SrcVocab, c.MaxSource()+1)
		checkIDs("begin of target", i, o.Begins.of(i), c.TgtVocab, c.MaxLen-1)
	}
	return nil
}

// checkIDs panics if a sentence is too long for the model or has an id outside the vocabulary.
func checkIDs(side string, i int, ids []int32, vocabulary, maxLen int) {
	if len(ids) >= maxLen {
		panic(fmt.Sprintf("decode: %s %d has %d tokens with BOS or EOS, over the model's limit of %d", side, i, len(ids)+1, maxLen))
	}
	for _, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			panic(fmt.Sprintf("decode: id %d in %s %d, want 0 to %d", id, side, i, vocabulary-1))
		}
	}
}
