package main

import (
	"fmt"
	"math"
	"os"

	"tfm/text/detect/profile"
)

// round makes the vectors integers, in steps of their standard deviations, trains the weights of
// the languages again, and returns the model. It drops n-grams whose vectors are nearly zero.
func (t *trainer) round(samples int, rate float64) *profile.Model {
	const steps, minSquare = 0.63, 3
	for i := range profile.Dim {
		sum, n := 0.0, 0
		for _, row := range t.index {
			if row >= 0 {
				x := float64(t.vectors[row].vector[i])
				sum += x * x
				n++
			}
		}
		step := float32(math.Sqrt(sum/float64(n)) * steps)
		for row := range t.vectors {
			x := &t.vectors[row].vector[i]
			*x = float32(max(-127, min(127, math.Round(float64(*x/step)))))
		}
		for l := range t.weights {
			t.weights[l].w[i] *= step
			t.weights[l].squares[i] /= step * step
		}
	}
	m := &profile.Model{}
	for h, row := range t.index {
		if row < 0 {
			continue
		}
		var v [profile.Dim]int8
		square := 0
		for i, x := range t.vectors[row].vector {
			v[i] = int8(x)
			square += int(x) * int(x)
		}
		if square < minSquare {
			t.index[h] = -1
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
		p := profile.Language{Tag: lang.tag, Script: lang.script, Bias: integer(t.weights[l].bias, profile.BiasUnit)}
		for i, w := range t.weights[l].w {
			p.Weights[i] = integer(w, profile.WeightUnit)
		}
		m.Languages = append(m.Languages, p)
	}
	return m
}

// calibrate sets the slopes to those by which held-out texts are most probable.
func (t *trainer) calibrate(m *profile.Model) {
	const perLanguage, minTexts = 400, 200
	var texts [len(m.Slopes)][][]float64 // of each the scores of the languages, less that of its own
	for i := range m.Slopes {
		m.Slopes[i] = 1
	}
	m.Prepare()
	for i := range perLanguage * len(t.languages) {
		l := i % len(t.languages)
		s := t.languages[l].script
		sum, n := m.Sum(t.piece(t.line(l, true)), s)
		if n == 0 {
			continue
		}
		var scores []float64
		right := m.Score(&m.Languages[l], &sum, n)
		for _, k := range t.byScript[s] {
			scores = append(scores, m.Score(&m.Languages[k], &sum, n)-right)
		}
		texts[profile.Slope(n)] = append(texts[profile.Slope(n)], scores)
	}
	for i, list := range texts {
		if len(list) < minTexts && i > 0 {
			m.Slopes[i] = m.Slopes[i-1]
			continue
		}
		least := math.Inf(1)
		for slope := 0.2; slope < 3; slope += 0.02 {
			loss := 0.0
			for _, scores := range list {
				sum := 0.0
				for _, z := range scores {
					sum += math.Exp(slope * z)
				}
				loss += math.Log(sum)
			}
			if loss < least {
				least, m.Slopes[i] = loss, float32(slope)
			}
		}
	}
}

// report prints the share of held-out lines whose language is found among those of their script.
func (t *trainer) report() {
	const perLanguage = 200
	right := 0
	for l, lang := range t.languages {
		for range perLanguage {
			t.forward(t.rowsOf(t.line(l, true), lang.script), lang.script)
			best := l
			for _, k := range t.byScript[lang.script] {
				if t.p[k] > t.p[best] {
					best = k
				}
			}
			if best == l {
				right++
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%.2f%% of held-out lines\n", 100*float64(right)/float64(perLanguage*len(t.languages)))
}
