package decode

import "tfm/model"

// shrinkingBeam is the beam search of Marian: a step keeps as many continuations as the beam has
// hypotheses, and each of them that ends in EOS leaves the beam smaller by one. The search is done
// when no hypothesis is live, or none can enter the n-best list. Hypotheses that are live at the
// length limit compete with finished ones.
type shrinkingBeam struct{ width int }

func (k shrinkingBeam) initialHypotheses() int { return 1 }

func (k shrinkingBeam) maxContinuations() int { return k.width }

func (k shrinkingBeam) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	return s.bestTokens(row, out, logits)
}

func (k shrinkingBeam) advance(s *search, q *sourceSearch, first int) {
	if q.goal != nil {
		beam(k).advanceToGoal(s, q, first)
		return
	}
	s.merge(q, first, k.width-q.finished)
	for _, c := range s.merged {
		if c.token != model.EOS {
			s.extend(q, int(c.hypothesis), c, c.logP)
		} else {
			q.finished++
			s.finishAtEOS(q, int(c.hypothesis), c.logP)
		}
	}
}

func (k shrinkingBeam) isDone(q *sourceSearch) bool { return q.finished >= k.width || q.isDecided() }

func (k shrinkingBeam) finishTruncated(q *sourceSearch) { q.finishLive() }
