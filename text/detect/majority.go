package detect

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"tfm/text"
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

// closeLanguages are languages that sentences without their few differences do not tell apart.
var closeLanguages = []string{"bs", "hr", "sr-Latn", "id", "ms", "da", "nb", "nn", "zh", "zh-Hant", "xh", "zu"}

// Differs reports whether the sentences are surely in another language than tag, one of Default.
// Close languages do not differ.
func (m Majority) Differs(tag string) bool {
	want := Default().Find(tag)
	return want != "" && m.Lang != Unknown && want != m.Lang && !(m.isClose() && slices.Contains(closeLanguages, want))
}

// Same reports whether both are surely in one language, which is not close to others.
func (m Majority) Same(other Majority) bool {
	return m.Lang == other.Lang && m.Lang != Unknown && !m.isClose()
}

func (m Majority) isClose() bool { return slices.Contains(closeLanguages, m.Lang) }

// is reports whether the sentences are surely in a language or a close one.
func (m Majority) is(tag string) bool {
	return m.Lang != Unknown && Default().Find(tag) != "" && !m.Differs(tag)
}

// Swapped reports whether pairs of the languages src and tgt surely have their sides exchanged.
func Swapped(sources, targets Majority, src, tgt string) bool {
	return sources.Differs(src) && targets.Differs(tgt) && !sources.Differs(tgt) && !targets.Differs(src)
}

// CheckDirection returns an error if, of the first 500 pairs, a side is surely in the other one's
// language of src and tgt, and the other side not. Japanese in Chinese characters alone looks like
// Chinese, so that pairs of these are not judged.
func CheckDirection(pairs []text.Pair, src, tgt string) error {
	pairs = pairs[:min(len(pairs), 500)]
	var sources, targets []string
	for _, p := range pairs {
		sources, targets = append(sources, p.Source), append(targets, p.Target)
	}
	isHan := func(tag string) bool { return strings.HasPrefix(tag, "zh") || strings.HasPrefix(tag, "ja") }
	s, t := Default().Majority(slices.Values(sources)), Default().Majority(slices.Values(targets))
	switch {
	case isHan(src) && isHan(tgt):
	case s.is(tgt) && s.Differs(src) && !t.is(tgt):
		return fmt.Errorf("found sources that look like %s (%d of %d), expected %s to %s", s.Lang, s.N, s.Of, src, tgt)
	case t.is(src) && t.Differs(tgt) && !s.is(src):
		return fmt.Errorf("found targets that look like %s (%d of %d), expected %s to %s", t.Lang, t.N, t.Of, src, tgt)
	}
	return nil
}
