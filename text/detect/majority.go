package detect

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"tfm/lang"
)

// Majority is the language of most of a number of sentences.
type Majority struct {
	Lang   string // that most are surely in, or Unknown
	Likely string // by the sum of the confidences, or Unknown
	N, Of  int    // sentences that are surely in the most frequent language, all
}

// Limits of sentences with a language.
const (
	minConfidence = 0.9  // of a sentence that is surely in a language
	minSentences  = 50   // with a language
	minMajority   = 0.5  // of all sentences
	minLikely     = 0.75 // of the sum: short and technical sentences resemble others
	minMean       = 0.45 // of the confidences: one sentence again and again may be another language
)

// Majority returns the language of most sentences. Fewer than 50 with a language have none.
func (d *Detector) Majority(sentences iter.Seq[string]) Majority {
	m := Majority{Lang: Unknown, Likely: Unknown}
	count, confidences := map[string]int{}, map[string]float64{}
	n, sum := 0, 0.0
	for s := range sentences {
		m.Of++
		lang, confidence := d.Detect(s)
		if lang == Unknown {
			continue
		}
		n++
		sum += confidence
		if confidences[lang] += confidence; confidences[lang] > confidences[m.Likely] {
			m.Likely = lang
		}
		if confidence < minConfidence {
			continue
		}
		if count[lang]++; count[lang] > m.N {
			m.Lang, m.N = lang, count[lang]
		}
	}
	if m.N < minSentences || float64(m.N) < minMajority*float64(m.Of) {
		m.Lang = Unknown
	}
	if n < minSentences || confidences[m.Likely] < max(minLikely*sum, minMean*float64(n)) {
		m.Likely = Unknown
	}
	return m
}

// Differs reports whether the sentences are surely in another language than tag, one of Default.
// Close languages do not differ.
func (m Majority) Differs(tag string) bool {
	want := Default().Find(tag)
	return want != "" && m.Lang != Unknown && !slices.Contains(lang.Close(m.Lang), want)
}

// Same reports whether both are surely in one language, which is not close to others.
func (m Majority) Same(other Majority) bool {
	return m.Lang == other.Lang && m.Lang != Unknown && len(lang.Close(m.Lang)) == 1
}

// is reports whether the sentences are surely in a language or a close one.
func (m Majority) is(tag string) bool {
	return m.Lang != Unknown && Default().Find(tag) != "" && !m.Differs(tag)
}

// Swapped reports whether, of pairs in the languages src and tgt, a side is surely in the other
// one's language, and the other side not. Japanese in Chinese characters alone looks like Chinese,
// so that pairs of these are not judged.
func Swapped(sources, targets Majority, src, tgt string) bool {
	isHan := func(tag string) bool { return strings.HasPrefix(tag, "zh") || strings.HasPrefix(tag, "ja") }
	return !(isHan(src) && isHan(tgt)) &&
		(sources.Differs(src) && sources.is(tgt) && !targets.is(tgt) || targets.Differs(tgt) && targets.is(src) && !sources.is(src))
}

// DirectionSample is the number of pairs that CheckDirection looks at.
const DirectionSample = 500

// CheckDirection returns an error if the first pairs are Swapped.
func CheckDirection(sources, targets []string, src, tgt string) error {
	majority := func(side []string) Majority {
		return Default().Majority(slices.Values(side[:min(len(side), DirectionSample)]))
	}
	s, t := majority(sources), majority(targets)
	switch {
	case !Swapped(s, t, src, tgt):
		return nil
	case s.Differs(src):
		return fmt.Errorf("found sources that look like %s (%d of %d), expected %s to %s", s.Lang, s.N, s.Of, src, tgt)
	}
	return fmt.Errorf("found targets that look like %s (%d of %d), expected %s to %s", t.Lang, t.N, t.Of, src, tgt)
}
