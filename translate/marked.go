package translate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tfm/lang"
	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
)

// Marked translates texts with inline elements: their plain texts as Do does, with the options of
// r, whose Texts and Certain are ignored. The elements are placed by attention, see
// markup.Text.Place. The text of kept elements is kept, in addition to the ranges of r.KeepOf. A
// line break within a sentence becomes a space. A text without a translation is an error that
// begins with the text and wraps ErrNoTranslation.
func (t *Translator) Marked(ctx context.Context, r Request, texts []markup.Text) ([]markup.Text, error) {
	r.Decode = cmp.Or(r.Decode, t.defaults)
	if err := r.validate(); err != nil {
		return nil, err
	}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	defer t.end()
	translated, err := t.marked(ctx, r, texts)
	if err != nil {
		return nil, err
	}
	out := make([]markup.Text, len(texts))
	for i := range translated {
		if err := translated[i].Err; err != nil {
			return nil, fmt.Errorf("%.60q: %w", texts[i].Plain, err)
		}
		out[i] = translated[i].placed(0)
	}
	return out, nil
}

// markedText is a text with inline elements and the translations of its plain text.
type markedText struct {
	markup.Text
	kept []text.Range // of the plain text
	Result
}

// marked translates texts as Marked does, for valid options, between begin and end.
func (t *Translator) marked(ctx context.Context, r Request, texts []markup.Text) ([]markedText, error) {
	// Attention takes time, so that texts without spans are translated without it, except where
	// the draws depend on the order of texts.
	groups := [2][]int{}
	for i, s := range texts {
		k := 1
		if len(s.Spans) == 0 && !r.Decode.Sample {
			k = 0
		}
		groups[k] = append(groups[k], i)
	}
	out := make([]markedText, len(texts))
	for k, indices := range groups {
		of := r
		of.Texts, of.Prefixes, of.codes, of.Certain, of.Markup = nil, nil, nil, nil, nil
		of.SplitSeveral = false // a sentence may have line breaks
		if of.Attention = k == 1; of.Attention {
			of.Memory = nil // its translations carry no alignment to place spans
		}
		kept := make([][]text.Range, len(indices))
		for n, i := range indices {
			plain := texts[i].Plain
			if r.Split == nil {
				plain = strings.ReplaceAll(plain, "\n", " ")
			}
			of.Texts, of.Prefixes = append(of.Texts, plain), append(of.Prefixes, r.prefix(i))
			if i < len(r.codes) {
				of.codes = append(of.codes, r.codes[i])
			}
			var more []text.Range
			if r.KeepOf != nil {
				more = r.KeepOf(i, plain)
			}
			kept[n] = keptWith(texts[i], more)
		}
		of.KeepOf = func(n int, _ string) []text.Range { return kept[n] }
		translated, err := t.do(ctx, of)
		if err != nil {
			return nil, err
		}
		for n, i := range indices {
			out[i] = markedText{texts[i], kept[n], translated[n]}
		}
	}
	return out, nil
}

// keptWith returns the ranges of the spans of s that are kept, with those of more that overlap
// none.
func keptWith(s markup.Text, more []text.Range) (kept []text.Range) {
	for _, span := range s.Spans {
		if span.Keep && span.Start < span.End {
			kept = append(kept, span.Range)
		}
	}
	for _, r := range more {
		if !slices.ContainsFunc(kept, func(k text.Range) bool { return k.Start < r.End && r.Start < k.End }) {
			kept = append(kept, r)
		}
	}
	slices.SortFunc(kept, func(a, b text.Range) int { return a.Start - b.Start })
	return kept
}

