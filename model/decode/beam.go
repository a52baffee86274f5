package decode

import "tfm/model"

// beam is the selection of beam search: it keeps the width best candidates of all hypotheses of a
// source. A candidate by EOS is finished if it is among the width best. The end rule decides how
// long it continues.
type beam struct {
	width int
	end   endRule
}

// endRule decides when beam search ends, before the length limit. By every rule except whileBetter
// it ends when no live hypothesis can enter the list of finished ones.
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
)

// endRules are those of Settings.Search. The paper's is 0.
var endRules = map[string]endRule{SearchShrinking: shrinking, SearchHeuristic: whileBetter, SearchExact: untilDecided}

// Limits has twice the width of candidates: even if the width best all are EOS, width others remain
// to stay live. A shrinking beam needs no others.
func (b beam) Limits() limits {
	l := limits{Start: 1, Width: b.width, Candidates: 2 * b.width, Truncated: b.end != untilFinished}
	switch b.end {
	case shrinking:
		l.Candidates = b.width
	case whileBetter:
		l.Finished = b.width
	}
	return l
}

func (b beam) Select(_ []liveHyp, candidates []candidate, p progress, s *selected) {
	n := 2 * b.width
	if b.end == shrinking {
		n = b.width - p.Finished
	}
	for rank, c := range s.Best(candidates, n) {
		switch {
		case c.Token != model.EOS:
			if s.Extend = append(s.Extend, c); len(s.Extend) == b.width {
				return
			}
		case rank < b.width:
			s.Finish = append(s.Finish, c)
		}
	}
}

func (b beam) Ends(p progress) bool {
	switch b.end {
	case untilFinished, shrinking:
		if p.Finished >= b.width {
			return true
		}
	case whileBetter:
		return p.Full && p.Last >= p.Now
	}
	return p.Full && p.Last >= p.Bound
}
