package detect_test

import (
	"slices"
	"strings"
	"testing"

	"tfm/text/detect"
)

const (
	english = "The dog that we saw yesterday was running across the street."
	german  = "Der Hund, den wir gestern gesehen haben, lief über die Straße."
	// Long: most short sentences are not surely in one of the close languages.
	croatian = "Prosvjednici su jučer zatražili od predsjednika vlade da objasni tko je odgovoran za točnost izvješća, a općina će uskoro raspisati natječaj."
)

func TestCheckDirection(t *testing.T) {
	for name, c := range map[string]struct {
		n              int
		source, target string
		src, tgt       string
		want           string
	}{
		"right":             {60, english, german, "en", "de", ""},
		"swapped":           {600, german, english, "en-US", "de", "found sources that look like de (500 of 500), expected en-US to de"},
		"few":               {49, german, english, "en", "de", ""},
		"Japanese terms":    {60, "東京都庁舎", "东京都厅", "ja", "zh", ""},
		"only the sources":  {60, german, "x86", "en", "de", "found sources that look like de (60 of 60), expected en to de"},
		"only the targets":  {60, "x86", english, "en", "de", "found targets that look like en (60 of 60), expected en to de"},
		"close languages":   {60, croatian, "x86", "bs", "hr", ""},
		"other groups":      {60, "x86", croatian, "hr", "zh", "found targets that look like hr (60 of 60), expected hr to zh"},
		"one side":          {60, english, english, "en", "de", ""},
		"other languages":   {60, german, english, "fr", "en", ""},
		"unknown languages": {60, german, english, "", "", ""},
	} {
		err := detect.CheckDirection(slices.Repeat([]string{c.source}, c.n), slices.Repeat([]string{c.target}, c.n), c.src, c.tgt)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestMajority(t *testing.T) {
	majority := func(sentences ...[]string) detect.Majority {
		return detect.Default().Majority(slices.Values(slices.Concat(sentences...)))
	}
	all := func(n int, s string) []string { return slices.Repeat([]string{s}, n) }
	m := majority(all(60, english), all(40, german), all(10, "12"))
	if m.Lang != "en" || m.N != 60 || m.Of != 110 || m.Likely != detect.Unknown {
		t.Errorf("%+v, want en by 60 of 110, no likely one", m)
	}
	if m := majority(all(55, english), all(56, "12")); m.Lang != detect.Unknown {
		t.Errorf("%+v, want none by half of the sentences", m)
	}
	croatian, german := detect.Majority{Lang: "hr"}, majority(all(60, german))
	if croatian.Differs("bs") || !croatian.Differs("zh") || !croatian.Differs("de") || !german.Differs("en") || german.Differs("de-AT") || german.Differs("tlh") {
		t.Error("Differs is wrong about close, other or unknown languages")
	}
	if croatian.Same(croatian) || !german.Same(german) || german.Same(m) || (detect.Majority{Lang: detect.Unknown}).Same(detect.Majority{Lang: detect.Unknown}) {
		t.Error("Same is wrong about close or unknown languages")
	}
}
