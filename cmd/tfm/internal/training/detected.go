package training

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
	"tfm/text/detect"
)

// side is the language of a side of pairs.
type side struct {
	lang   string // of most sampled sentences, each surely, or detect.Unknown
	likely string // of most sentences by the sum of the confidences, or detect.Unknown
	n, of  int    // sentences that are surely in the most frequent language, sampled
}

// Limits of a side with a language.
const (
	minConfidence = 0.9  // of a sentence that is surely in a language
	minSentences  = 50   // with a language
	minMajority   = 0.5  // of the sampled sentences
	minLikely     = 0.75 // of the sum: short and technical sentences resemble others
	minMean       = 0.45 // of the confidences: one sentence again and again may be another language
)

// detect sets the languages of source and target.
func (d *data) detect() {
	sources, targets := d.Unnamed()
	source := func(p text.Pair) string { return p.Source }
	if d.Tagged {
		source = func(p text.Pair) string { _, rest, _ := model.CutLanguage(p.Source); return rest }
	}
	d.sources, d.targets = newSide(sources, source), newSide(targets, func(p text.Pair) string { return p.Target })
}

// newSide returns the language of a side of pairs.
func newSide(pairs []text.Pair, sentence func(text.Pair) string) side {
	s := side{of: len(pairs), likely: detect.Unknown}
	count, confidences := map[string]int{}, map[string]float64{}
	n, sum := 0, 0.0
	for _, p := range pairs {
		lang, confidence := detect.Default().Detect(sentence(p))
		if lang == detect.Unknown {
			continue
		}
		n++
		sum += confidence
		if confidences[lang] += confidence; confidences[lang] > confidences[s.likely] {
			s.likely = lang
		}
		if confidence < minConfidence {
			continue
		}
		if count[lang]++; count[lang] > s.n {
			s.lang, s.n = lang, count[lang]
		}
	}
	if s.n < minSentences || share(s.n, s.of) < minMajority {
		s.lang = detect.Unknown
	}
	if n < minSentences || confidences[s.likely] < max(minLikely*sum, minMean*float64(n)) {
		s.likely = detect.Unknown
	}
	return s
}

// detectLanguages sets the languages that are not named, if both sides have one and they differ, or
// each that has one if a model of several needs it. The target of tagged pairs is not one language.
func (j *Job) detectLanguages() {
	several, tagged := j.Corpus.Model.HasLanguages(), j.Corpus.Tagged
	if tagged && !several || j.SrcLang != "" && (j.TgtLang != "" || tagged) {
		return
	}
	d := data{Survey: j.Survey}
	d.detect()
	if tagged {
		d.targets.likely = detect.Unknown
	}
	source := cmp.Or(j.SrcLang, ofModel(j.Corpus.Model.SrcLanguages, d.sources.likely))
	target := cmp.Or(j.TgtLang, ofModel(j.Corpus.Model.TgtLanguages, d.targets.likely))
	if source == target || !several && (source == detect.Unknown || target == detect.Unknown) {
		return
	}
	for _, side := range []struct {
		lang     *string
		detected string
	}{{&j.SrcLang, source}, {&j.TgtLang, target}} {
		if *side.lang == "" && side.detected != detect.Unknown {
			*side.lang, j.detected = side.detected, true
		}
	}
}

// ofModel returns the tag of a language of a model with that of the tag, also without its script or
// region, or detect.Unknown. A model without tokens of languages can have any.
func ofModel(l model.Languages, tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	for _, tag := range []string{tag, base} {
		if _, err := l.Find("", tag); err == nil || l == "" {
			return tag
		}
	}
	return detect.Unknown
}

// closeLanguages are languages that sentences without their few differences do not tell apart.
var closeLanguages = []string{"bs", "hr", "sr-Latn", "id", "ms", "da", "nb", "nn", "zh", "zh-Hant", "xh", "zu"}

// differs reports whether a side is in another language than tag. Close languages do not differ.
func (s side) differs(tag string) bool {
	want := detect.Default().Find(tag)
	return want != "" && s.lang != detect.Unknown && want != s.lang &&
		!(slices.Contains(closeLanguages, want) && slices.Contains(closeLanguages, s.lang))
}

// isOneLanguage reports whether source and target are in one language.
func (d *data) isOneLanguage() bool {
	return d.sources.lang == d.targets.lang && d.sources.lang != detect.Unknown && !slices.Contains(closeLanguages, d.sources.lang)
}

// detectedLanguages warns of sides that are not in the languages of the flags.
func (d *data) detectedLanguages() {
	found := func(flag, lang, name string, s side) string {
		return fmt.Sprintf("-%s is %s, but the %s look like %s (%d of %d sampled)", flag, lang, name, s.lang, s.n, s.of)
	}
	wrongSource, wrongTarget := d.sources.differs(d.srcLang), d.targets.differs(d.tgtLang)
	source, target := found("src-lang", d.srcLang, "sources", d.sources), found("tgt-lang", d.tgtLang, "targets", d.targets)
	switch {
	case wrongSource && wrongTarget && !d.sources.differs(d.tgtLang) && !d.targets.differs(d.srcLang):
		d.warn("source and target are swapped: %s, and %s: exchange %s", source, target, flags(d.Train, ""))
	case wrongSource && wrongTarget:
		d.warn("%s, and %s: check the files and the languages", source, target)
	case wrongSource:
		d.warn("%s: check the file and the language", source)
	case wrongTarget:
		d.warn("%s: check the file and the language", target)
	}
}
