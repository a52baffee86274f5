package detect_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"tfm/text"
	"tfm/text/detect"
)

// repeated returns n pairs, then err.
func repeated(n int, source, target string, err error) iter.Seq2[text.Pair, error] {
	return func(yield func(text.Pair, error) bool) {
		for range n {
			if !yield(text.Pair{Source: source, Target: target}, nil) {
				return
			}
		}
		if err != nil {
			yield(text.Pair{}, err)
		}
	}
}

const (
	english = "The dog that we saw yesterday was running across the street."
	german  = "Der Hund, den wir gestern gesehen haben, lief über die Straße."
)

func TestCheckDirection(t *testing.T) {
	for name, c := range map[string]struct {
		pairs    iter.Seq2[text.Pair, error]
		src, tgt string
		want     string
	}{
		"right":             {repeated(60, english, german, nil), "en", "de", ""},
		"swapped":           {repeated(600, german, english, errors.New("not read")), "en-US", "de", "found sources that look like de (500 of 500), expected en-US to de"},
		"few":               {repeated(49, german, english, nil), "en", "de", ""},
		"until an error":    {repeated(60, german, english, errors.New("broken")), "en", "de", "(60 of 60)"},
		"only the sources":  {repeated(60, german, "x86", nil), "en", "de", "found sources that look like de (60 of 60), expected en to de"},
		"only the targets":  {repeated(60, "x86", english, nil), "en", "de", "found targets that look like en (60 of 60), expected en to de"},
		"close languages":   {repeated(60, "Danas je lijep dan i idemo u grad kupiti svježi kruh i mlijeko.", "x86", nil), "bs", "hr", ""},
		"one side":          {repeated(60, english, english, nil), "en", "de", ""},
		"other languages":   {repeated(60, german, english, nil), "fr", "en", ""},
		"unknown languages": {repeated(60, german, english, nil), "", "", ""},
	} {
		err := detect.CheckDirection(c.pairs, c.src, c.tgt)
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
	if croatian.Differs("bs") || !croatian.Differs("de") || !german.Differs("en") || german.Differs("de-AT") || german.Differs("tlh") {
		t.Error("Differs is wrong about close, other or unknown languages")
	}
	if croatian.Same(croatian) || !german.Same(german) || german.Same(m) || (detect.Majority{Lang: detect.Unknown}).Same(detect.Majority{Lang: detect.Unknown}) {
		t.Error("Same is wrong about close or unknown languages")
	}
}
