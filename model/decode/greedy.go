package decode

import (
	"math"

	"tfm/mat"
	"tfm/model"
)

// greedy selects the most probable token at each step, of equal ones the one with the smallest id.
type greedy struct{ single }

func (greedy) initialHypotheses() int { return 1 }

func (greedy) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	if q, _ := s.hypothesis(row); q.options.omitsScore() {
		return s.mostProbable(row, out, logits)
	}
	return s.bestTokens(row, out, logits)
}

// mostProbable is bestTokens for one token, with log-probability 0.
func (s *search) mostProbable(row int, out []continuation, logits []float32) []continuation {
	if m := float64(mat.Max(logits)); m != m || math.IsInf(m, 1) {
		return out // the log-probability would be NaN
	}
	out = s.topSelectable(row, out, logits)
	for s.bounds != nil && len(out) > 0 && s.bounds.refine(row, out[0].token) {
		out = s.topSelectable(row, out[:0], logits)
	}
	for i := range out {
		out[i].logP = 0
	}
	return out
}

// single implements strategies with one continuation for each hypothesis, greedy and sample. Every
// hypothesis is finished at EOS or truncated, and all of them count.
type single struct{}

func (single) maxContinuations() int { return 1 }

func (single) advance(s *search, q *sourceSearch, first int) {
	for i, h := range q.live {
		list := s.continuations(first + i)
		if len(list) == 0 {
			continue
		}
		if logP := list[0].logP + h.logP; list[0].token == model.EOS {
			s.finishAtEOS(q, i, logP)
		} else {
			s.extend(q, i, list[0], logP)
		}
	}
}

func (single) isDone(*sourceSearch) bool { return false }

func (single) finishTruncated(q *sourceSearch) {
	for i, h := range q.live {
		q.finish(finishedHyp{q.score(i, h.logP), h.tail, true})
	}
}
