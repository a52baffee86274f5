package model

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"tfm/mat"
)

// drawnTokens draws a token for each row of logits.
type drawnTokens struct {
	logits mat.Matrix
	s      Search
	t      int
	r      *searchRoom
}

func (d *drawnTokens) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		row := d.logits.Row(i)
		row[Pad], row[BOS] = float32(math.Inf(-1)), float32(math.Inf(-1)) // never said
		slot := uint64(d.r.slots[i])
		width := uint64(d.s.width())
		u := uniform(&d.r.random[i], d.s.Seed, d.r.numbers[d.r.sources[i]], slot%width, uint64(d.t))
		id := d.r.draw(i, row, d.s, u)
		x, top := float64(row[id]), mat.Max(row)
		total := mat.ExpSum(row, row, top)
		d.r.candidate[i] = candidate{logP: x - (float64(top) + mat.Log(float64(total))), id: id}
	}
}

// startSample makes room for sampling, and gives each sentence all its hypotheses, which begin alike.
func (r *searchRoom) startSample(s Search, places []int, vocabulary int) {
	r.numbers = r.numbers[:0]
	for i := range r.sentences {
		r.numbers = append(r.numbers, s.First+uint64(places[i]))
		sb := &r.sentences[i]
		for j := 1; j < s.width(); j++ {
			sb.alive = append(sb.alive, alive{0, -1, int32(i*s.width() + j)})
		}
	}
	rows := len(r.sentences) * s.width()
	r.size(rows, 1)
	for len(r.likely) < rows {
		r.likely, r.random = append(r.likely, nil), append(r.random, rand.ChaCha8{})
	}
	if n := rows * vocabulary; len(r.probability) < n {
		r.probability = make([]float32, n)
	}
}

// draw returns the token of a row of logits that the random number 0 ≤ u < 1 means.
func (r *searchRoom) draw(i int, row []float32, s Search, u float64) int32 {
	p := r.probability[i*len(row):][:len(row)]
	mat.Softmax(p, row, float32(1/s.Temperature))
	if p[EOS] != p[EOS] { // a model of NaN or infinite weights has nothing to say
		return EOS
	}
	if s.TopK == 0 && s.TopP == 1 {
		return int32(pick(p, u))
	}
	total, least := float64(mat.Sum(p)), float32(0)
	if s.TopK == 0 {
		// What is below this is at most 1-TopP all together.
		least = min(mat.Max(p), float32((1-s.TopP)/float64(len(p))))
	}
	heap := r.likely[i][:0]
	if few := 64; 0 < s.TopK && s.TopK <= few { // which topK finds sooner than a heap of all
		heap = topK(slices.Grow(heap, s.TopK)[:0:s.TopK], p)
	} else {
		for id, x := range p {
			if x >= least && x > 0 {
				heap = append(heap, candidate{logP: float64(x), id: int32(id)})
			}
		}
	}
	r.likely[i] = heap
	for j := len(heap)/2 - 1; j >= 0; j-- {
		sink(heap, j)
	}
	// The most probable ones go to the end of the heap's memory, the first to the last place, and their
	// probabilities to the front of p.
	most, enough := len(heap), float64(s.TopP*total)
	if s.TopK > 0 {
		most, enough = min(most, s.TopK), math.Inf(1)
	}
	n := 0
	for sum := 0.0; n < most && (n == 0 || sum < enough); n++ {
		last := len(heap) - 1
		heap[0], heap[last] = heap[last], heap[0]
		p[n] = float32(heap[last].logP)
		sum += heap[last].logP
		heap = heap[:last]
		sink(heap, 0)
	}
	if s.TopK > 0 && s.TopP < 1 {
		n = fewest(p[:n], s.TopP)
	}
	return r.likely[i][len(r.likely[i])-1-pick(p[:n], u)].id
}

// sink moves element i of a heap of candidates, the most probable on top and of equal ones the first, to its place below.
func sink(heap []candidate, i int) {
	before := func(a, b candidate) bool { return a.logP > b.logP || a.logP == b.logP && a.id < b.id }
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

// fewest is how many of p, from the first, have a part of the whole.
func fewest(p []float32, part float64) int {
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

// uniform is a number from 0 up to 1, a function of the seed, the source, the number of its translation and the
// position in it: the first of ChaCha8 with these as its key. c is memory for that.
func uniform(c *rand.ChaCha8, seed, source, translation, position uint64) float64 {
	var key [32]byte
	for i, x := range [...]uint64{seed, source, translation, position} {
		binary.LittleEndian.PutUint64(key[8*i:], x)
	}
	c.Seed(key)
	return float64(c.Uint64()>>11) / (1 << 53)
}

// follow gives each hypothesis of a sentence the token that was drawn for it; row is its first.
func (r *searchRoom) follow(sb *sentenceBeam, row int, s Search, t int) {
	r.next = r.next[:0]
	for i, a := range sb.alive {
		c := r.candidate[row+i]
		logP := c.logP + a.logP
		if c.id == EOS {
			sb.end(s, ending{s.score(logP, t+1), a.end, false})
			continue
		}
		r.trace = append(r.trace, token{c.id, a.end})
		r.next = append(r.next, alive{logP, int32(len(r.trace) - 1), a.slot})
	}
	sb.alive = append(sb.alive[:0], r.next...)
}
