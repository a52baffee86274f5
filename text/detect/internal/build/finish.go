package main

import (
	"fmt"
	"math"
	"strings"

	"tfm/text/detect/internal/profile"
)

// round makes the vectors integers, in steps of their standard deviations, and returns a model with
// them. It drops n-grams whose vectors are nearly zero.
func (t *trainer) round(steps float64) *profile.Model {
	for i := range profile.Dim {
		sum := 0.0
		for _, e := range t.e {
			sum += float64(e[i]) * float64(e[i])
		}
		step := float32(math.Sqrt(sum/float64(len(t.e))) * steps)
		for row := range t.e {
			t.e[row][i] = float32(max(-127, min(127, math.Round(float64(t.e[row][i]/step)))))
		}
		for l := range t.languages {
			t.w[l][i] *= step
			t.gw[l][i] /= step * step
		}
	}
	m := &profile.Model{}
	const minSquare = 3
	for h, row := range t.index {
		if row < 0 {
			continue
		}
		var v [profile.Dim]int8
		square := 0
		for i, x := range t.e[row] {
			v[i] = int8(x)
			square += int(x) * int(x)
		}
		if square < minSquare {
			t.index[h] = -1
			continue
		}
		m.Grams, m.Vectors = append(m.Grams, uint32(h)), append(m.Vectors, v)
	}
	return m
}

// finish adds the languages and the slopes to a model.
func (t *trainer) finish(m *profile.Model) {
	integer := func(x float32, unit float64) int16 {
		return int16(max(math.MinInt16, min(math.MaxInt16, math.Round(float64(x)/unit))))
	}
	for l, lang := range t.languages {
		p := profile.Language{Tag: lang.tag, Script: lang.script, Bias: integer(t.b[l], profile.BiasUnit)}
		for i := range p.Weights {
			p.Weights[i] = integer(t.w[l][i], profile.WeightUnit)
		}
		m.Languages = append(m.Languages, p)
	}
	t.calibrate(m)
}

// calibrate sets the slopes to those by which held-out texts are most probable.
func (t *trainer) calibrate(m *profile.Model) {
	type text struct {
		scores []float64
		right  int
	}
	var texts [len(m.Slopes)][]text
	for i := range m.Slopes {
		m.Slopes[i] = 1
	}
	m.Prepare()
	const perLanguage = 400
	for i := range perLanguage * len(t.languages) {
		l := i % len(t.languages)
		s := t.languages[l].script
		sum, n := m.Sum(t.piece(t.draw(l, true)), s)
		if n == 0 {
			continue
		}
		var x text
		for _, k := range t.byScript[s] {
			if k == l {
				x.right = len(x.scores)
			}
			x.scores = append(x.scores, m.Score(&m.Languages[k], &sum, n))
		}
		texts[profile.Slope(n)] = append(texts[profile.Slope(n)], x)
	}
	const minTexts = 200
	for i, list := range texts {
		if len(list) < minTexts && i > 0 {
			m.Slopes[i] = m.Slopes[i-1]
			continue
		}
		least := math.Inf(1)
		for slope := 0.2; slope < 3; slope += 0.02 {
			loss := 0.0
			for _, x := range list {
				sum := 0.0
				for _, z := range x.scores {
					sum += math.Exp(slope * (z - x.scores[x.right]))
				}
				loss += math.Log(sum)
			}
			if loss < least {
				least, m.Slopes[i] = loss, float32(slope)
			}
		}
	}
}

// accuracy returns the shares of held-out lines, their first 20 characters and their middle words
// whose language is found among those of their script.
func (t *trainer) accuracy() string {
	const perLanguage = 200
	var right [3]int
	for l, lang := range t.languages {
		for range perLanguage {
			line := t.draw(l, true)
			words := strings.Fields(line)
			for i, text := range []string{line, prefix(line, 20), words[len(words)/2]} {
				t.forward(t.rowsOf(text, lang.script), lang.script)
				best := l
				for _, k := range t.byScript[lang.script] {
					if t.p[k] > t.p[best] {
						best = k
					}
				}
				if best == l {
					right[i]++
				}
			}
		}
	}
	share := func(i int) float64 { return 100 * float64(right[i]) / float64(perLanguage*len(t.languages)) }
	return fmt.Sprintf("%.2f%% of lines, %.2f%% of 20 characters, %.2f%% of words", share(0), share(1), share(2))
}
