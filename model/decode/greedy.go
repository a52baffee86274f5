package decode

import "tfm/model"

// greedy selects the most probable token at each step, of equal ones the one with the smallest id.
type greedy struct{ single }

func (greedy) initialHypotheses() int { return 1 }

func (greedy) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	return s.bestTokens(row, out, logits)
}

// single implements strategies with one continuation for each hypothesis, greedy and sample. Every
// hypothesis is finished at EOS or truncated, and all of them count.
type single struct{}

func (single) maxContinuations() int { return 1 }

func (single) advance(s *search, q *sourceSearch, first int) {
	for i, h := range q.live {
		for _, c := range s.continuations(first + i) {
			if logP := c.logP + h.logP; c.token == model.EOS {
				q.finish(finishedHyp{q.options.score(logP, q.tokens), h.tail, false})
			} else {
				s.extend(q, i, c, logP)
			}
		}
	}
}

func (single) isDone(*sourceSearch) bool { return false }

func (single) finishTruncated(q *sourceSearch) {
	for _, h := range q.live {
		q.finish(finishedHyp{q.options.score(h.logP, q.tokens), h.tail, true})
	}
}
