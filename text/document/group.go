package document

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"tfm/text"
	"tfm/text/markup"
)

// Limits of a group, which is full when it exceeds one.
const (
	maxGroupBytes = 64 << 10
	maxGroupTexts = 256
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
// have a letter, as their inner texts.
func (g *group) translate(f Func) ([]markup.Text, error) {
	results := slices.Clone(g.texts)
	var inner []markup.Text
	var indices []int
	for i, t := range g.texts {
		if hasWords(t) {
			in, _, _ := innerText(t)
			inner, indices = append(inner, in), append(indices, i)
		}
	}
	*g = group{texts: g.texts[:0]}
	if len(inner) == 0 {
		return results, nil
	}
	translations, err := f(slices.Clone(inner))
	if err != nil {
		return nil, err
	}
	if len(translations) != len(inner) {
		return nil, fmt.Errorf("found %d translations of %d texts", len(translations), len(inner))
	}
	for n, i := range indices {
		if equal(inner[n], translations[n]) || text.IsBlank(translations[n].Plain) {
			continue // nothing is lost if a model finds no word
		}
		err := translations[n].Check(inner[n])
		if err == nil && !nested(translations[n].Spans) {
			err = errors.New("found spans that are not nested")
		}
		if err != nil {
			return nil, fmt.Errorf("translation of %.40q: %w", inner[n].Plain, err)
		}
		results[i] = outerText(results[i], translations[n])
	}
	return results, nil
}

// innerText returns t without the white space at its ends, the elements there without text, and the
// elements around all of it. These are the first spans and the last ones of t.
func innerText(t markup.Text) (inner markup.Text, first, last int) {
	r := bounds(t.Plain)
	last = len(t.Spans)
	for first < last {
		s := t.Spans[first]
		if s.End > r.Start && !(s.Start <= r.Start && s.End >= r.End && !s.Keep) {
			break
		}
		first++
	}
	for last > first && t.Spans[last-1].Start >= r.End {
		last--
	}
	inner.Plain = t.Plain[r.Start:r.End]
	for _, s := range t.Spans[first:last] {
		s.Start = min(max(s.Start, r.Start), r.End) - r.Start
		s.End = min(max(s.End, r.Start), r.End) - r.Start
		inner.Spans = append(inner.Spans, s)
	}
	return inner, first, last
}

// outerText returns the translation of t with that of its inner text.
func outerText(t, inner markup.Text) markup.Text {
	r := bounds(t.Plain)
	_, first, last := innerText(t)
	out := markup.Text{Plain: t.Plain[:r.Start] + inner.Plain + t.Plain[r.End:]}
	moved := func(at int) int { // an offset of t
		if at >= r.End {
			at += len(out.Plain) - len(t.Plain)
		}
		return at
	}
	for _, s := range t.Spans[:first] {
		s.Start, s.End = min(s.Start, r.Start), moved(s.End)
		out.Spans = append(out.Spans, s)
	}
	for _, s := range inner.Spans {
		s.Start += r.Start
		s.End += r.Start
		out.Spans = append(out.Spans, s)
	}
	for _, s := range t.Spans[last:] {
		s.Start, s.End = moved(s.Start), moved(s.End)
		out.Spans = append(out.Spans, s)
	}
	return out
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

// equal reports whether a and b have the same text and spans.
func equal(a, b markup.Text) bool { return a.Plain == b.Plain && slices.Equal(a.Spans, b.Spans) }

// nested reports whether spans are sorted and well nested.
func nested(spans []markup.Span) bool {
	var open []markup.Span
	for i, s := range spans {
		for len(open) > 0 && open[len(open)-1].End <= s.Start {
			open = open[:len(open)-1]
		}
		if i > 0 && s.Start < spans[i-1].Start || len(open) > 0 && s.End > open[len(open)-1].End {
			return false
		}
		open = append(open, s)
	}
	return true
}
