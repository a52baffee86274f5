package decode

import (
	"tfm/mat"
	"tfm/model"
)

// greedy selects the most probable token at each step, of equal ones the one with the smallest id.
type greedy struct{ single }

func (greedy) initialHypotheses() int { return 1 }

func (greedy) expand(_ *search, _ int, logits []float32, out []continuation) []continuation {
	return bestTokens(out, logits)
}

// bestTokens fills best to its capacity with the most probable tokens, in descending order, and
// their log-probabilities. It overwrites logits.
func bestTokens(best []continuation, logits []float32) []continuation {
	maxLogit := mat.Max(logits)
	best = topK(best, logits)
	logZ := float64(maxLogit) + mat.Log(float64(mat.ExpSum(logits, logits, maxLogit)))
	for i := range best {
		best[i].logP -= logZ
	}
	return best
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
