package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/detect/profile"
)

// build trains twice, the second time from the rounded result of the first. The first training has
// all frequent n-grams, selects the most important ones twice and trains on.
func build(languages []language, samples int) *profile.Model {
	const minCount = 6 // of an n-gram
	const rate, furtherRate = 0.1, 0.06
	t := newTrainer(languages)
	counts := t.selectFrequent(samples/2, minCount)
	t.train(samples, rate)
	t.report()
	t.knows = true
	for _, n := range []int{240_000, 60_000} { // n-grams, those of the file last
		t.selectImportant(counts, n)
		t.train(samples/2, rate/2)
		t.report()
	}
	first := t.round(samples/8, rate/4)

	t = newTrainer(languages)
	t.load(first)
	t.train(samples/12, 0) // only shows the sizes of the gradients
	for i := range 2 {
		t.train(samples/2, furtherRate/float64(1+i))
		t.report()
	}
	m := t.round(samples/8, rate/4)
	t.calibrate(m)
	return m
}

type vector [profile.Dim]float32

// trainer trains a softmax over the languages of a script by stochastic gradient descent with
// steps of AdaGrad (Duchi et al., 2011), one for each weight of a language and one for each vector.
type trainer struct {
	languages []language
	byScript  [profile.Shared][]int // languages

	index   []int32     // row of the vector of a hash, or -1
	vectors []parameter // of n-grams
	weights []weights   // of languages

	knows bool // the languages: texts in another one are left out
	fixed bool // the vectors

	random *rand.Rand
	rows   []uint32  // workspace
	sum    vector    // of the last text
	p      []float32 // probabilities of the languages of the last text
}

// parameter is a vector with the sum of the squares of its gradients.
type parameter struct {
	vector
	squares float32
}

// weights are those of a language, with the sums of the squares of their gradients.
type weights struct {
	w, squares        vector
	bias, biasSquares float32
}

const leastSquares = 1e-3

func newTrainer(languages []language) *trainer {
	const deviation = 0.3
	n := len(languages)
	t := &trainer{languages: languages, random: rand.New(rand.NewPCG(1, 2)), weights: make([]weights, n), p: make([]float32, n)}
	t.index = slices.Repeat([]int32{-1}, 1<<profile.HashBits)
	for l, lang := range languages {
		for i := range profile.Dim {
			t.weights[l].w[i] = float32(t.random.NormFloat64() * deviation)
			t.weights[l].squares[i] = leastSquares
		}
		t.weights[l].biasSquares = leastSquares
		t.byScript[lang.script] = append(t.byScript[lang.script], l)
	}
	return t
}

// load sets the vectors and weights to those of a model, with vectors of a deviation of about that
// which they have in training.
func (t *trainer) load(m *profile.Model) {
	const scale = 0.15
	t.knows = true
	for i, h := range m.Grams {
		t.index[h] = int32(i)
		v := parameter{squares: leastSquares}
		for j, x := range m.Vectors[i] {
			v.vector[j] = float32(x) * scale
		}
		t.vectors = append(t.vectors, v)
	}
	for l, lang := range m.Languages {
		for i, w := range lang.Weights {
			t.weights[l].w[i] = float32(float64(w) * profile.WeightUnit / scale)
		}
		t.weights[l].bias = float32(float64(lang.Bias) * profile.BiasUnit)
	}
}

// line returns a line of a language, of a source drawn by its weight.
func (t *trainer) line(l int, heldOut bool) string {
	sources := t.languages[l].sources
	total := 0.0
	for _, s := range sources {
		total += s.weight
	}
	x, i := t.random.Float64()*total, 0
	for ; i < len(sources)-1 && x >= sources[i].weight; i++ {
		x -= sources[i].weight
	}
	lines := sources[i].train
	if heldOut {
		lines = sources[i].heldOut
	}
	if len(lines) == 0 {
		return t.line(l, heldOut)
	}
	return lines[t.random.IntN(len(lines))]
}

// piece returns a part of a line: its begin, some characters, some words.
func (t *trainer) piece(line string) string {
	x := t.random.Float64()
	switch {
	case x < 0.2:
		return prefix(line, 200)
	case x < 0.5 || !strings.Contains(line, " "):
		return prefix(line[t.start(line):], 8+t.random.IntN(40))
	}
	n := 1 + t.random.IntN(3)
	if x > 0.85 {
		n = 4 + t.random.IntN(6)
	}
	words := strings.Fields(line)
	at := t.random.IntN(max(1, len(words)-n+1))
	return strings.Join(words[at:min(at+n, len(words))], " ")
}

// start returns the start of a line, or of a word in its first two thirds.
func (t *trainer) start(line string) int {
	if t.random.Float64() < 0.3 {
		return 0
	}
	at := t.random.IntN(len(line)*2/3 + 1)
	if i := strings.IndexByte(line[at:], ' '); i >= 0 && at+i+8 < len(line) {
		return at + i + 1
	}
	for at > 0 && !utf8.RuneStart(line[at]) {
		at--
	}
	return at
}

