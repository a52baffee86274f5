package translate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/lang"
	"tfm/text"
	"tfm/text/split"
)

// Sentence is a sentence of a text that was split, with its translations.
type Sentence struct {
	Source text.Range // in the text
	Target text.Range // of the best translation, in the translation of the text

	// Result is that of split.Unwrap of the sentence, except that the ranges of Request.KeepOf keep
	// their line breaks. It has no Sentences.
	Result
}

// doSplit is do for r.Split. The sentences of all texts make one call, except that the draws of
// each text begin at its own number, and that parts of translations come in the order of the text.
func (t *Translator) doSplit(ctx context.Context, r Request) ([]Result, error) {
	texts, results := r.Texts, make([]Result, len(r.Texts))
	t.recall(&r, results)
	if err := t.standIns(ctx, &r); err != nil {
		return nil, err
	}
	number := r.Decode.First
	all := r
	all.Split, all.Certain, all.Prefix = nil, nil, ""
	all.Texts, all.Prefixes, all.codes, all.standIns = nil, nil, nil, nil
	for i, s := range r.Texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if text.IsBlank(s) || results[i].InMemory {
			continue
		}
		first := len(all.Texts)
		code, offset := t.codeOf(&r, i)
		sentences, err := t.sentences(s[offset:], code, &r)
		if err != nil {
			return nil, err
		}
		o := t.splitOptions(&r)
		o.MaxRunes = len(s) // long sentences count once
		if r.SplitSeveral && len(split.Sentences(s[offset:], o)) <= 1 {
			one := all
			one.Texts, one.Prefixes, one.codes, one.standIns = []string{s}, []string{r.prefix(i)}, []string{code}, nil
			if r.isKept(i) {
				one.standIns = r.standIns[i : i+1]
			}
			one.Decode.First = number
			number++
			if r.Certain != nil {
				one.Certain = func(_ int, part string) { r.Certain(i, part) }
			}
			translated, err := t.do(ctx, one)
			if err != nil {
				return nil, err
			}
			results[i] = translated[0]
			continue
		}
		var list []standIn // that are in no sentence yet
		if r.isKept(i) {
			list = r.standIns[i]
		}
		_, edits, places := restored(s, list)
		end := offset // of the previous sentence
		for _, at := range sentences {
			at.Start, at.End = max(at.Start+offset, end), at.End+offset
			n, _ := slices.BinarySearchFunc(list, at.End, func(in standIn, end int) int { return in.at.Start - end })
			if n > 0 { // a long sentence may be cut within a stand-in
				at.End = max(at.End, list[n-1].at.End)
			}
			if end = at.End; at.Start >= end {
				continue
			}
			line := split.Unwrap(s[at.Start:at.End])
			all.Texts, all.standIns = append(all.Texts, line), append(all.standIns, located(list[:n], line))
			list = list[n:]
			at.Start, at.End = moved(at.Start, edits, places), moved(at.End, edits, places)
			results[i].Sentences = append(results[i].Sentences, Sentence{Source: at})
			all.Prefixes, all.codes = append(all.Prefixes, ""), append(all.codes, code)
		}
		if len(all.Texts) > first {
			all.Prefixes[first] = r.prefix(i)
		}
		if !r.Decode.Sample && r.Certain == nil {
			continue
		}
		all.Decode.First = firstDraw(number)
		number++
		if r.Certain != nil {
			err = t.streamSentences(ctx, all, texts[i], results[i].Sentences, func(part string) { r.Certain(i, part) })
		} else {
			err = t.doSentences(ctx, all, results[i:i+1])
		}
		if err != nil {
			return nil, err
		}
		all.Texts, all.Prefixes, all.codes, all.standIns = nil, nil, nil, nil
	}
	if err := t.doSentences(ctx, all, results); err != nil {
		return nil, err
	}
	for i := range results {
		_, offset := t.textCode(texts[i])
		results[i].join(texts[i], offset)
	}
	return results, nil
}

// firstDraw returns the number that selects the draws of the first sentence of a text; those of the
// next sentences follow. The factor is odd, so that different texts have different numbers, and
// large, so that they are far apart.
func firstDraw(number uint64) uint64 { return number * 0x9E3779B97F4A7C15 }

// doSentences sets the Result of each Sentence of results without one. r.Texts are their lines.
func (t *Translator) doSentences(ctx context.Context, r Request, results []Result) error {
	if len(r.Texts) == 0 {
		return nil
	}
	translated, err := t.do(ctx, r)
	if err != nil {
		return err
	}
	for i := range results {
		for k := range results[i].Sentences {
			results[i].Sentences[k].Result, translated = translated[0], translated[1:]
		}
	}
	return nil
}

