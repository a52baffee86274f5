package decode

import (
	"encoding/binary"
	"math"
	"slices"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// sampled is the candidateSource of sampling: one token, drawn at random.
func (o *Options) sampled(r *row, c choice) {
	d := &c.buffers.draws
	d.seed(r.draw)
	i := d.draw(&c, c.selectable, o, d.uniform())
	ok := c.allows(c.ids.id(i))
	if !ok {
		i, ok = d.drawAllowed(&c, c.selectable, o)
	}
	if !ok && c.isForced() {
		i, ok = d.drawAllowed(&c, c.logits, o)
	}
	if !ok {
		return
	}
	logZ := c.logZ()
	r.candidates = append(r.memory(1), candidate{LogP: float64(c.logits[i]) - logZ, Token: c.ids.id(i)})
	if r.maxAlternatives > 0 {
		r.alternatives = c.top(slices.Grow(r.alternatives, r.maxAlternatives)[:0:r.maxAlternatives])
	}
	for i := range r.alternatives {
		r.alternatives[i].LogP -= logZ
	}
}

// drawAllowed draws from the logits of the tokens that may follow c's hypothesis. It returns false
// if none may. A draw from all tokens, repeated by drawAllowed if its token is forbidden, has the
// distribution of drawAllowed unless TopK or TopP restrict the first draw.
func (d *draws) drawAllowed(c *choice, logits []float32, o *Options) (index int, ok bool) {
	allowed := floats(&d.allowed, len(logits))
	layer.Fill(allowed, float32(math.Inf(-1)))
	add := func(i int) {
		if x := logits[i]; x > float32(math.Inf(-1)) && c.allows(c.ids.id(i)) {
			allowed[i], ok = x, true
		}
	}
	if c.only != nil {
		for _, id := range c.only {
			if i, found := c.ids.index(id); found {
				add(i)
			}
		}
	} else {
		for i := range logits {
			add(i)
		}
	}
	return d.draw(c, allowed, o, d.uniform()), ok
}

// draw returns the index of the logit at quantile u, 0 ≤ u < 1, of the distribution that o
// describes. It returns that of EOS if logits are NaN or infinite.
func (d *draws) draw(c *choice, logits []float32, o *Options, u float64) int {
	p := floats(&d.probs, len(logits))
	mat.Softmax(p, logits, float32(1/o.Temperature))
	if eos, _ := c.ids.index(model.EOS); p[eos] != p[eos] || !(mat.Max(p) > 0) {
		return eos
	}
	if o.TopK == 0 && o.TopP == 1 {
		return pick(p, u)
	}
	// Without TopK, stop at TopP of the total probability. With TopK, TopP refers to the TopK
	// most probable tokens, whose sum is known only when all are popped.
	choices := d.selectChoices(p, o)
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
		p[n] = float32(heap[last].LogP)
		sum += heap[last].LogP
		heap = heap[:last]
		siftDown(heap, 0)
	}
	if o.TopK > 0 && o.TopP < 1 {
		n = nucleusSize(p[:n], o.TopP)
	}
	return int(choices[len(choices)-1-pick(p[:n], u)].Token)
}

// selectChoices returns a heap of tokens with their probabilities p. It contains all tokens that
// TopK and TopP allow.
func (d *draws) selectChoices(p []float32, o *Options) []candidate {
	const maxInsertions = 64 // up to this TopK, topK is faster than a heap of all tokens
	heap := d.choices[:0]
	if 0 < o.TopK && o.TopK <= maxInsertions {
		heap = topK(slices.Grow(heap, o.TopK)[:0:o.TopK], p, nil, nil)
	} else {
		minProb := float32(0)
		if o.TopK == 0 {
			// The tokens below this have at most 1-TopP together.
			minProb = min(mat.Max(p), float32((1-o.TopP)/float64(len(p))))
		}
		for id, x := range p {
			if x >= minProb && x > 0 {
				heap = append(heap, candidate{LogP: float64(x), Token: int32(id)})
			}
		}
	}
	d.choices = heap
	for j := len(heap)/2 - 1; j >= 0; j-- {
		siftDown(heap, j)
	}
	return heap
}

// siftDown restores the heap order below element i. The root is the most probable token, of equal
// ones the one with the smallest id.
func siftDown(heap []candidate, i int) {
	before := func(a, b candidate) bool { return a.LogP > b.LogP || a.LogP == b.LogP && a.Token < b.Token }
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

// seed makes the next random numbers a function of id: the output of ChaCha8 with it as its key.
func (d *draws) seed(id drawID) {
	var key [32]byte
	for i, x := range [...]uint64{id.seed, id.source, id.translation, id.position} {
		binary.LittleEndian.PutUint64(key[8*i:], x)
	}
	d.random.Seed(key)
}

// uniform returns the next random number u, 0 ≤ u < 1.
func (d *draws) uniform() float64 { return float64(d.random.Uint64()>>11) / (1 << 53) }