// prefix returns the first n characters of a text.
func prefix(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// selectFrequent gives vectors to the n-grams that are at least least times in n pieces of all
// languages, and returns the numbers of all.
func (t *trainer) selectFrequent(n int, least uint32) []uint32 {
	counts := make([]uint32, len(t.index))
	for i := range n {
		l := i % len(t.languages)
		words := profile.NewWords(t.piece(t.line(l, false)), t.languages[l].script)
		for hashes := words.Next(); hashes != nil; hashes = words.Next() {
			for _, h := range hashes {
				counts[h]++
			}
		}
	}
	for h, n := range counts {
		if n >= least {
			t.index[h] = int32(len(t.vectors))
			t.vectors = append(t.vectors, parameter{squares: 1e-5})
		}
	}
	return counts
}

// selectImportant keeps the n most important n-grams: those with the largest product of their count
// and the square of the norm of their vector.
func (t *trainer) selectImportant(counts []uint32, n int) {
	importance := make([]float64, len(t.index))
	var hashes []int
	for h, row := range t.index {
		if row < 0 {
			continue
		}
		for _, x := range t.vectors[row].vector {
			importance[h] += float64(x) * float64(x)
		}
		importance[h] *= float64(counts[h])
		hashes = append(hashes, h)
	}
	slices.SortStableFunc(hashes, func(a, b int) int { return cmp.Compare(importance[b], importance[a]) })
	for _, h := range hashes[min(n, len(hashes)):] {
		t.index[h] = -1
	}
	for i := range t.vectors {
		t.vectors[i].squares *= 0.1
	}
}

// rowsOf returns the rows of the n-grams of a text that have vectors, until the next call.
func (t *trainer) rowsOf(text string, s profile.Script) []uint32 {
	t.rows = t.rows[:0]
	words := profile.NewWords(text, s)
	for hashes := words.Next(); hashes != nil; hashes = words.Next() {
		for _, h := range hashes {
			if row := t.index[h]; row >= 0 {
				t.rows = append(t.rows, uint32(row))
			}
		}
	}
	return t.rows
}

// train trains with samples of all languages. The rate falls to 1 % of its begin.
func (t *trainer) train(samples int, rate float64) {
	const batch = 1 << 10 // samples of one rate
	for done := 0; done < samples; done += batch {
		for range batch {
			l := t.random.IntN(len(t.languages))
			rows := t.rowsOf(t.piece(t.line(l, false)), t.languages[l].script)
			t.step(rows, l, float32(rate*(1.01-float64(done)/float64(samples))))
		}
	}
}

// forward sets sum to the vector of a text and p to the probabilities of the languages of its
// script.
func (t *trainer) forward(rows []uint32, s profile.Script) (scale float32) {
	t.sum = vector{}
	for _, row := range rows {
		for i, x := range &t.vectors[row].vector {
			t.sum[i] += x
		}
	}
	scale = float32(1 / math.Sqrt(float64(max(1, len(rows)))))
	for i := range t.sum {
		t.sum[i] *= scale
	}
	most := float32(math.Inf(-1))
	for _, l := range t.byScript[s] {
		z := t.weights[l].bias
		for i, w := range &t.weights[l].w {
			z += float32(w * t.sum[i])
		}
		t.p[l] = z
		most = max(most, z)
	}
	total := float32(0)
	for _, l := range t.byScript[s] {
		t.p[l] = float32(math.Exp(float64(t.p[l] - most)))
		total += t.p[l]
	}
	for _, l := range t.byScript[s] {
		t.p[l] /= total
	}
	return scale
}

// step updates the weights for a sample. The loss is the cross-entropy: with p the probabilities
// and y the language, dz = p - y, dw = dz·v, dv = w·dz, de = scale·dv for each n-gram.
func (t *trainer) step(rows []uint32, language int, rate float32) {
	const long, improbable = 40, 0.01
	s := t.languages[language].script
	scale := t.forward(rows, s)
	if len(rows) == 0 || t.knows && len(rows) > long && t.p[language] < improbable {
		return
	}
	root := func(squares float32) float32 { return float32(math.Sqrt(float64(squares))) }
	dv := vector{}
	for _, l := range t.byScript[s] {
		dz := t.p[l]
		if l == language {
			dz--
		}
		if dz < 1e-4 && dz > -1e-4 {
			continue
		}
		w := &t.weights[l]
		for i := range dv {
			dv[i] += float32(dz * w.w[i])
			dw := dz * t.sum[i]
			w.squares[i] += float32(dw * dw)
			w.w[i] -= float32(rate * dw / root(w.squares[i]))
		}
		w.biasSquares += float32(dz * dz)
		w.bias -= float32(rate * dz / root(w.biasSquares))
	}
	if t.fixed {
		return
	}
	square := float32(0)
	for i := range dv {
		dv[i] *= scale
		square += float32(dv[i] * dv[i])
	}
	for _, row := range rows {
		e := &t.vectors[row]
		e.squares += square / profile.Dim
		r := rate / root(e.squares)
		for i := range dv {
			e.vector[i] -= float32(r * dv[i])
		}
	}
}
