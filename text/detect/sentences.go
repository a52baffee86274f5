package detect

import (
	"tfm/text"
	"tfm/text/split"
)

// Sentence is a sentence of a text and its most probable language, or Unknown and 0.
type Sentence struct {
	text.Range
	Candidate
}

// Sentences splits a text of several languages into sentences and detects the language of each. A
// language is the more probable for a sentence, the more of the text is in it: the probabilities
// of each sentence are multiplied with those of all sentences together (Bayes), and with a small
// constant for languages that the rest of the text does not have.
func (d *Detector) Sentences(s string) []Sentence {
	const elsewhere = 0.02
	ranges := split.Sentences(s, split.Options{})
	all := make([][]Candidate, len(ranges))
	total := 0.0
	shares := map[string]float64{}
	for i, r := range ranges {
		all[i] = d.rank(nil, s[r.Start:r.End])
		for _, c := range all[i] {
			weight := float64(c.Confidence * float64(r.End-r.Start))
			shares[c.Lang] += weight
			total += weight
		}
	}
	sentences := make([]Sentence, len(ranges))
	for i, r := range ranges {
		sum := 0.0
		best := Candidate{Lang: Unknown}
		for _, c := range all[i] {
			c.Confidence = float64(c.Confidence * (elsewhere + shares[c.Lang]/total))
			sum += c.Confidence
			if c.Confidence > best.Confidence {
				best = c
			}
		}
		if sum > 0 {
			best.Confidence /= sum
		}
		sentences[i] = Sentence{r, best}
	}
	return sentences
}
