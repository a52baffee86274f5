package decode

import (
	"math"
	"slices"

	"tfm/internal/exact"
	"tfm/mat"
)

// row is a hypothesis in a step on its way from logits to candidates.
type row struct {
	search     int // index in searches.list of that of the hypothesis
	hypothesis int // index in search.live

	ids                            rowIDs  // of the logits
	index                          int     // in the step
	refiner                        refiner // nil if the logits are no bounds
	maxCandidates, maxAlternatives int     // limits of what a candidateSource finds
	draw                           drawID  // see sampled

	partial      partial
	candidates   []candidate // LogP is that of the token
	alternatives []candidate
	found        []candidate // memory of candidates
}

// memory returns memory for n candidates.
func (r *row) memory(n int) []candidate {
	if cap(r.found) < n {
		r.found = make([]candidate, 0, n)
	}
	return r.found[:0:n]
}

// refiner computes logits for which a step returned bounds.
type refiner interface {
	// refine returns the logit of an element and whether the step returned a bound of it. It
	// may be called concurrently for different rows.
	refine(row int, id int32) (logit float32, wasBound bool)
}

// candidateSource finds the tokens of a row that a selection chooses from: it sets r.candidates and
// r.alternatives, which are empty, with the log-probabilities of their tokens.
type candidateSource func(r *row, c choice)

// mostProbable is the candidateSource of beam search, and of greedy search with scores.
func mostProbable(r *row, c choice) {
	best := c.top(r.memory(max(r.maxCandidates, r.maxAlternatives)))
	logZ := c.logZ()
	for i := range best {
		best[i].LogP -= logZ
	}
	r.alternatives = append(r.alternatives, best[:min(len(best), r.maxAlternatives)]...)
	r.candidates = best[:min(len(best), r.maxCandidates)]
}

// largest is the candidateSource of greedy search without scores. The logits may be upper bounds,
// except the largest of all. The log-probability of its candidate is 0.
func largest(r *row, c choice) {
	if m := float64(mat.Max(c.logits)); m != m || math.IsInf(m, 1) {
		return // the log-probability would be NaN
	}
	best := c.top(r.memory(1))
	for r.refiner != nil && len(best) > 0 {
		id := best[0].Token
		logit, wasBound := r.refiner.refine(r.index, id)
		if !wasBound {
			break
		}
		if c.logits[id] = logit; c.selectable[id] > float32(math.Inf(-1)) {
			c.selectable[id] = logit
		}
		best = c.top(best[:0])
	}
	for i := range best {
		best[i].LogP = 0
	}
	r.candidates = best
}

// logZ returns the logarithm of the softmax's denominator.
func (c *choice) logZ() float64 {
	maxLogit := mat.Max(c.logits)
	exps := floats(&c.buffers.exps, len(c.logits))
	return float64(maxLogit) + exact.Log(float64(mat.ExpSum(exps, c.logits, maxLogit)))
}

// top fills best to its capacity with the tokens of the largest logits that may be selected, in
// descending order, of equal ones the one with the smallest id first. A logit becomes LogP.
// Suppressed tokens are left out unless only these are allowed.
func (c *choice) top(best []candidate) []candidate {
	best = c.topAllowed(best, c.selectable)
	if len(best) == 0 && c.isForced() {
		best = c.topAllowed(best, c.logits)
	}
	return best
}

// topAllowed is topK of the tokens that the constraint allows. Few rows need more than topK: a
// forbidden token is rarely probable.
func (c *choice) topAllowed(best []candidate, logits []float32) []candidate {
	if only := c.only; only != nil {
		for _, id := range only {
			if i, ok := c.ids.index(id); ok && logits[i] > insertionBound(best) && c.allows(id) {
				best = insert(best, candidate{LogP: float64(logits[i]), Token: id})
			}
		}
		return best
	}
	best = topK(best, logits, c.ids, nil)
	if c.constraint == nil || !slices.ContainsFunc(best, func(x candidate) bool { return !c.allows(x.Token) }) {
		return best
	}
	return topK(best[:0], logits, c.ids, c.partial)
}

// segmentLen is the number of elements that topK skips at once.
const segmentLen = 256

// topK fills best to its capacity with the largest values of logits and their ids, in descending
// order, equal values by id. It leaves out -Inf and, if p is not nil, tokens that may
// not follow p. It skips segments whose maximum is too small.
func topK(best []candidate, logits []float32, ids rowIDs, p *partial) []candidate {
	for lo := 0; lo < len(logits); lo += segmentLen {
		segment, bound := logits[lo:min(lo+segmentLen, len(logits))], insertionBound(best)
		if len(best) == cap(best) && !(mat.Max(segment) > bound) {
			continue
		}
		for j, x := range segment {
			if x > bound && (p == nil || p.allows(ids.id(lo+j))) {
				best = insert(best, candidate{LogP: float64(x), Token: ids.id(lo + j)})
				bound = insertionBound(best)
			}
		}
	}
	return best
}

// insertionBound returns what a logit must exceed to be inserted into best, whose LogP are logits.
// The capacity of best is at least 1.
func insertionBound(best []candidate) float32 {
	if len(best) < cap(best) {
		return float32(math.Inf(-1))
	}
	return float32(best[len(best)-1].LogP)
}

// drawID determines the random numbers of a row.
type drawID struct{ seed, source, translation, position uint64 }
