package decode

import (
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// setPartial sets the Partial of a row.
func (s *search) setPartial(row int) {
	q, h := s.hypothesis(row)
	p := &s.partials[row]
	p.backpointers, p.tail, p.isListed = q.backpointers, h.tail, false
	p.State, p.Remaining = nil, q.maxTokens-2-q.tokens
	if q.keepsLast {
		p.Remaining++
	}
	if p.only = nil; q.constraint != nil {
		p.State = q.state(int(s.owners[row].hypothesis))
		if p.Remaining >= 0 {
			p.only = q.constraint.Only(p)
		}
	}
}

// penalizeRepetition makes the tokens of a hypothesis less probable (Keskar et al. 2019, "CTRL",
// section 4.1): it divides a positive logit by penalty and multiplies a negative one.
func penalizeRepetition(logits []float32, tokens []int32, penalty float32) {
	for i, id := range tokens {
		switch x := &logits[id]; {
		case slices.Contains(tokens[:i], id):
		case *x > 0:
			*x /= penalty
		default:
			*x *= penalty
		}
	}
}

// allows reports whether token may follow the hypothesis of a row. In the position of EOS at the
// length limit only EOS is constrained, because other tokens are omitted unless keepsLast.
func (s *search) allows(row int, token int32) bool {
	q, _ := s.hypothesis(row)
	p := &s.partials[row]
	return q.constraint == nil || p.Remaining < 0 && token != model.EOS || q.constraint.Allows(p, token)
}

// bestTokens fills best to its capacity with the most probable tokens that may follow the
// hypothesis of a row, in descending order, and their log-probabilities, of equal ones the one with
// the smallest id first. It overwrites logits.
func (s *search) bestTokens(row int, best []continuation, logits []float32) []continuation {
	maxLogit := mat.Max(logits)
	if q, _ := s.hypothesis(row); q.goal == nil {
		best = s.topSelectable(row, best, logits)
	} else {
		n := cap(best) - q.goal.maxAdvancing()
		best = best[:len(s.topSelectable(row, best[:0:n], logits))]
		s.suppress(row, logits)
		best = s.addAdvancing(row, best, logits)
		s.restore(row, logits)
	}
	logZ := float64(maxLogit) + mat.Log(float64(mat.ExpSum(logits, logits, maxLogit)))
	for i := range best {
		best[i].logP -= logZ
	}
	return best
}

// topSelectable is topAllowed without the suppressed tokens, unless only these are allowed.
func (s *search) topSelectable(row int, best []continuation, logits []float32) []continuation {
	s.suppress(row, logits)
	best = s.topAllowed(row, best, logits)
	s.restore(row, logits)
	if len(best) == 0 && s.isForced(row) {
		best = s.topAllowed(row, best, logits)
	}
	return best
}

// topAllowed is topK of the tokens that may follow the hypothesis of a row. Few rows need more than
// topK: a forbidden token is rarely probable.
func (s *search) topAllowed(row int, best []continuation, logits []float32) []continuation {
	if only := s.partials[row].only; only != nil {
		for _, id := range only {
			best = s.insertAllowed(row, best, id, logits[id])
		}
		return best
	}
	best = topK(best, logits)
	for _, c := range best {
		if !s.allows(row, c.token) {
			return s.topAllowedOf(row, best[:0], logits)
		}
	}
	return best
}

// topAllowedOf is topK of the tokens that may follow the hypothesis of a row, with a call of
// Constraint.Allows for each token that is more probable than those found before.
func (s *search) topAllowedOf(row int, best []continuation, logits []float32) []continuation {
	for lo := 0; lo < len(logits); lo += segmentLen {
		segment := logits[lo:min(lo+segmentLen, len(logits))]
		if !hasBetter(segment, best) {
			continue
		}
		for j, x := range segment {
			best = s.insertAllowed(row, best, int32(lo+j), x)
		}
	}
	return best
}

// insertAllowed inserts a token into best if its logit is large enough and it may follow the
// hypothesis of a row.
func (s *search) insertAllowed(row int, best []continuation, id int32, logit float32) []continuation {
	x := float64(logit)
	if (len(best) < cap(best) && x > math.Inf(-1) || len(best) > 0 && x > best[len(best)-1].logP) && s.allows(row, id) {
		best = insert(best, continuation{logP: x, token: id})
	}
	return best
}

// segmentLen is the number of elements that topK skips at once.
const segmentLen = 256

// topK fills best to its capacity with the largest values of row and their indices, in descending
// order, equal values by index. A value becomes logP, its index token. topK leaves out -Inf, and
// skips segments of row whose maximum is too small.
func topK(best []continuation, row []float32) []continuation {
	for lo := 0; lo < len(row); lo += segmentLen {
		segment := row[lo:min(lo+segmentLen, len(row))]
		if !hasBetter(segment, best) {
			continue
		}
		for j, v := range segment {
			x := float64(v)
			if len(best) < cap(best) && x > math.Inf(-1) || len(best) > 0 && x > best[len(best)-1].logP {
				best = insert(best, continuation{logP: x, token: int32(lo + j)})
			}
		}
	}
	return best
}

// hasBetter reports whether an element of row belongs in best.
func hasBetter(row []float32, best []continuation) bool {
	return len(best) < cap(best) || float64(mat.Max(row)) > best[len(best)-1].logP
}

// insert inserts c into best, which is sorted by descending logP, after equal elements. It drops
// the last element if best is at its capacity.
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
