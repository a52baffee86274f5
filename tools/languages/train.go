package main

import (
	"cmp"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/detect/profile"
)

// trainer trains a softmax over the languages of a script by stochastic gradient descent with
// steps of AdaGrad (Duchi et al., 2011), one for each weight of a language and one for each n-gram.
type trainer struct {
	languages []language
	byScript  [profile.Shared][]int // languages

	grams   []*gram   // by hash, nil for those without a vector
	weights []weights // of languages

	knows bool // the languages: texts in another one are left out
	fixed bool // the vectors

	random *rand.Rand
	found  []*gram   // workspace
	sum    vector    // of the last text
	p      []float32 // probabilities of the languages of the last text
}

// vector has an element more than those of the file: the bias of a language, or 1 in a sum.
type vector [profile.Dim + 1]float32

const bias = profile.Dim

// gram is the vector of an n-gram with the sum of the squares of its gradients.
type gram struct {
	vector  [profile.Dim]float32
	squares float32
}

// weights are those of a language, with the sums of the squares of their gradients.
type weights struct{ w, squares vector }

const leastSquares = 1e-3

func newTrainer(languages []language) *trainer {
	const deviation = 0.3
	n := len(languages)
	t := &trainer{languages: languages, random: rand.New(rand.NewPCG(1, 2)), weights: make([]weights, n), p: make([]float32, n)}
	t.grams = make([]*gram, 1<<profile.HashBits)
	for l, lang := range languages {
		for i := range t.sum {
			t.weights[l].squares[i] = leastSquares
			if i != bias {
				t.weights[l].w[i] = float32(t.random.NormFloat64() * deviation)
			}
		}
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
		t.grams[h] = &gram{squares: leastSquares}
		for j, x := range m.Vectors[i] {
			t.grams[h].vector[j] = float32(x) * scale
		}
	}
	for l, lang := range m.Languages {
		for i, w := range lang.Weights {
			t.weights[l].w[i] = float32(float64(w) * profile.WeightUnit / scale)
		}
		t.weights[l].w[bias] = float32(float64(lang.Bias) * profile.BiasUnit)
	}
}

// all yields the n-grams that have vectors, with their hashes.
func (t *trainer) all(yield func(h int, g *gram) bool) {
	for h, g := range t.grams {
		if g != nil && !yield(h, g) {
			return
		}
	}
}

