package decode

import (
	"slices"

	"tfm/model"
)

// beam keeps the width best continuations of a source's hypotheses at each step. A continuation by
// EOS is finished if it is among the width best of all continuations. The search is done when width
// times Options.Patience hypotheses are finished, or when no live hypothesis can reach a score that
// enters the n-best list. So the first of the n-best list does not depend on its length.
type beam struct{ width int }

func (k beam) initialHypotheses() int { return 1 }

// maxContinuations is twice the width: even if the width best continuations all are EOS, width
// others remain to stay live.
func (k beam) maxContinuations() int { return 2 * k.width }

func (k beam) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	return s.bestTokens(row, out, logits)
}

func (k beam) advance(s *search, q *sourceSearch, first int) {
	if q.goal != nil {
		k.advanceToGoal(s, q, first)
		return
	}
	s.merge(q, first, k.maxContinuations())
	for rank, c := range s.merged {
		if c.token != model.EOS {
			s.extend(q, int(c.hypothesis), c, c.logP)
			if len(s.nextLive) == k.width {
				break
			}
		} else if rank < k.width {
			q.finished++
			s.finishAtEOS(q, int(c.hypothesis), c.logP)
		}
	}
}

func (k beam) isDone(q *sourceSearch) bool {
	return float64(q.finished) >= q.options.patience()*float64(k.width) || q.isDecided()
}

// isDecided decides exactly whether no live hypothesis can enter the n-best list.
//
// Let ℓ ≤ 0 be the log-probability of live[0], the largest of all live hypotheses, n the number
// of their tokens, N the length limit and lp > 0 the length penalty, which does not fall with the
// length. A live hypothesis that is finished after n' tokens, n < n' ≤ N, has
//
//	score = (its log-probability)/lp(n') ≤ ℓ/lp(n') ≤ ℓ/lp(N)
//
// because the log-probability of a further token is 0 or less (bestTokens subtracts from a logit
// the maximum plus the logarithm of a sum that contains exp(0) = 1), ℓ/lp is negative or zero,
// and a coverage penalty only lowers a score. live[0] has this score if the model continues it with
// tokens of probability 1 up to the limit. So, without a coverage penalty, the bound is the
// smallest that does not depend on the model. finish prefers the earlier of equal scores, so a live
// hypothesis needs a higher one than the last of a full list.
func (q *sourceSearch) isDecided() bool {
	bound := q.options.score(q.live[0].logP, q.maxTokens)
	return len(q.nBest) == q.maxNBest() && q.nBest[len(q.nBest)-1].score >= bound
}

// finishTruncated finishes truncated hypotheses only if no other is finished.
func (k beam) finishTruncated(q *sourceSearch) {
	if len(q.nBest) == 0 {
		q.finishLive()
	}
}

// finishLive finishes the live hypotheses, truncated. Those that differ only in their last token
// count once, unless it is kept.
func (q *sourceSearch) finishLive() {
	for i, h := range q.live {
		equal := func(o live) bool { return q.backpointers[o.tail].previous == q.backpointers[h.tail].previous }
		if q.keepsLast || !slices.ContainsFunc(q.live[:i], equal) {
			q.finish(finishedHyp{q.score(i, h.logP), h.tail, true})
		}
	}
}

// merge sets s.merged to the n best continuations of all hypotheses of q, whose rows start at
// row first.
func (s *search) merge(q *sourceSearch, first, n int) {
	if cap(s.mergeBuffer) < n {
		s.mergeBuffer = make([]continuation, n)
	}
	s.merged = s.mergeBuffer[:0:n] // insert keeps the capacity
	for i, h := range q.live {
		for _, c := range s.continuations(first + i) {
			c.logP, c.hypothesis = c.logP+h.logP, int32(i)
			if len(s.merged) == n && !(c.logP > s.merged[n-1].logP) {
				break
			}
			s.merged = insert(s.merged, c)
		}
	}
}
