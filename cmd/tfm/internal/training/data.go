package training

import (
	"cmp"
	"fmt"

	"tfm/internal/format"
	"tfm/lang"
	"tfm/text/detect"
	"tfm/text/script"
	"tfm/train/corpus"
)

// The limits of the warnings lie between the values of data without faults and those of the same
// data with the fault. The former are captions, short sentences, news and technical text of English
// with German, French, Czech, Russian, Chinese or Japanese.
const (
	// Share of pairs whose target equals the source: up to 0.002, names and headings.
	maxIdentical = 0.1
	// Share of the pairs in blocks whose lengths do not correlate: 0.
	maxUnaligned = 0.05
	// Share of the pairs with a ratio of lengths far from the usual one: up to 0.0023.
	maxFarOff = 0.02
	// Usual ratio of lengths, or its inverse: up to 1.2 between alphabets. Characters of
	// Chinese and Japanese (0.28 to 0.44 of those of an alphabet) and of Korean count
	// 1/dense times.
	maxRatio, dense = 2.5, 0.35
	// Share of the pairs that repeat another one: up to 0.004.
	maxRepeated = 0.1
	// Share of the validation pairs that are training pairs, and of those whose source is a
	// training source: up to 0.001.
	maxOverlap, maxSourceOverlap = 0.01, 0.1
	// Training pairs that a model does not learn by heart, and those of a useful translator.
	minPairs, usefulPairs = 1000, 10_000
)

// printDataWarnings prints the probable faults of the data.
func (j *Job) printDataWarnings(c *corpus.Corpus) {
	d := data{Survey: j.Survey, read: c, srcLang: j.SrcLang, tgtLang: j.TgtLang, fineTuning: j.Options.Init != ""}
	for _, warning := range d.warnings() {
		j.warn(warning)
	}
}

// data is the subject of the warnings. Each of its methods without a result adds at most one
// warning.
type data struct {
	*corpus.Survey
	read             *corpus.Corpus
	srcLang, tgtLang string
	fineTuning       bool
	sources, targets detect.Majority
	found            []string
}

func (d *data) warn(text string, args ...any) { d.found = append(d.found, fmt.Sprintf(text, args...)) }

// warnings returns the warnings, the most serious first.
func (d data) warnings() []string {
	d.detect()
	d.detectedLanguages()
	d.mixLanguages()
	d.sameLanguage()
	d.swapped()
	d.unaligned("training", d.Options.Train, d.LinePairing, d.Pairs)
	if v := d.Validation; v != nil {
		d.unaligned("validation", d.Valid, v.LinePairing, v.Pairs)
	}
	d.lengths()
	d.repeated()
	d.overlap()
	d.tiny()
	return d.found
}

// flags names the flags of the files of both sides, -src and -tgt, or those of the validation.
func flags(t *corpus.Text, prefix string) string {
	if mix, _ := t.Mix(); mix != nil {
		return "its sources"
	}
	if len(t.Paths()) == 1 {
		return "the columns of -" + prefix + "tsv"
	}
	return fmt.Sprintf("-%ssrc and -%[1]stgt", prefix)
}

// mixLanguages warns of a dataset in other languages than a model of one pair that is trained
// further.
func (d *data) mixLanguages() {
	mix, _ := d.Train.Mix()
	if mix == nil || !d.fineTuning || d.Model.HasLanguages() {
		return
	}
	for _, s := range mix.Datasets {
		switch {
		case lang.Differ(s.SrcLang, d.srcLang):
			d.warn("the dataset %s has sources in %s, and the model in %s: check src-lang", s.Name, s.SrcLang, d.srcLang)
			return
		case !d.Tagged && lang.Differ(s.TgtLang, d.tgtLang):
			d.warn("the dataset %s has targets in %s, and the model in %s: check tgt-lang", s.Name, s.TgtLang, d.tgtLang)
			return
		}
	}
}

// sameLanguage warns of two sides in one language.
func (d *data) sameLanguage() {
	switch {
	case share(d.Identical, d.Pairs) > maxIdentical:
		d.warn("source and target are the same in %s of %s training pairs, so that the model learns to copy: check %s",
			format.Thousands(d.Identical), format.Thousands(d.Pairs), flags(d.Train, ""))
	case d.sources.Same(d.targets):
		d.warn("source and target look like one language, %s: check %s", d.sources.Lang, flags(d.Train, ""))
	}
}

