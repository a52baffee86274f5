package decode

import "tfm/model"

// selection decides how the hypotheses of a source continue: which candidates of a step stay live,
// which are finished, and when the search ends. It knows neither the model nor the search. It keeps
// nothing between steps, because the sources of a call share it: what it needs of earlier steps is
// in the arguments.
type selection struct {
	width int // most live hypotheses, 1 to 64
	end   endRule
}

// endRule decides when a search ends, before the length limit. By the rules of beam search except
// whileBetter it ends when no live hypothesis can enter the list of finished ones.
type endRule uint8

const (
	// untilFinished ends when width hypotheses are finished. Live ones count only if none is
	// finished. So the first of the n-best list does not depend on its length.
	untilFinished endRule = iota

	// shrinking is Marian's: a step keeps as many candidates as the beam has hypotheses, and
	// each of them that ends in EOS leaves the beam smaller by one, until no hypothesis is
	// live.
	shrinking

	// untilDecided has no limit of finished hypotheses: early_stopping "never" of Hugging
	// Face's transformers.
	untilDecided

	// whileBetter is untilDecided by a heuristic, early_stopping false: it ends when no live
	// hypothesis would enter the list, of length width, if it ended now. With a length penalty
	// that grows with the length a longer one may still have a higher score.
	whileBetter

	// independent is the rule of greedy search and of sampling: width hypotheses, each with one
	// candidate, end one by one. All of them count.
	independent
)

// endRules are those of Settings.Search. The paper's is 0.
var endRules = map[string]endRule{SearchShrinking: shrinking, SearchHeuristic: whileBetter, SearchExact: untilDecided}

// starts returns the number of hypotheses before the first token.
func (b selection) starts() int {
	if b.end == independent {
		return b.width
	}
	return 1
}

// candidates returns the number of candidates of each hypothesis: in a beam twice the width,
// because even if the width best all are EOS, width others remain to stay live. A shrinking beam
// needs no others.
func (b selection) candidates() int {
	switch b.end {
	case independent:
		return 1
	case shrinking:
		return b.width
	}
	return 2 * b.width
}

// countsTruncated reports whether hypotheses that are live at the length limit compete with
// finished ones. Otherwise they count only if none is finished.
func (b selection) countsTruncated() bool { return b.end != untilFinished }

// liveHyp is a live hypothesis.
type liveHyp struct {
	LogP  float64
	Start int32 // which of the first hypotheses it continues
}

// candidate is a hypothesis and a token that may follow it.
type candidate struct {
	LogP   float64 // of the hypothesis with the token
	Token  int32
	Parent int32 // index of the hypothesis in search.live
}

// progress tells a selection how far the search of a source is.
type progress struct {
	finished int     // hypotheses that were finished
	isFull   bool    // the list of finished hypotheses is full
	last     float64 // the last score in the list, which others must exceed if it is full
	now      float64 // after a step: score that the first live hypothesis has now
	bound    float64 // after a step: an upper bound of the score of every live one when it ends
}

// selected receives the result of selectFrom: the candidates that stay live, best first, and those
// with EOS that are finished.
type selected struct {
	extend, finish []candidate

	ranked []candidate
}

// selectFrom chooses from candidates, those of the first live hypothesis by descending LogP, then
// those of the next, and so on, after the given number of finished hypotheses. A beam keeps the
// width best ones; one with EOS is finished if it is among these.
func (b selection) selectFrom(candidates []candidate, finished int, s *selected) {
	s.extend, s.finish = s.extend[:0], s.finish[:0]
	switch b.end {
	case shrinking:
		candidates = s.best(candidates, b.width-finished)
	case independent:
	default:
		candidates = s.best(candidates, 2*b.width)
	}
	for rank, c := range candidates {
		switch {
		case c.Token != model.EOS:
			if s.extend = append(s.extend, c); len(s.extend) == b.width {
				return
			}
		case rank < b.width:
			s.finish = append(s.finish, c)
		}
	}
}

// ends reports whether the search ends after a step although hypotheses are live.
func (b selection) ends(p progress) bool {
	switch b.end {
	case untilFinished, shrinking:
		return p.finished >= b.width || p.isFull && p.last >= p.bound
	case untilDecided:
		return p.isFull && p.last >= p.bound
	case whileBetter:
		return p.isFull && p.last >= p.now
	}
	return false
}

// best returns the n candidates with the highest LogP, in descending order, equal ones in the order
// of candidates. It is valid until the next call.
func (s *selected) best(candidates []candidate, n int) []candidate {
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
