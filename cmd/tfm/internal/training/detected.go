package training

import (
	"cmp"
	"fmt"
	"strings"

	"tfm/lang"
	"tfm/model"
	"tfm/text"
	"tfm/text/detect"
)

// detect sets the languages of source and target.
func (d *data) detect() {
	sources, targets := d.Unnamed()
	d.sources, d.targets = sideOf(sources, d.source), sideOf(targets, target)
}

// source returns the source of a pair without >>id<<.
func (d *data) source(p text.Pair) string {
	if !d.Tagged {
		return p.Source
	}
	_, rest, _ := lang.CutCode(p.Source)
	return rest
}

func target(p text.Pair) string { return p.Target }

// sideOf returns the language of a side of pairs.
func sideOf(pairs []text.Pair, sentence func(text.Pair) string) detect.Majority {
	return detect.Default().Majority(func(yield func(string) bool) {
		for _, p := range pairs {
			if !yield(sentence(p)) {
				return
			}
		}
	})
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
		d.targets.Likely = detect.Unknown
	}
	source := cmp.Or(j.SrcLang, ofModel(j.Corpus.Model.SrcLanguages, d.sources.Likely))
	target := cmp.Or(j.TgtLang, ofModel(j.Corpus.Model.TgtLanguages, d.targets.Likely))
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
	for _, tag := range []string{tag, lang.Primary(tag)} {
		if _, err := l.Find("", tag); err == nil || l == "" {
			return tag
		}
	}
	return detect.Unknown
}

// detectedLanguages warns of sides that are not in the languages of the flags.
func (d *data) detectedLanguages() {
	found := func(flag, lang, name string, s detect.Majority) string {
		return fmt.Sprintf("-%s is %s, but the %s look like %s (%d of %d sampled)", flag, lang, name, s.Lang, s.N, s.Of)
	}
	var wrong []string
	if d.sources.Differs(d.srcLang) {
		wrong = append(wrong, found("src-lang", d.srcLang, "sources", d.sources))
	}
	if d.targets.Differs(d.tgtLang) {
		wrong = append(wrong, found("tgt-lang", d.tgtLang, "targets", d.targets))
	}
	is := strings.Join(wrong, ", and ")
	switch {
	case detect.Swapped(d.sources, d.targets, d.srcLang, d.tgtLang):
		d.warn("source and target are swapped: %s: exchange %s", is, flags(d.Train, ""))
	case len(wrong) == 2:
		d.warn("%s: check the files and the languages", is)
	case len(wrong) == 1:
		d.warn("%s: check the file and the language", is)
	}
}
