package decode

import (
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// beam keeps the best continuations of a source's hypotheses at each step, as many as its width.
// One that ends in EOS is finished if it is among the width best of all continuations. A search
// is done when width hypotheses are finished, or when none that goes on can still come to a score
// that would be listed. So the number of translations that are listed changes nothing of the
// first of them.
type beam struct{ width int }

func (k beam) initialHypotheses() int { return 1 }

// maxContinuations is twice the width: if all of the width best end in EOS, there are as many that go on.
func (k beam) maxContinuations() int { return 2 * k.width }

func (k beam) expand(_ *search, _ int, logits []float32, out []continuation) []continuation {
	return bestTokens(out, logits)
}

func (k beam) advance(s *search, b *sentence, first int) {
	s.merge(b, first, k.maxContinuations())
	for rank, c := range s.merged {
		if h := b.live[c.parent]; c.token != model.EOS {
			s.extend(h, first+int(c.parent), c, c.logP)
			if len(s.nextLive) == k.width {
				break
			}
		} else if rank < k.width {
			b.finished++
			b.finish(finishedHyp{b.options.score(c.logP, b.tokens), h.tail, false})
		}
	}
}

func (k beam) isDone(b *sentence) bool {
	// log P only falls from here, so this is the best score that any hypothesis can still come to.
	best := b.options.score(b.live[0].logP, b.maxTokens)
	return b.finished >= k.width || len(b.nBest) == b.options.nBest() && b.nBest[len(b.nBest)-1].score >= best
}

// finishTruncated counts what is cut only if nothing is finished. Hypotheses that differ in the last token
// only are one, because that is cut off.
func (k beam) finishTruncated(s *search, b *sentence) {
	if len(b.nBest) > 0 {
		return
	}
	for i, h := range b.live {
		same := func(o live) bool { return s.backpointers[o.tail].parent == s.backpointers[h.tail].parent }
		if !slices.ContainsFunc(b.live[:i], same) {
			b.finish(finishedHyp{b.options.score(h.logP, b.tokens), h.tail, true})
		}
	}
}

// merge leaves in s.best the n best continuations of all hypotheses of a sentence, whose first
// row is first.
func (s *search) merge(b *sentence, first, n int) {
	if cap(s.merged) < n {
		s.merged = make([]continuation, 0, n)
	}
	s.merged = s.merged[:0:n]
	for i, h := range b.live {
		for _, c := range s.continuations(first + i) {
			c.logP, c.parent = c.logP+h.logP, int32(i)
			if len(s.merged) == n && !(c.logP > s.merged[n-1].logP) {
				break
			}
			s.merged = insert(s.merged, c)
		}
	}
}

// topK fills best to its capacity with the largest numbers of row, in descending order and equal
// ones by index; logP is the number. -Inf is left out. Runs of the row that have nothing to offer
// are skipped.
func topK(best []continuation, row []float32) []continuation {
	const run = 256
	for lo := 0; lo < len(row); lo += run {
		part := row[lo:min(lo+run, len(row))]
		if full := len(best) == cap(best); full && !(float64(mat.Max(part)) > best[len(best)-1].logP) {
			continue
		}
		for j, v := range part {
			x := float64(v)
			if len(best) < cap(best) && x > math.Inf(-1) || len(best) > 0 && x > best[len(best)-1].logP {
				best = insert(best, continuation{logP: x, token: int32(lo + j)})
			}
		}
	}
	return best
}

// insert puts c into best behind all that are not smaller, and drops the last if best is full.
func insert(best []continuation, c continuation) []continuation {
	if len(best) < cap(best) {
		best = append(best, c)
	}
	i := len(best) - 1
	for ; i > 0 && best[i-1].logP < c.logP; i-- {
		best[i] = best[i-1]
	}
	best[i] = c
	return best
}
