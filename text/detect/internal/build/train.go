package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"tfm/text/detect/internal/profile"
)

// trainer trains a softmax over the languages of a script by stochastic gradient descent with
// steps of AdaGrad (Duchi et al., 2011), one for each weight of a language and one for each vector.
type trainer struct {
	languages []language
	sources   [][]source
	byScript  [profile.Shared][]int // languages

	index []int32  // row of the vector of a hash, or -1
	e     []vector // of n-grams
	w     []vector // of languages
	b     []float32
	ge    []float32 // sums of squares of gradients
	gw    []vector
	gb    []float32

	frozen  bool // the vectors
	warming bool // only the sums of squares change
	knows   bool // the languages: texts in another one are left out
	leftOut int

	random *rand.Rand
	hashes []uint32  // workspace
	v      vector    // of the last text
	p      []float32 // probabilities of the languages of the last text
}

type vector [profile.Dim]float32

func newTrainer(languages []language, sources [][]source) *trainer {
	n := len(languages)
	t := &trainer{
		languages: languages, sources: sources, random: rand.New(rand.NewPCG(1, 2)),
		w: make([]vector, n), b: make([]float32, n), gw: make([]vector, n), gb: make([]float32, n), p: make([]float32, n),
	}
	const deviation, least = 0.3, 1e-3
	for l, lang := range languages {
		for i := range t.w[l] {
			t.w[l][i] = float32(t.random.NormFloat64() * deviation)
			t.gw[l][i] = least
		}
		t.gb[l] = least
		t.byScript[lang.script] = append(t.byScript[lang.script], l)
	}
	return t
}

// draw returns a line of a language, of a source drawn by its weight.
func (t *trainer) draw(l int, heldOut bool) string {
	total := 0.0
	for _, s := range t.sources[l] {
		total += s.weight
	}
	for {
		x := t.random.Float64() * total
		i := 0
		for ; i < len(t.sources[l])-1 && x >= t.sources[l][i].weight; i++ {
			x -= t.sources[l][i].weight
		}
		lines := t.sources[l][i].train
		if heldOut {
			lines = t.sources[l][i].heldOut
		}
		if len(lines) > 0 {
			return lines[t.random.IntN(len(lines))]
		}
	}
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

// hashesOf returns the hashes of the n-grams of a text in a script, until the next call.
func (t *trainer) hashesOf(text string, s profile.Script) []uint32 {
	t.hashes = t.hashes[:0]
	words := profile.NewWords(text, s)
	for found := words.Next(); found != nil; found = words.Next() {
		t.hashes = append(t.hashes, found...)
	}
	return t.hashes
}

// rowsOf returns the rows of the n-grams of a text that have vectors, until the next call.
func (t *trainer) rowsOf(text string, s profile.Script) []uint32 {
	rows := t.hashesOf(text, s)[:0]
	for _, h := range t.hashes {
		if row := t.index[h]; row >= 0 {
			rows = append(rows, uint32(row))
		}
	}
	return rows
}

// count returns the numbers of the hashes in n pieces of all languages.
func (t *trainer) count(n int) []uint32 {
	counts := make([]uint32, 1<<profile.HashBits)
	for i := range n {
		l := i % len(t.languages)
		for _, h := range t.hashesOf(t.piece(t.draw(l, false)), t.languages[l].script) {
			counts[h]++
		}
	}
	return counts
}

// selectFrequent gives vectors to the n-grams with a count of least or more.
func (t *trainer) selectFrequent(counts []uint32, least uint32) {
	t.index = make([]int32, len(counts))
	for h, n := range counts {
		t.index[h] = -1
		if n >= least {
			t.index[h] = int32(len(t.e))
			t.e = append(t.e, vector{})
			t.ge = append(t.ge, 1e-5)
		}
	}
}

// selectImportant keeps the n most important n-grams: those with the largest product of their count
// and the square of the norm of their vector.
func (t *trainer) selectImportant(counts []uint32, n int) {
	type gram struct {
		hash       int
		importance float64
	}
	var all []gram
	for h, row := range t.index {
		if row < 0 {
			continue
		}
		sum := 0.0
		for _, x := range t.e[row] {
			sum += float64(x) * float64(x)
		}
		all = append(all, gram{h, sum * float64(counts[h])})
	}
	slices.SortFunc(all, func(a, b gram) int {
		return cmp.Or(cmp.Compare(b.importance, a.importance), cmp.Compare(a.hash, b.hash))
	})
	index := slices.Repeat([]int32{-1}, len(t.index))
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b gram) int { return cmp.Compare(a.hash, b.hash) })
	e, ge := make([]vector, len(all)), make([]float32, len(all))
	for i, g := range all {
		row := t.index[g.hash]
		index[g.hash], e[i], ge[i] = int32(i), t.e[row], 0.1*t.ge[row]
	}
	t.index, t.e, t.ge = index, e, ge
}

