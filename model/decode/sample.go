package decode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// sample draws each token at random, for Options.NBest hypotheses of a source. The n-best list has
// all of them, equal ones too.
type sample struct {
	single
	*Options
}

func (o sample) initialHypotheses() int { return o.nBest() }

func (o sample) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	q, h := s.hypothesis(row)
	random := &s.sampling.random[row]
	maxLogit := mat.Max(logits)
	s.suppress(row, logits)
	token := s.sampling.draw(row, logits, o.Options, uniform(random, o.Seed, q.number, uint64(h.number), uint64(q.tokens)))
	ok := s.allows(row, token)
	if !ok {
		token, ok = s.drawAllowed(row, logits, o.Options, nextUniform(random))
	}
	s.restore(row, logits)
	if !ok && s.isForced(row) {
		token, ok = s.drawAllowed(row, logits, o.Options, nextUniform(random))
	}
	if !ok {
		return out
	}
	out = append(out, continuation{logP: float64(logits[token]), token: token})
	if o.Alternatives > 0 {
		out = out[:1+len(s.topSelectable(row, out[1:1:1+o.Alternatives], logits))]
	}
	logZ := float64(maxLogit) + mat.Log(float64(mat.ExpSum(logits, logits, maxLogit)))
	for i := range out {
		out[i].logP -= logZ
	}
	return out
}

// drawAllowed draws from the tokens that may follow the hypothesis of a row. It returns false if
// none may. A draw from all tokens, repeated by drawAllowed if its token is forbidden, has the
// distribution of drawAllowed unless TopK or TopP restrict the first draw.
func (s *search) drawAllowed(row int, logits []float32, o *Options, u float64) (token int32, ok bool) {
	w := &s.sampling
	allowed := w.allowed[row*len(logits):][:len(logits)]
	for id := range allowed {
		allowed[id] = float32(math.Inf(-1))
	}
	add := func(id int32) {
		if x := logits[id]; x > float32(math.Inf(-1)) && s.allows(row, id) {
			allowed[id], ok = x, true
		}
	}
	if only := s.partials[row].only; only != nil {
		for _, id := range only {
			add(id)
		}
	} else {
		for id := range logits {
			add(int32(id))
		}
	}
	return w.draw(row, allowed, o, u), ok
}

// samplingWorkspace is the workspace of sampling, separate for each row.
type samplingWorkspace struct {
	probs   []float32        // [rows × V]
	allowed []float32        // [rows × V] logits, -Inf for forbidden tokens
	choices [][]continuation // tokens to draw from; logP holds the probability
	random  []rand.ChaCha8
}

// alloc allocates the workspace for rows of logits of a vocabulary. constrained reports whether a
// source has a Constraint.
func (w *samplingWorkspace) alloc(rows, vocabulary int, constrained bool) {
	for len(w.choices) < rows {
		w.choices, w.random = append(w.choices, nil), append(w.random, rand.ChaCha8{})
	}
	if n := rows * vocabulary; len(w.probs) < n {
		w.probs = make([]float32, n)
	}
	if n := rows * vocabulary; constrained && len(w.allowed) < n {
		w.allowed = make([]float32, n)
	}
}

// draw returns the token of row i at quantile u, 0 ≤ u < 1, of the distribution that o describes.
func (w *samplingWorkspace) draw(i int, logits []float32, o *Options, u float64) int32 {
	p := w.probs[i*len(logits):][:len(logits)]
	mat.Softmax(p, logits, float32(1/o.Temperature))
	if p[model.EOS] != p[model.EOS] || !(mat.Max(p) > 0) { // NaN or infinite logits
		return model.EOS
	}
	if o.TopK == 0 && o.TopP == 1 {
		return int32(pick(p, u))
	}
	// Without TopK, stop at TopP of the total probability. With TopK, TopP refers to the TopK
	// most probable tokens, whose sum is known only when all are popped.
	choices := w.selectChoices(i, p, o)
	maxChoices, probability := len(choices), float64(o.TopP*float64(mat.Sum(p)))
	if o.TopK > 0 {
		maxChoices, probability = min(maxChoices, o.TopK), math.Inf(1)
	}
	// Pop the most probable tokens from the heap, so that they fill choices from its end. Copy
	// their probabilities to p[:n].
	heap, n := choices, 0
	for sum := 0.0; n < maxChoices && (n == 0 || sum < probability); n++ {
		last := len(heap) - 1
		heap[0], heap[last] = heap[last], heap[0]
		p[n] = float32(heap[last].logP)
		sum += heap[last].logP
		heap = heap[:last]
		siftDown(heap, 0)
	}
	if o.TopK > 0 && o.TopP < 1 {
		n = nucleusSize(p[:n], o.TopP)
	}
	return choices[len(choices)-1-pick(p[:n], u)].token
}

// selectChoices returns a heap of tokens with their probabilities p. It contains all tokens that
// TopK and TopP allow.
func (w *samplingWorkspace) selectChoices(i int, p []float32, o *Options) []continuation {
	const maxInsertions = 64 // up to this TopK, topK is faster than a heap of all tokens
	heap := w.choices[i][:0]
	if 0 < o.TopK && o.TopK <= maxInsertions {
		heap = topK(slices.Grow(heap, o.TopK)[:0:o.TopK], p)
	} else {
		minProb := float32(0)
		if o.TopK == 0 {
			// The tokens below this have at most 1-TopP together.
			minProb = min(mat.Max(p), float32((1-o.TopP)/float64(len(p))))
		}
		for id, x := range p {
			if x >= minProb && x > 0 {
				heap = append(heap, continuation{logP: float64(x), token: int32(id)})
			}
		}
	}
	w.choices[i] = heap
	for j := len(heap)/2 - 1; j >= 0; j-- {
		siftDown(heap, j)
	}
	return heap
}

// siftDown restores the heap order below element i. The root is the most probable token, of equal
// ones the one with the smallest id.
func siftDown(heap []continuation, i int) {
	before := func(a, b continuation) bool { return a.logP > b.logP || a.logP == b.logP && a.token < b.token }
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && before(heap[child+1], heap[child]) {
			child++
		}
		if !before(heap[child], heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// nucleusSize returns the smallest n, 1 or more, for which p[:n] has the given fraction of the sum
// of p.
func nucleusSize(p []float32, fraction float64) int {
	probability := float64(fraction * float64(mat.Sum(p)))
	n := 0
	for sum := 0.0; n < len(p) && (n == 0 || sum < probability); n++ {
		sum += float64(p[n])
	}
	return n
}

// pick returns the first index at which the running sum of p exceeds u times the sum of p.
func pick(p []float32, u float64) int {
	remaining := float64(u * float64(mat.Sum(p)))
	last := 0 // returned if rounding keeps the running sum below
	for i, x := range p {
		if x > 0 {
			if remaining -= float64(x); remaining < 0 {
				return i
			}
			last = i
		}
	}
	return last
}

// uniform returns a random number, 0 ≤ u < 1, that is a function of the seed, the number of the
// source, the number of its translation and the position in it: the first output of ChaCha8 with
// these as its key. c is workspace.
func uniform(c *rand.ChaCha8, seed, source, translation, position uint64) float64 {
	var key [32]byte
	for i, x := range [...]uint64{seed, source, translation, position} {
		binary.LittleEndian.PutUint64(key[8*i:], x)
	}
	c.Seed(key)
	return nextUniform(c)
}

// nextUniform returns the next random number of c, 0 ≤ u < 1.
func nextUniform(c *rand.ChaCha8) float64 { return float64(c.Uint64()>>11) / (1 << 53) }