// swapped warns of validation files whose sides are in the languages of the other training sides.
func (d *data) swapped() {
	v := d.Validation
	if v == nil {
		return
	}
	sources, targets := sideOf(v.Sample, d.source), sideOf(v.Sample, target)
	if detect.Swapped(sources, targets, cmp.Or(d.srcLang, d.sources.Lang), cmp.Or(d.tgtLang, d.targets.Lang)) {
		d.warn("the validation sources look like %s, and the validation targets like %s: exchange %s", sources.Lang, targets.Lang, flags(d.Valid, "valid-"))
	}
}

// unaligned warns of lines that do not belong together.
func (d *data) unaligned(pairs string, t *corpus.Text, a corpus.LinePairing, n int) {
	if share(a.Unaligned, n) <= maxUnaligned {
		return
	}
	found := fmt.Sprintf("from %s or a little later, lines do not belong together: the lengths of %s of %s %s pairs are unrelated",
		t.Place(a.FirstUnaligned), format.Thousands(a.Unaligned), format.Thousands(n), pairs)
	switch {
	case a.Shift > 0:
		d.warn("%s, but fit if the targets move up by a line: find the extra target or the missing source", found)
	case a.Shift < 0:
		d.warn("%s, but fit if the sources move up by a line: find the extra source or the missing target", found)
	default:
		d.warn("%s; line n of the target must be the translation of line n of the source: check %s", found, t.Name)
	}
}

// lengths warns of one side that is much longer than the other, in most pairs or in many.
func (d *data) lengths() {
	density := func(s *corpus.Side) float64 {
		if s.Share(script.Han, script.Kana, script.Hangul) > 0.5 {
			return dense
		}
		return 1
	}
	ratio := d.LengthRatio / density(&d.Target) * density(&d.Source)
	switch {
	case ratio > maxRatio, ratio < 1/maxRatio && ratio > 0:
		d.warn("the targets have %.2f times the characters of the sources: check that line n of both has the same sentences", d.LengthRatio)
	case share(d.LinePairing.Unaligned, d.Pairs) > maxUnaligned: // explains the lengths
	case share(d.FarOff, d.LongPairs) > maxFarOff:
		d.warn("in %s of %s training pairs (%.0f%%) one side is more than 3 times as long as usual: "+
			"leave out pairs whose target does not have %.2f to %.2f times the characters of the source",
			format.Thousands(d.FarOff), format.Thousands(d.Pairs), 100*share(d.FarOff, d.Pairs), d.LengthRatio/3, d.LengthRatio*3)
	}
}

// repeated warns of many repetitions.
func (d *data) repeated() {
	if d.Repeated() > maxRepeated {
		d.warn("%.0f%% of the training pairs repeat another pair: 'tfm clean' keeps one of each", 100*d.Repeated())
	}
}

// overlap warns of validation pairs in the training pairs.
func (d *data) overlap() {
	const tooGood = ", so that the validation scores are too good"
	n, h, v := d.read.ValidPairs, d.read.HeldOut, d.Validation
	switch {
	case h != nil && h.Repeated > 0:
		d.warn("%s of %s held-out pairs are also training pairs%s: 'tfm clean' keeps one of each", format.Thousands(h.Repeated), format.Thousands(n), tooGood)
	case h != nil && h.Near > 0:
		d.warn("%s of %s held-out pairs have the source or the target of a training pair, up to case, digits and punctuation, "+
			"as most pairs do%s", format.Thousands(h.Near), format.Thousands(n), tooGood)
	case v != nil && share(v.Overlap.Pairs, n) > maxOverlap:
		d.warn("%s of %s validation pairs are also training pairs%s: leave them out of the training", format.Thousands(v.Overlap.Pairs), format.Thousands(n), tooGood)
	case v != nil && share(v.Overlap.Sources, n) > maxSourceOverlap:
		d.warn("the sources of %s of %s validation pairs are also training sources, with other translations%s",
			format.Thousands(v.Overlap.Sources), format.Thousands(n), tooGood)
	}
}

// tiny warns of a corpus too small to learn from.
func (d *data) tiny() {
	if d.read.TrainPairs < minPairs && !d.fineTuning {
		d.warn("a model learns %s training pairs by heart instead of learning to translate; a useful translator needs %s or more",
			format.Thousands(d.read.TrainPairs), format.Thousands(usefulPairs))
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
