package decode

import (
	"cmp"
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
	// TopP refers to the TopK tokens, or else to all.
	probability := o.TopP * float64(mat.Sum(p))
	choices := d.selectChoices(p, o)
	n := len(choices)
	for i, c := range choices {
		p[i] = float32(c.LogP)
	}
	if o.TopK > 0 {
		probability = o.TopP * float64(mat.Sum(p[:n]))
	}
	if o.TopP < 1 {
		n = nucleusSize(p[:n], probability)
	}
	return int(choices[pick(p[:n], u)].Token)
}

// selectChoices returns the TopK most probable tokens, or all that TopP may allow, with their
// probabilities p, in descending order, of equal ones the one with the smallest id first.
func (d *draws) selectChoices(p []float32, o *Options) []candidate {
	const maxInsertions = 64 // up to this TopK, topK is faster than sorting all tokens
	if 0 < o.TopK && o.TopK <= maxInsertions {
		d.choices = topK(slices.Grow(d.choices[:0], o.TopK)[:0:o.TopK], p, nil, nil)
		return d.choices
	}
	minProb := float32(0)
	if o.TopK == 0 {
		// The tokens below this have at most 1-TopP together.
		minProb = min(mat.Max(p), float32((1-o.TopP)/float64(len(p))))
	}
	d.choices = d.choices[:0]
	for id, x := range p {
		if x >= minProb && x > 0 {
			d.choices = append(d.choices, candidate{LogP: float64(x), Token: int32(id)})
		}
	}
	slices.SortStableFunc(d.choices, func(a, b candidate) int { return cmp.Compare(b.LogP, a.LogP) })
	if o.TopK > 0 {
		return d.choices[:min(o.TopK, len(d.choices))]
	}
	return d.choices
}

// nucleusSize returns the smallest n, 1 or more, for which the sum of p[:n] is at least
// probability, or else the length of p.
func nucleusSize(p []float32, probability float64) int {
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
