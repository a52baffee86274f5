package document

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/markup"
)

// Limits of a group, which is full when it exceeds one.
const (
	maxGroupBytes = 64 << 10
	maxGroupTexts = 1024
)

// group holds texts until they are translated together.
type group struct {
	texts []markup.Text
	bytes int
}

// add adds texts and reports whether the group is full.
func (g *group) add(texts []markup.Text) (full bool) {
	g.texts = append(g.texts, texts...)
	for _, t := range texts {
		g.bytes += len(t.Plain)
	}
	return g.bytes > maxGroupBytes || len(g.texts) > maxGroupTexts
}

// translate returns the translations of all texts and empties the group. f receives the texts that
// have a letter, without the white space at their ends.
func (g *group) translate(f Func) ([]markup.Text, error) {
	results := slices.Clone(g.texts)
	var trimmed []markup.Text
	var indices []int
	for i, t := range g.texts {
		if hasWords(t) {
			trimmed = append(trimmed, slice(t, bounds(t.Plain)))
			indices = append(indices, i)
		}
	}
	*g = group{texts: g.texts[:0]}
	if len(trimmed) == 0 {
		return results, nil
	}
	translations, err := f(slices.Clone(trimmed))
	if err != nil {
		return nil, err
	}
	if len(translations) != len(trimmed) {
		return nil, fmt.Errorf("found %d translations of %d texts", len(translations), len(trimmed))
	}
	for n, i := range indices {
		t := translations[n]
		if equal(t, trimmed[n]) {
			continue
		}
		if err := check(trimmed[n], t); err != nil {
			return nil, err
		}
		plain := results[i].Plain
		within := bounds(plain)
		spans := slices.Clone(t.Spans)
		for j := range spans {
			spans[j].Start += within.Start
			spans[j].End += within.Start
		}
		results[i] = markup.Text{Plain: plain[:within.Start] + t.Plain + plain[within.End:], Spans: spans}
	}
	return results, nil
}

// hasWords reports whether t has a letter that is not in a kept span.
func hasWords(t markup.Text) bool {
	at := 0
	for _, s := range t.Spans {
		if s.Keep && s.Start >= at {
			if strings.ContainsFunc(t.Plain[at:s.Start], unicode.IsLetter) {
				return true
			}
			at = s.End
		}
	}
	return strings.ContainsFunc(t.Plain[at:], unicode.IsLetter)
}

// bounds returns the range of s without the white space at its ends.
func bounds(s string) text.Range {
	start := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return text.Range{Start: start, End: max(start, len(strings.TrimRightFunc(s, unicode.IsSpace)))}
}

// slice returns the part r of t. Spans are cut at its ends.
func slice(t markup.Text, r text.Range) markup.Text {
	spans := slices.Clone(t.Spans)
	for i := range spans {
		spans[i].Start = min(max(spans[i].Start, r.Start), r.End) - r.Start
		spans[i].End = min(max(spans[i].End, r.Start), r.End) - r.Start
	}
	return markup.Text{Plain: t.Plain[r.Start:r.End], Spans: spans}
}

// equal reports whether a and b have the same text and spans.
func equal(a, b markup.Text) bool { return a.Plain == b.Plain && slices.Equal(a.Spans, b.Spans) }

// check returns an error unless t, a translation of source, is valid UTF-8 and has the IDs of
// source once, in well nested spans.
func check(source, t markup.Text) error {
	fail := func(what string) error { return fmt.Errorf("translation of %.40q: %s", source.Plain, what) }
	if !utf8.ValidString(t.Plain) {
		return fail("invalid UTF-8")
	}
	var ids, want []int
	for _, s := range source.Spans {
		want = append(want, s.ID)
	}
	var open []markup.Span
	start := 0
	for _, s := range t.Spans {
		ids = append(ids, s.ID)
		for len(open) > 0 && open[len(open)-1].End <= s.Start {
			open = open[:len(open)-1]
		}
		end := len(t.Plain)
		if len(open) > 0 {
			end = open[len(open)-1].End
		}
		if s.Start < start || s.End < s.Start || s.End > end {
			return fail(fmt.Sprintf("span %d is not nested", s.ID))
		}
		start, open = s.Start, append(open, s)
	}
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		return fail(fmt.Sprintf("found spans %v, expected %v", ids, want))
	}
	return nil
}
