package decode

import (
	"math"
	"slices"

	"tfm/mat"
)

// row is a hypothesis in a step on its way from logits to candidates.
type row struct {
	search     *search // of the hypothesis; no candidateSource uses it
	hypothesis int     // index in search.live

	index                          int     // in the step
	refiner                        refiner // nil if the logits are no bounds
	goal                           goalPart
	maxCandidates, maxAlternatives int    // limits of what a candidateSource finds
	draw                           drawID // see sampled

	partial        Partial
	candidates     []Candidate // LogP is that of the token
	alternatives   []Candidate
	found          []Candidate // memory of candidates and alternatives
	goalCandidates []Candidate // memory of candidates with a goal
}

// memory returns memory for n candidates.
func (r *row) memory(n int) []Candidate {
	if cap(r.found) < n {
		r.found = make([]Candidate, 0, n)
	}
	return r.found[:0:n]
}

// refiner computes logits for which a step returned bounds.
type refiner interface {
	// refine returns the logit of an element and whether the step returned a bound of it. It may
	// be called concurrently for different rows.
	refine(row int, id int32) (logit float32, wasBound bool)
}

// candidateSource finds the tokens of a row that a Selection chooses from.
type candidateSource interface {
	// candidates sets r.candidates and r.alternatives, with the log-probabilities of their tokens.
	candidates(r *row, c choice)
}

// mostProbable is the candidateSource of beam search, and of greedy search with scores.
type mostProbable struct{}

func (mostProbable) candidates(r *row, c choice) {
	n := max(r.maxCandidates, r.maxAlternatives)
	best := r.memory(n)
	if r.goal.goal != nil {
		best = r.memory(n + r.goal.maxAdvancing())
	}
	best = best[:len(c.top(best[:0:n]))] // with memory for addAdvancing
	listed := len(best)
	r.candidates = best[:min(listed, r.maxCandidates)]
	if r.goal.goal != nil {
		best = r.addAdvancing(best, c)
		c.normalize(best)
		r.candidates = append(r.goalCandidates[:0], r.candidates...)
		for _, x := range best[len(r.candidates):] {
			if slices.Contains(c.advancing, x.Token) {
				r.candidates = append(r.candidates, x)
			}
		}
		r.goalCandidates = r.candidates
	} else {
		c.normalize(best)
	}
	r.alternatives = best[:min(listed, r.maxAlternatives)]
}

// largest is the candidateSource of greedy search without scores. The logits may be upper bounds,
// except the largest of all. The log-probability of its candidate is 0.
type largest struct{}

func (largest) candidates(r *row, c choice) {
	r.candidates, r.alternatives = nil, nil
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

// normalize subtracts the logarithm of the softmax's denominator from the logits of list.
func (c *choice) normalize(list []Candidate) {
	maxLogit := mat.Max(c.logits)
	exps := floats(&c.buffers.exps, len(c.logits))
	logZ := float64(maxLogit) + mat.Log(float64(mat.ExpSum(exps, c.logits, maxLogit)))
	for i := range list {
		list[i].LogP -= logZ
	}
}

// top fills best to its capacity with the tokens of the largest logits that may be selected, in
// descending order, of equal ones the one with the smallest id first. A logit becomes LogP.
// Suppressed tokens are left out unless only these are allowed.
func (c *choice) top(best []Candidate) []Candidate {
	best = c.topAllowed(best, c.selectable)
	if len(best) == 0 && c.isForced() {
		best = c.topAllowed(best, c.logits)
	}
	return best
}

// topAllowed is topK of the tokens that the Constraint allows. Few rows need more than topK: a
// forbidden token is rarely probable.
func (c *choice) topAllowed(best []Candidate, logits []float32) []Candidate {
	if only := c.only; only != nil {
		for _, id := range only {
			if logits[id] > insertionBound(best) && c.allows(id) {
				best = insert(best, Candidate{LogP: float64(logits[id]), Token: id})
			}
		}
		return best
	}
	best = topK(best, logits, nil)
	if c.constraint == nil || !slices.ContainsFunc(best, func(x Candidate) bool { return !c.allows(x.Token) }) {
		return best
	}
	return topK(best[:0], logits, c.Partial)
}

// segmentLen is the number of elements that topK skips at once.
const segmentLen = 256

// topK fills best to its capacity with the largest values of logits and their indices, in
// descending order, equal values by index. It leaves out -Inf and, if p is not nil, tokens that may
// not follow p. It skips segments whose maximum is too small.
func topK(best []Candidate, logits []float32, p *Partial) []Candidate {
	for lo := 0; lo < len(logits); lo += segmentLen {
		segment, bound := logits[lo:min(lo+segmentLen, len(logits))], insertionBound(best)
		if len(best) == cap(best) && !(mat.Max(segment) > bound) {
			continue
		}
		for j, x := range segment {
			if x > bound && (p == nil || p.allows(int32(lo+j))) {
				best = insert(best, Candidate{LogP: float64(x), Token: int32(lo + j)})
				bound = insertionBound(best)
			}
		}
	}
	return best
}

// insertionBound returns what a logit must exceed to be inserted into best, whose LogP are logits.
// The capacity of best is at least 1.
func insertionBound(best []Candidate) float32 {
	if len(best) < cap(best) {
		return float32(math.Inf(-1))
	}
	return float32(best[len(best)-1].LogP)
}

// addAdvancing appends the tokens that advance the goal of a row and that best does not have.
func (r *row) addAdvancing(best []Candidate, c choice) []Candidate {
	c.advancing = r.goal.advancing(c.advancing[:0], r.goal.of(c.State))
	for _, id := range c.advancing {
		isNew := !slices.ContainsFunc(best, func(x Candidate) bool { return x.Token == id })
		if isNew && c.selectable[id] > float32(math.Inf(-1)) && c.allows(id) {
			best = append(best, Candidate{LogP: float64(c.selectable[id]), Token: id})
		}
	}
	return best
}