// load sets the weights to those of a model, with vectors of a deviation of about that which they
// have in training.
func (t *trainer) load(m *profile.Model) error {
	if len(m.Languages) != len(t.languages) {
		return fmt.Errorf("found %d languages, expected %d", len(m.Languages), len(t.languages))
	}
	const scale, least = 0.15, 1e-3
	t.index = slices.Repeat([]int32{-1}, 1<<profile.HashBits)
	for i, h := range m.Grams {
		t.index[h] = int32(i)
		e := vector{}
		for j, x := range m.Vectors[i] {
			e[j] = float32(x) * scale
		}
		t.e, t.ge = append(t.e, e), append(t.ge, least)
	}
	for l, lang := range m.Languages {
		if lang.Tag != t.languages[l].tag {
			return fmt.Errorf("found %s, expected %s", lang.Tag, t.languages[l].tag)
		}
		for i, w := range lang.Weights {
			t.w[l][i] = float32(float64(w) * profile.WeightUnit / scale)
		}
		t.b[l] = float32(float64(lang.Bias) * profile.BiasUnit)
	}
	return nil
}

// sample is a text of a language, as rows.
type sample struct {
	rows     []uint32
	language int
}

// train trains with samples of all languages, which a goroutine draws. The rate falls to 1 % of
// its begin.
func (t *trainer) train(samples int, rate float64) {
	batches := make(chan []sample, 8)
	go func() {
		defer close(batches)
		for n := 0; n < samples; {
			batch := make([]sample, 1<<10)
			var rows []uint32
			for i := range batch {
				l := t.random.IntN(len(t.languages))
				at := len(rows)
				rows = append(rows, t.rowsOf(t.piece(t.draw(l, false)), t.languages[l].script)...)
				batch[i] = sample{rows[at:], l}
			}
			n += len(batch)
			batches <- batch
		}
	}()
	done := 0
	for batch := range batches {
		for _, x := range batch {
			t.step(x, float32(rate*(1.01-float64(done)/float64(samples))))
		}
		done += len(batch)
	}
}

// forward sets v to the vector of a text and p to the probabilities of the languages of its script.
func (t *trainer) forward(rows []uint32, s profile.Script) (scale float32) {
	v := vector{}
	for _, row := range rows {
		e := &t.e[row]
		for i := range v {
			v[i] += e[i]
		}
	}
	scale = float32(1 / math.Sqrt(float64(max(1, len(rows)))))
	for i := range v {
		v[i] *= scale
	}
	t.v = v
	most := float32(math.Inf(-1))
	for _, l := range t.byScript[s] {
		w, z := &t.w[l], t.b[l]
		for i := range w {
			z += float32(w[i] * v[i])
		}
		t.p[l] = z
		most = max(most, z)
	}
	sum := float32(0)
	for _, l := range t.byScript[s] {
		t.p[l] = float32(math.Exp(float64(t.p[l] - most)))
		sum += t.p[l]
	}
	for _, l := range t.byScript[s] {
		t.p[l] /= sum
	}
	return scale
}

// step updates the weights for a sample. The loss is the cross-entropy: with p the probabilities
// and y the language, dz = p - y, dw = dz·v, dv = w·dz, de = scale·dv for each n-gram.
func (t *trainer) step(x sample, rate float32) {
	if len(x.rows) == 0 {
		return
	}
	s := t.languages[x.language].script
	scale := t.forward(x.rows, s)
	const long, improbable = 40, 0.01
	if t.knows && len(x.rows) > long && t.p[x.language] < improbable {
		t.leftOut++
		return
	}
	dv, v := vector{}, t.v
	for _, l := range t.byScript[s] {
		dz := t.p[l]
		if l == x.language {
			dz--
		}
		if dz < 1e-4 && dz > -1e-4 {
			continue
		}
		w, gw := &t.w[l], &t.gw[l]
		for i := range w {
			dv[i] += float32(dz * w[i])
			dw := dz * v[i]
			gw[i] += float32(dw * dw)
			if t.warming {
				continue
			}
			w[i] -= float32(rate * dw / float32(math.Sqrt(float64(gw[i]))))
		}
		t.gb[l] += float32(dz * dz)
		if t.warming {
			continue
		}
		t.b[l] -= float32(rate * dz / float32(math.Sqrt(float64(t.gb[l]))))
	}
	if t.frozen {
		return
	}
	square := float32(0)
	for i := range dv {
		dv[i] *= scale
		square += float32(dv[i] * dv[i])
	}
	for _, row := range x.rows {
		t.ge[row] += square / profile.Dim
		if t.warming {
			continue
		}
		r := rate / float32(math.Sqrt(float64(t.ge[row])))
		e := &t.e[row]
		for i := range e {
			e[i] -= float32(r * dv[i])
		}
	}
}
