package decode

import "tfm/model"

// selection decides how the hypotheses of a source continue: which candidates of a step stay live,
// which are finished, and when the search ends. It knows neither the model nor the search. It keeps
// nothing between steps, because the sources of a call share it: what it needs of earlier steps is
// in the arguments. Goroutines do not call it concurrently for one source.
type selection interface {
	// Limits returns the sizes of the search, the same for every source and step.
	Limits() limits
	// Select chooses from candidates: those of live[0] by descending LogP, then those of
	// live[1], and so on. Select appends to s.Extend those that stay live, limits.Width or
	// fewer and none with model.EOS, and to s.Finish those with model.EOS that are finished;
	// others are dropped. The order of s.Extend is that of live in the next step, best first:
	// the first one decides progress.
	Select(live []liveHyp, candidates []candidate, p progress, s *selected)
	// Ends reports whether the search ends after a step although hypotheses are live.
	Ends(p progress) bool
}

// limits are the sizes of a search.
type limits struct {
	Start      int // hypotheses before the first token, 1 or more
	Width      int // most live hypotheses, 1 to 64
	Candidates int // for each live hypothesis, 1 or more; fewer if a Constraint allows fewer
	Finished   int // length of the list of finished hypotheses, if that is over Options.NBest

	// Truncated makes hypotheses that are live at the length limit compete with finished ones.
	// Without it they count only if none is finished.
	Truncated bool
	// Equal lists truncated hypotheses that differ only in their last token, which is dropped,
	// separately. Without it they count once.
	Equal bool
}

// liveHyp is a live hypothesis.
type liveHyp struct {
	LogP  float64
	Start int32 // which of the limits.Start first hypotheses it continues
}

// candidate is a hypothesis and a token that may follow it.
type candidate struct {
	LogP   float64 // of the hypothesis with the token
	Token  int32
	Parent int32 // index of the hypothesis in live
}

// progress tells a selection how far the search of a source is.
type progress struct {
	Finished int     // hypotheses that were finished
	Full     bool    // the list of finished hypotheses is full
	Last     float64 // the last score in the list, which others must exceed if it is full
	Now      float64 // after a step: score that the first live hypothesis has now
	Bound    float64 // after a step: an upper bound of the score of every live one when it ends
}

// selected receives the result of Select.
type selected struct {
	Extend, Finish []candidate

	ranked []candidate
}

// Add appends c to Finish if its token is EOS, else to Extend.
func (s *selected) Add(c candidate) {
	if c.Token == model.EOS {
		s.Finish = append(s.Finish, c)
	} else {
		s.Extend = append(s.Extend, c)
	}
}

// Best returns the n candidates with the highest LogP, in descending order, equal ones in the order
// of candidates. It is valid until the next call.
func (s *selected) Best(candidates []candidate, n int) []candidate {
	if cap(s.ranked) < n {
		s.ranked = make([]candidate, n)
	}
	best := s.ranked[:0:n]
	for _, c := range candidates {
		if len(best) < n || c.LogP > best[n-1].LogP {
			best = insert(best, c)
		}
	}
	return best
}

// insert inserts c into best, which is sorted by descending LogP, after equal elements. It drops
// the last element if best is at its capacity.
func insert(best []candidate, c candidate) []candidate {
	if len(best) < cap(best) {
		best = append(best, c)
	}
	i := len(best) - 1
	for ; i > 0 && best[i-1].LogP < c.LogP; i-- {
		best[i] = best[i-1]
	}
	best[i] = c
	return best
}

// independent is the selection of greedy search and of sampling: n hypotheses, each with one
// candidate. All of them count.
type independent struct{ n int }

func (k independent) Limits() limits {
	return limits{Start: k.n, Width: k.n, Candidates: 1, Truncated: true, Equal: true}
}

func (independent) Select(_ []liveHyp, candidates []candidate, _ progress, s *selected) {
	for _, c := range candidates {
		s.Add(c)
	}
}

func (independent) Ends(progress) bool { return false }
