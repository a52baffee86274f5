package decode

import (
	"tfm/mat"
	"tfm/model"
)

// greedy takes the most probable token at each step, of equal ones that with the smallest id.
type greedy struct{ single }

func (greedy) initialHypotheses() int { return 1 }

func (greedy) expand(_ *search, _ int, logits []float32, out []continuation) []continuation {
	return bestTokens(out, logits)
}

// bestTokens fills best, to its capacity, with the most probable tokens in order and their
// log-probabilities. It overwrites the logits.
func bestTokens(best []continuation, logits []float32) []continuation {
	top := mat.Max(logits)
	best = topK(best, logits)
	logZ := float64(top) + mat.Log(float64(mat.ExpSum(logits, logits, top)))
	for i := range best {
		best[i].logP -= logZ
	}
	return best
}

// single is what strategies have in common that leave each hypothesis one continuation: all that
// ends counts, and so does what is cut.
type single struct{}

func (single) maxContinuations() int { return 1 }

func (single) advance(s *search, b *sentence, first int) {
	for i, h := range b.live {
		for _, c := range s.continuations(first + i) {
			if logP := c.logP + h.logP; c.token == model.EOS {
				b.finish(finishedHyp{b.options.score(logP, b.tokens), h.tail, false})
			} else {
				s.extend(h, first+i, c, logP)
			}
		}
	}
}

func (single) isDone(*sentence) bool { return false }

func (single) finishTruncated(_ *search, b *sentence) {
	for _, h := range b.live {
		b.finish(finishedHyp{b.options.score(h.logP, b.tokens), h.tail, true})
	}
}