// placed returns the k-th translation of the text with its spans, see Result.Alternative.
func (m *markedText) placed(k int) markup.Text {
	s, r := m.Text, m.Result.Alternative(k)
	if len(s.Spans) == 0 || len(r.Translations) == 0 {
		out := markup.Text{Plain: r.Best(), Spans: slices.Clone(s.Spans)}
		for i := range out.Spans {
			out.Spans[i].Range = text.Range{}
		}
		return out
	}
	best := &r.Translations[0]
	var a markup.Alignment
	if r.Sentences == nil {
		a.Links = r.links(nil, s.Plain, s.Plain, best, 0, 0)
	}
	for i, sentence := range r.Sentences {
		if i > 0 {
			before := r.Sentences[i-1]
			a.Gaps = append(a.Gaps, markup.Link{
				Source: text.Range{Start: before.Source.End, End: sentence.Source.Start},
				Target: text.Range{Start: before.Target.End, End: sentence.Target.Start}})
		}
		if len(sentence.Translations) > 0 {
			source := s.Plain[sentence.Source.Start:sentence.Source.End]
			a.Links = sentence.links(a.Links, source, split.Unwrap(source), &sentence.Translations[0], sentence.Source.Start, sentence.Target.Start)
		}
	}
	for i, at := range best.Kept[:min(len(best.Kept), len(m.kept))] {
		a.Kept = append(a.Kept, markup.Link{Source: m.kept[i], Target: at})
	}
	return s.Place(best.Text, a)
}

// links appends the links of the translation of line, which is source without line breaks. The
// source begins at from in its text, the translation at to in that of the text.
func (r *Result) links(links []markup.Link, source, line string, t *Translation, from, to int) []markup.Link {
	at := make([]int, len(line)+1) // offset in source of each byte of line
	i := 0
	for j := range len(line) {
		for line[j] != source[i] && !(line[j] == ' ' && strings.IndexByte(lineSpace, source[i]) >= 0) {
			i++
		}
		at[j] = i
		i++
	}
	at[len(line)] = len(source)
	for i, target := range t.Tokens {
		for j, token := range r.Tokens {
			if weight := int(t.Attention[i][j] * markup.MaxWeight); weight > 0 {
				links = append(links, markup.Link{Weight: weight,
					Source: text.Range{Start: from + at[token.Start], End: from + at[token.End]},
					Target: text.Range{Start: to + target.Start, End: to + target.End}})
			}
		}
	}
	return links
}

// lineSpace are the characters that split.Unwrap replaces by a space.
const lineSpace = " \n"

// doMarkup is do for r.Markup. A text that it does not accept has the Err of its Result.
func (t *Translator) doMarkup(ctx context.Context, r Request) ([]Result, error) {
	results := make([]Result, len(r.Texts))
	documents := make([]*markup.Document, len(r.Texts))
	all := r
	all.codes = nil // of each text of the documents
	var texts []markup.Text
	for i, s := range r.Texts {
		if text.IsBlank(s) {
			continue
		}
		code, offset := t.codeOf(&r, i)
		d, err := r.Markup(s[offset:])
		if err != nil {
			results[i].Err = err
			continue
		}
		documents[i] = d
		for _, x := range d.Texts {
			texts, all.codes = append(texts, x), append(all.codes, code)
		}
	}
	marked, err := t.marked(ctx, all, texts)
	if err != nil {
		return nil, err
	}
	language := cmp.Or(lang.Of(r.To), lang.Of(t.to), t.tgtLang)
	for i, d := range documents {
		if d == nil {
			continue
		}
		of := marked[:len(d.Texts)]
		marked = marked[len(d.Texts):]
		for _, one := range of {
			results[i].SourceTokens += one.SourceTokens
			results[i].Err = cmp.Or(results[i].Err, one.Err)
			results[i].TruncatedTo = max(results[i].TruncatedTo, one.TruncatedTo)
		}
		for k := range max(r.Decode.NBest, 1) {
			whole, err := document(d, of, k, language)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(results[i].Translations, func(t Translation) bool { return t.Text == whole.Text }) {
				results[i].Translations = append(results[i].Translations, whole)
			}
		}
	}
	return results, nil
}

// document returns d with the k-th translations of its texts.
func document(d *markup.Document, texts []markedText, k int, language string) (whole Translation, err error) {
	placed := make([]markup.Text, len(texts))
	for i := range texts {
		placed[i] = texts[i].placed(k)
		for _, best := range texts[i].Alternative(k).Translations {
			whole.Score += best.Score
			whole.Truncated = whole.Truncated || best.Truncated
		}
	}
	out, err := d.Append(nil, placed, language)
	whole.Text = string(out)
	return whole, err
}