// streamSentences translates the sentences of s one after another and calls certain with the parts
// of the translation of s. r.Texts are their lines.
func (t *Translator) streamSentences(ctx context.Context, r Request, s string, sentences []Sentence, certain func(string)) error {
	lines, prefixes, codes, standIns := r.Texts, r.Prefixes, r.codes, r.standIns
	_, end := t.textCode(s) // of the previous sentence
	before := ""
	for k := range sentences {
		at := sentences[k].Source
		gap, held, begun := s[end:at.Start], "", false
		begin := func() {
			if begun = true; k > 0 {
				gap = split.Gap(gap, before, held)
			}
			if gap+held != "" {
				certain(gap + held)
			}
		}
		r.Certain = func(_ int, part string) {
			if begun {
				certain(part)
				return
			}
			// split.Gap needs the first character that is no quotation mark.
			held += part
			if strings.ContainsFunc(held, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				begin()
			}
		}
		r.Texts, r.Prefixes, r.codes, r.standIns = lines[k:k+1], prefixes[k:k+1], codes[k:k+1], standIns[k:k+1]
		results, err := t.do(ctx, r)
		if err != nil {
			return err
		}
		if !begun {
			begin()
		}
		sentences[k].Result, before, end = results[0], results[0].Best(), at.End
		r.Decode.First++
	}
	if tail := s[end:]; tail != "" {
		certain(tail)
	}
	return nil
}

// join sets the fields of the result of s, a text that was split, from those of its sentences. Its
// first bytes, up to offset, are the code of a language.
func (r *Result) join(s string, offset int) {
	if len(r.Sentences) == 0 {
		return
	}
	var b strings.Builder
	joined := Translation{}
	end := offset // of the previous sentence
	before := ""
	for k := range r.Sentences {
		sentence := &r.Sentences[k]
		gap, best := s[end:sentence.Source.Start], sentence.Best()
		if k > 0 {
			gap = split.Gap(gap, before, best)
		}
		b.WriteString(gap)
		joined.add(&b, sentence)
		r.SourceTokens += sentence.SourceTokens
		r.Err = cmp.Or(r.Err, sentence.Err)
		r.InMemory = sentence.InMemory && (k == 0 || r.InMemory)
		if x := sentence.Similarity; x > 0 && (r.Similarity == 0 || x < r.Similarity) {
			r.Similarity = x
		}
		before, end = best, sentence.Source.End
	}
	b.WriteString(s[end:])
	joined.Text = b.String()
	r.Translations = []Translation{joined}
}

// add writes the best translation of a sentence to b, the text of t, and sets its Target.
func (t *Translation) add(b *strings.Builder, s *Sentence) {
	s.Target.Start = b.Len()
	b.WriteString(s.Best())
	s.Target.End = b.Len()
	if len(s.Translations) == 0 {
		return
	}
	best := s.Translations[0]
	t.Score += best.Score
	t.Truncated = t.Truncated || best.Truncated
	for _, at := range best.Kept {
		t.Kept = append(t.Kept, text.Range{Start: s.Target.Start + at.Start, End: s.Target.Start + at.End})
	}
}

// Alternative returns the result with one translation: the k-th, or of a text that was split the
// k-th of each sentence. It is the last one where there are no more than k; k counts from 0.
func (r Result) Alternative(k int) Result {
	if len(r.Sentences) == 0 {
		if n := len(r.Translations); n > 0 {
			r.Translations = r.Translations[min(k, n-1):][:1]
		}
		return r
	}
	best, end := r.Best(), 0
	var b strings.Builder
	joined := Translation{}
	r.Sentences = slices.Clone(r.Sentences)
	for i := range r.Sentences {
		sentence := &r.Sentences[i]
		sentence.Result = sentence.Result.Alternative(k)
		b.WriteString(best[end:sentence.Target.Start])
		end = sentence.Target.End
		joined.add(&b, sentence)
	}
	joined.Text = b.String() + best[end:]
	r.Translations = []Translation{joined}
	return r
}

// splitOptions returns r.Split with the language of r.
func (t *Translator) splitOptions(r *Request) split.Options {
	o := *r.Split
	o.Language = cmp.Or(o.Language, lang.Of(r.From), lang.Of(t.from), t.srcLang)
	return o
}

// sentences returns the ranges of the sentences of s. It cuts those that exceed the source limit of
// r in tokens. code is the language that the text begins with, or "". The error is that of a
// language.
func (t *Translator) sentences(s, code string, r *Request) ([]text.Range, error) {
	a, err := t.affixes(affixesByCodes{}, r.From, cmp.Or(code, r.To))
	if err != nil {
		return nil, err
	}
	return t.appendSentences(nil, s, 0, t.splitOptions(r), max(t.sourceLimit(r)-a.length(), 1)), nil
}

// appendSentences appends the ranges of the sentences of s, which begins at an offset of the text.
func (t *Translator) appendSentences(ranges []text.Range, s string, offset int, o split.Options, maxTokens int) []text.Range {
	for _, at := range split.Sentences(s, o) {
		sentence := s[at.Start:at.End]
		n := len(t.tokenizers.Source.Encode(nil, split.Unwrap(sentence)))
		runes := utf8.RuneCountInString(sentence)
		if n <= maxTokens || runes == 1 {
			ranges = append(ranges, text.Range{Start: offset + at.Start, End: offset + at.End})
			continue
		}
		shorter := o
		shorter.MaxRunes = max(1, runes*maxTokens/n)
		if shorter.MaxRunes == runes {
			shorter.MaxRunes--
		}
		ranges = t.appendSentences(ranges, sentence, offset+at.Start, shorter, maxTokens)
	}
	return ranges
}