// line returns a line of a language, of a source drawn by its weight.
func (t *trainer) line(l, set int) string {
	sources := t.languages[l].sources
	x, i := t.random.Float64()*t.languages[l].weight, 0
	for ; i < len(sources)-1 && x >= sources[i].weight; i++ {
		x -= sources[i].weight
	}
	lines := sources[i].lines[set]
	if len(lines) == 0 {
		return t.line(l, set)
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
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// selectFrequent gives vectors to the n-grams that are at least least times in n pieces of all
// languages, and returns the numbers of all.
func (t *trainer) selectFrequent(n int, least uint32) []uint32 {
	counts := make([]uint32, len(t.grams))
	for i := range n {
		l := i % len(t.languages)
		words := profile.NewWords(t.piece(t.line(l, training)), t.languages[l].script)
		for hashes := words.Next(); hashes != nil; hashes = words.Next() {
			for _, h := range hashes {
				counts[h]++
			}
		}
	}
	for h, n := range counts {
		if n >= least {
			t.grams[h] = &gram{squares: 1e-5}
		}
	}
	return counts
}

// selectImportant keeps the n most important n-grams: those with the largest product of their count
// and the square of the norm of their vector.
func (t *trainer) selectImportant(counts []uint32, n int) {
	importance := make([]float64, len(t.grams))
	var hashes []int
	for h, g := range t.all {
		for _, x := range g.vector {
			importance[h] += float64(x) * float64(x)
		}
		importance[h] *= float64(counts[h])
		hashes = append(hashes, h)
		g.squares *= 0.1
	}
	slices.SortStableFunc(hashes, func(a, b int) int { return cmp.Compare(importance[b], importance[a]) })
	for _, h := range hashes[min(n, len(hashes)):] {
		t.grams[h] = nil
	}
}

// train trains with samples of all languages. The rate falls to 1 % of its begin.
func (t *trainer) train(samples int, rate float64) {
	const batch = 1 << 10 // samples of one rate
	for done := 0; done < samples; done += batch {
		for range batch {
			l := t.random.IntN(len(t.languages))
			t.step(t.piece(t.line(l, training)), l, float32(rate*(1.01-float64(done)/float64(samples))))
		}
	}
}

// forward sets found to the n-grams of a text that have vectors, sum to the vector of the text, and
// p to the probabilities of the languages of a script.
func (t *trainer) forward(text string, s profile.Script) (scale float32) {
	t.found, t.sum = t.found[:0], vector{}
	words := profile.NewWords(text, s)
	for hashes := words.Next(); hashes != nil; hashes = words.Next() {
		for _, h := range hashes {
			if g := t.grams[h]; g != nil {
				t.found = append(t.found, g)
				for i, x := range &g.vector {
					t.sum[i] += x
				}
			}
		}
	}
	scale = float32(1 / math.Sqrt(float64(max(1, len(t.found)))))
	for i := range t.sum {
		t.sum[i] *= scale
	}
	t.sum[bias] = 1
	most := float32(math.Inf(-1))
	for _, l := range t.byScript[s] {
		z := t.weights[l].w[bias]
		for i, w := range t.weights[l].w[:bias] {
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
func (t *trainer) step(text string, language int, rate float32) {
	const long, improbable = 40, 0.01
	s := t.languages[language].script
	scale := t.forward(text, s)
	if len(t.found) == 0 || t.knows && len(t.found) > long && t.p[language] < improbable {
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
	}
	if t.fixed {
		return
	}
	square := float32(0)
	for i := range profile.Dim {
		dv[i] *= scale
		square += float32(dv[i] * dv[i])
	}
	for _, g := range t.found {
		g.squares += square / profile.Dim
		r := rate / root(g.squares)
		for i := range g.vector {
			g.vector[i] -= float32(r * dv[i])
		}
	}
}

// report prints the share of held-out lines whose language is found among those of their script.
func (t *trainer) report() {
	const perLanguage = 200
	right, all := 0, perLanguage*len(t.languages)
	for i := range all {
		l := i / perLanguage
		s := t.languages[l].script
		t.forward(t.line(l, heldOut), s)
		if !slices.ContainsFunc(t.byScript[s], func(k int) bool { return t.p[k] > t.p[l] }) {
			right++
		}
	}
	log.Printf("%.2f%% of held-out lines", 100*float64(right)/float64(all))
}

// round makes the vectors integers, in steps of their standard deviations, trains the weights of
// the languages again, and returns the model. It drops n-grams whose vectors are nearly zero.
func (t *trainer) round(samples int, rate float64) *profile.Model {
	const steps, minSquare = 0.63, 3
	for i := range profile.Dim {
		sum, n := 0.0, 0
		for _, g := range t.all {
			sum += float64(g.vector[i]) * float64(g.vector[i])
			n++
		}
		step := float32(math.Sqrt(sum/float64(n)) * steps)
		for _, g := range t.all {
			g.vector[i] = float32(max(-127, min(127, math.Round(float64(g.vector[i]/step)))))
		}
		for l := range t.weights {
			t.weights[l].w[i] *= step
			t.weights[l].squares[i] /= step * step
		}
	}
	m := &profile.Model{}
	for h, g := range t.all {
		var v [profile.Dim]int8
		square := 0
		for i, x := range g.vector {
			v[i] = int8(x)
			square += int(x) * int(x)
		}
		if square < minSquare {
			t.grams[h] = nil
			continue
		}
		m.Grams, m.Vectors = append(m.Grams, uint32(h)), append(m.Vectors, v)
	}
	t.fixed = true
	t.train(samples, rate)
	integer := func(x float32, unit float64) int16 {
		return int16(max(math.MinInt16, min(math.MaxInt16, math.Round(float64(x)/unit))))
	}
	for l, lang := range t.languages {
		p := profile.Language{Tag: lang.tag, Script: lang.script, Bias: integer(t.weights[l].w[bias], profile.BiasUnit)}
		for i := range p.Weights {
			p.Weights[i] = integer(t.weights[l].w[i], profile.WeightUnit)
		}
		m.Languages = append(m.Languages, p)
	}
	return m
}

// calibrate sets the slopes to those by which held-out texts are most probable.
func (t *trainer) calibrate(m *profile.Model) {
	const perLanguage, minTexts = 400, 200
	var slopes []float64
	for slope := 0.2; slope < 3; slope += 0.02 {
		slopes = append(slopes, slope)
	}
	var texts [len(m.Slopes)]int
	var losses [len(m.Slopes)][]float64 // of texts, by slope
	for i := range m.Slopes {
		m.Slopes[i], losses[i] = 1, make([]float64, len(slopes))
	}
	m.Prepare()
	for i := range perLanguage * len(t.languages) {
		l := i % len(t.languages)
		s := t.languages[l].script
		vectors, n := m.Sum(t.piece(t.line(l, heldOut)), s)
		if n == 0 {
			continue
		}
		texts[profile.Slope(n)]++
		right := m.Score(&m.Languages[l], &vectors, n)
		for k, slope := range slopes {
			sum := 0.0
			for _, other := range t.byScript[s] {
				sum += math.Exp(slope * (m.Score(&m.Languages[other], &vectors, n) - right))
			}
			losses[profile.Slope(n)][k] += math.Log(sum)
		}
	}
	for i, list := range losses {
		if i > 0 && texts[i] < minTexts {
			m.Slopes[i] = m.Slopes[i-1]
		} else {
			m.Slopes[i] = float32(slopes[slices.Index(list, slices.Min(list))])
		}
	}
}
