package decode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// sample draws each token by chance, as Options say, for as many hypotheses as are listed. All
// count, equal ones too.
type sample struct {
	single
	*Options
}

func (o sample) initialHypotheses() int { return o.nBest() }

func (o sample) expand(s *search, row int, logits []float32, out []continuation) []continuation {
	b, h := s.hypothesis(row)
	u := uniform(&s.sampling.random[row], o.Seed, b.number, uint64(h.number), uint64(b.tokens))
	token := s.sampling.draw(row, logits, o.Options, u)
	x, top := float64(logits[token]), mat.Max(logits)
	total := mat.ExpSum(logits, logits, top)
	return append(out, continuation{logP: x - (float64(top) + mat.Log(float64(total))), token: token})
}

// samplingWorkspace is the memory of samplingWorkspace, for each row.
type samplingWorkspace struct {
	probs   []float32        // [rows × V]
	choices [][]continuation // what TopK and TopP choose from; logP is a probability
	random  []rand.ChaCha8
}

// alloc makes room for rows of logits of a vocabulary.
func (s *samplingWorkspace) alloc(rows, vocabulary int) {
	for len(s.choices) < rows {
		s.choices, s.random = append(s.choices, nil), append(s.random, rand.ChaCha8{})
	}
	if n := rows * vocabulary; len(s.probs) < n {
		s.probs = make([]float32, n)
	}
}

// draw returns the token of row i that the random number 0 ≤ u < 1 stands for.
func (s *samplingWorkspace) draw(i int, row []float32, o *Options, u float64) int32 {
	p := s.probs[i*len(row):][:len(row)]
	mat.Softmax(p, row, float32(1/o.Temperature))
	if p[model.EOS] != p[model.EOS] || !(mat.Max(p) > 0) { // logits that are NaN or infinite say nothing
		return model.EOS
	}
	if o.TopK == 0 && o.TopP == 1 {
		return int32(pick(p, u))
	}
	total, least := float64(mat.Sum(p)), float32(0)
	if o.TopK == 0 {
		// What is below this is at most 1-TopP all together.
		least = min(mat.Max(p), float32((1-o.TopP)/float64(len(p))))
	}
	heap := s.choices[i][:0]
	if few := 64; 0 < o.TopK && o.TopK <= few { // which topK finds sooner than a heap of all
		heap = topK(slices.Grow(heap, o.TopK)[:0:o.TopK], p)
	} else {
		for id, x := range p {
			if x >= least && x > 0 {
				heap = append(heap, continuation{logP: float64(x), token: int32(id)})
			}
		}
	}
	s.choices[i] = heap
	for j := len(heap)/2 - 1; j >= 0; j-- {
		siftDown(heap, j)
	}
	// The most probable ones go to the end of the heap's memory, the first to the last place, and
	// their probabilities to the front of p.
	most, enough := len(heap), float64(o.TopP*total)
	if o.TopK > 0 {
		most, enough = min(most, o.TopK), math.Inf(1)
	}
	n := 0
	for sum := 0.0; n < most && (n == 0 || sum < enough); n++ {
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
	return s.choices[i][len(s.choices[i])-1-pick(p[:n], u)].token
}

// siftDown moves element i of a heap of continuations, the most probable on top and of equal ones the
// first, to its place below.
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

// nucleusSize is how many of p, from the first, have a part of the whole.
func nucleusSize(p []float32, part float64) int {
	enough := float64(part * float64(mat.Sum(p)))
	n := 0
	for sum := 0.0; n < len(p) && (n == 0 || sum < enough); n++ {
		sum += float64(p[n])
	}
	return n
}

// pick returns the index at which the running sum of p first exceeds u times the whole.
func pick(p []float32, u float64) int {
	rest := float64(u * float64(mat.Sum(p)))
	last := 0 // for sums whose rounding leaves a rest
	for i, x := range p {
		if x > 0 {
			if rest -= float64(x); rest < 0 {
				return i
			}
			last = i
		}
	}
	return last
}

// uniform is a number from 0 up to 1, a function of the seed, the source, the number of its
// translation and the position in it: the first of ChaCha8 with these as its key. c is memory for
// that.
func uniform(c *rand.ChaCha8, seed, source, translation, position uint64) float64 {
	var key [32]byte
	for i, x := range [...]uint64{seed, source, translation, position} {
		binary.LittleEndian.PutUint64(key[8*i:], x)
	}
	c.Seed(key)
	return float64(c.Uint64()>>11) / (1 << 53)
}
