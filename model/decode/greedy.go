package decode

import "tfm/mat"

// greedy takes the most probable token at each step, of equal ones that with the smallest id.
type greedy struct{}

func (greedy) starts() int   { return 1 }
func (greedy) branches() int { return 1 }

func (greedy) expand(_ *search, _ int, logits []float32, out []continuation) []continuation {
	return bestTokens(out, logits)
}

func (greedy) advance(s *search, b *sentence, first int) { s.follow(b, first) }

func (greedy) isDone(*sentence) bool { return false }

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
