package translate

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
)

// Request holds texts and the options for translating them.
type Request struct {
	Texts []string

	// Decode are the options of the searches. The zero value is Translator.DefaultOptions().
	// Do sets Pieces, Prefixes and Suppressed.
	Decode decode.Options

	// From and To are the languages of the texts and of their translations, in a model of
	// several: as the model spells them (fra_Latn, >>pob<<), BCP 47 tags, or codes of ISO 639-1
	// or 639-3. "" is that of Options, or that of the model file, or the only one. A text that
	// begins with >>id<<, where id is a language of the target, overrides To. A text without
	// a language is an error that lists those of the model.
	From, To string
	codes    []string // of each text, in the place of To, unless it is ""

	// Prefixes[i], if not "", is the begin of the translation of Texts[i]. It may end within a
	// word. Prefix is that of all other texts. Both are valid UTF-8.
	Prefixes []string
	Prefix   string

	// KeepOf, if not nil, returns the ranges of text i that each of its translations contains
	// once and unchanged, sorted and disjoint, none of them empty; see Translation.Kept. The
	// model translates a word in the place of each. A text without a letter or digit outside of
	// them is its own translation. Lines calls KeepOf from several goroutines, with i = 0.
	KeepOf func(i int, text string) []text.Range

	// Glossary, if not nil, has the translations of terms. A text for which a translation does
	// not have that of each term, or a form that the glossary accepts, is translated again with
	// a word in the place of each. Terms within ranges of KeepOf do not count.
	Glossary *Glossary

	// Memory, if not nil, has the translations of whole texts. A text or, with Split, a sentence
	// that it has is not translated by the model, unless it has a prefix or samples; see
	// Result.InMemory. Terms of the Glossary and ranges of KeepOf do not apply to it. Texts with
	// inline elements are translated, and with a model of several languages those in other
	// languages than the memory's: see ReadMemory; of NewMemory those with a language >>id<<.
	Memory *Memory

	// Adapt is the least similarity of a source of Memory to a text, more than 0 and at most 1,
	// with which the model is tuned for the text: a copy of its last decoder layer, to that
	// pair. The similarity is 1 - d/n, where d is the edit distance of the words and n the
	// number of words of the longer text. 0 is none. It needs Options.KeepModel. Texts with
	// a prefix, kept ranges or samples are translated without, and so are all with
	// a Glossary or Certain.
	Adapt float64

	standIns [][]standIn // of each text, in the place of KeepOf and Glossary

	// Split, if not nil, splits each text into sentences, which are translated separately and
	// joined with the white space between them, as split.Gap defines. A text may then have
	// several lines and paragraphs. Sentences that exceed the source limit are cut, so that
	// nothing is truncated. An unknown language is that of the model's source. A prefix is that
	// of the first sentence.
	Split *split.Options

	// SplitSeveral limits Split to the texts of several sentences. Others are translated as
	// without Split, and have no Sentences.
	SplitSeveral bool

	// MaxSource is the source limit in tokens. 0, or more than Translator.MaxSource, is
	// Translator.MaxSource.
	MaxSource int

	// Markup, if not nil, reads each text as a document, for example markup.ReadHTML. Its texts
	// are translated, and a translation of the text is the document with them, see Marked and
	// Result.Alternative. It has the sum of their scores, and neither tokens nor attention;
	// Prefixes and Certain do not apply. Prefix is that of each text of the documents, KeepOf is
	// called with each. Lines calls Markup from several goroutines.
	Markup func(string) (*markup.Document, error)

	// Certain, if not nil, is called with the index of a text and the next part of its best
	// translation as soon as the part cannot change: with greedy search and one sample after
	// each decode step that completes a character. All parts together are the translation,
	// unless its scores become NaN. Do calls it on its own goroutine.
	Certain func(i int, part string)

	Tokens    bool // return the tokens of the texts and of the translations
	Attention bool // return tokens and attention weights
}

// Result holds the translations of one text.
type Result struct {
	// Translations are sorted by descending score. Decode.NBest limits their number. A blank
	// text has none, any other text at least one.
	Translations []Translation

	// SourceTokens is the number of tokens of the whole text, without EOS.
	SourceTokens int

	// TruncatedTo is the source limit in tokens if SourceTokens exceeds it: only the first
	// TruncatedTo tokens were translated, and the rest of the text is missing from every
	// translation. It is 0 if the whole text was translated.
	TruncatedTo int

	Tokens []Token // the tokens that were translated, if Request.Tokens or Request.Attention

	// Sentences are the sentences of the text, in order, if Request.Split. Translations then
	// has the text with the best translation of each, whose Score is the sum of theirs, and
	// neither tokens nor attention.
	Sentences []Sentence

	// InMemory says that the translation is that of Request.Memory, with a Score of 0 and without
	// tokens and attention. For a text with Sentences, all come from it.
	InMemory bool

	// Similarity is that of the source of Request.Memory for which the model was tuned, 0 without;
	// of a text that was split the least of its sentences'.
	Similarity float64

	// Err is why the text has no translation although it is not blank: the error of
	// Request.Markup, or ErrNoTranslation if no hypothesis of it, or of one of its sentences, is
	// possible. Translations then are empty, or have a Score of -Inf.
	Err error
}

// ErrNoTranslation is the Err of a Result, or is wrapped in it, if no hypothesis is possible.
var ErrNoTranslation = errors.New("no translation: the prefix, the glossary or another limit allows none, or the model's scores are not finite")

// Truncated reports whether the text exceeded the source limit; see TruncatedTo.
func (r Result) Truncated() bool { return r.TruncatedTo > 0 }

// Best returns the text of the best translation, "" for a blank text.
func (r Result) Best() string {
	if len(r.Translations) == 0 {
		return ""
	}
	return r.Translations[0].Text
}

// Translation is one translation of a text.
type Translation struct {
	Text      string  // valid UTF-8; one line, except for the line breaks between sentences
	Score     float64 // log-probability divided by the length penalty
	Truncated bool    // the translation reached its length limit before EOS

	Tokens []Token // if Request.Tokens or Request.Attention

	// Kept are the ranges of Text that are those of Request.KeepOf, in the order of the source.
	Kept []text.Range

	// TokenScores and Alternatives are those of decode.Hypothesis, if Decode asks for them.
	TokenScores  []float64
	Alternatives [][]decode.Alternative

	// Attention holds the cross-attention weights, averaged over the heads that the model file
	// names for alignments, or else over those of the last decoder layer, if Request.Attention.
	// Row i belongs to Tokens[i], the last row to EOS. Column j is Result.Tokens[j], the last
	// column EOS. Weights are not negative; each row sums to 1.
	Attention [][]float32
}

// Token is a token of a text: its id and its byte range in the text. The ranges of consecutive
// tokens are adjacent, as text.Tokenizer defines, and cover the text up to the source limit.
type Token struct {
	ID int32
	text.Range
}

// Alignment returns, for each token of the translation, the index of the source token with the
// largest attention weight, the first of equal ones. EOS is ignored on both sides. Alignment
// returns nil without Attention, or if the source has no tokens.
func (r Translation) Alignment() []int {
	if len(r.Attention) == 0 || len(r.Attention[0]) == 1 { // EOS only
		return nil
	}
	align := make([]int, len(r.Tokens))
	for i := range align {
		row := r.Attention[i]
		align[i] = largest(row[:len(row)-1])
	}
	return align
}

// AlignWords returns, for each word of the translation in order, the word of the source with the
// largest sum of attention weights, as pairs of a source word and a target word from 0. source is
// the text that r is the result of. Words are separated by white space. A word whose tokens all
// begin in another has no pair. AlignWords returns nil without Attention.
func (r Result) AlignWords(source string, t Translation) (pairs [][2]int) {
	if len(t.Attention) == 0 {
		return nil
	}
	srcWords, nSrc := wordsOf(source, r.Tokens)
	tgtWords, nTgt := wordsOf(t.Text, t.Tokens)
	sums := mat.New(nTgt, nSrc)
	for i, tgt := range tgtWords {
		for j, src := range srcWords {
			if tgt >= 0 && src >= 0 {
				sums.Row(tgt)[src] += t.Attention[i][j]
			}
		}
	}
	for w := range nTgt {
		row := sums.Row(w)
		if best := largest(row); nSrc > 0 && row[best] > 0 {
			pairs = append(pairs, [2]int{best, w})
		}
	}
	return pairs
}

// wordsOf returns the word in s of the last character of each token, -1 for white space, and the
// number of words.
func wordsOf(s string, tokens []Token) (words []int, n int) {
	wordAt := make([]int, len(s)) // of each byte
	inWord := false
	for i := 0; i < len(s); {
		c, size := utf8.DecodeRuneInString(s[i:])
		space := unicode.IsSpace(c)
		if !space && !inWord {
			n++
		}
		inWord = !space
		for j := range size {
			if wordAt[i+j] = n - 1; space {
				wordAt[i+j] = -1
			}
		}
		i += size
	}
	for _, k := range tokens {
		word := -1
		for i := k.End - 1; i >= k.Start && word < 0; i-- {
			word = wordAt[i]
		}
		words = append(words, word)
	}
	return words, n
}

// Do translates the texts of a request and returns one result for each, in order. When sampling,
// the number Decode.First+i selects the draws of the i-th text that is not blank. Do returns
// a *model.FieldError for an invalid option, and the error of ctx, which it checks before each text
// and each decode step.
func (t *Translator) Do(ctx context.Context, r Request) ([]Result, error) {
	r.Decode = cmp.Or(r.Decode, t.defaults)
	if err := r.validate(); err != nil {
		return nil, err
	}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	defer t.end()
	return t.do(ctx, r)
}

// validate reports the first invalid option.
func (r *Request) validate() error {
	if err := r.Decode.Validate(); err != nil {
		return err
	}
	if !(r.Adapt >= 0 && r.Adapt <= 1) {
		return &model.FieldError{Field: "adapt", Found: r.Adapt, Expected: "0 to 1"}
	}
	if r.MaxSource < 0 {
		return &model.FieldError{Field: "max_source", Found: r.MaxSource, Expected: "0 or more"}
	}
	invalid := func(s string) bool { return !utf8.ValidString(s) }
	if i := slices.IndexFunc(r.Prefixes, invalid); i >= 0 {
		return &model.FieldError{Field: "prefixes", Found: r.Prefixes[i], Expected: "valid UTF-8"}
	}
	if invalid(r.Prefix) {
		return &model.FieldError{Field: "prefix", Found: r.Prefix, Expected: "valid UTF-8"}
	}
	return nil
}

// do is Do for valid options, between begin and end.
func (t *Translator) do(ctx context.Context, r Request) ([]Result, error) {
	if !r.adaptable() { // standIns removes what says so
		r.Adapt = 0
	}
	if r.Markup != nil {
		return t.doMarkup(ctx, r)
	}
	if r.Split != nil {
		return t.doSplit(ctx, r)
	}
	results := make([]Result, len(r.Texts))
	t.recall(&r, results)
	if err := t.standIns(ctx, &r); err != nil {
		return nil, err
	}
	if err := t.adapt(ctx, &r, results); err != nil {
		return nil, err
	}
	named := r // the request of another try
	srcs, indices, around, err := t.encode(ctx, r, results)
	if err != nil {
		return nil, err
	}
	r.Decode.Pieces, r.Decode.Suppressed, r.Decode.Prefixes = t.pieces, t.defaults.Suppressed, t.prefixes(r, indices)
	if t.config.TargetBegins {
		begins := new(decode.Begins)
		for i := range around {
			begins.Targets = append(begins.Targets, around[i].Begin)
		}
		r.Decode.Begins = begins
	}
	lists, err := t.nBest(ctx, srcs, indices, &r)
	if err != nil {
		return nil, err
	}
	var attention [][][]float32 // of each translation, in the order of lists
	if r.Attention {
		if attention, err = t.attend(ctx, srcs, around, lists); err != nil {
			return nil, err
		}
	}
	for i, list := range lists {
		result := &results[indices[i]]
		if math.IsInf(list[0].Score, -1) {
			result.Err = ErrNoTranslation
		}
		for _, h := range list {
			tr := t.translation(h, r.Tokens || r.Attention || r.isKept(indices[i]))
			if r.Attention {
				tr.Attention, attention = attention[0], attention[1:]
			}
			result.Translations = append(result.Translations, tr)
		}
	}
	if named.standIns, err = t.retryTerms(ctx, named, results, indices); err != nil {
		return nil, err
	}
	if err := t.restore(ctx, &named, results, indices, srcs, around, lists); err != nil {
		return nil, err
	}
	for i := range results {
		if best := results[i].Best(); r.Certain != nil && r.isKept(i) && !results[i].InMemory && best != "" {
			r.Certain(i, best)
		}
	}
	return results, nil
}

// encode returns the sources of the texts that are not blank, the index of each in results, and its
// affixes. It sets the fields of results that describe the source. The error is that of ctx, or of
// a language.
func (t *Translator) encode(ctx context.Context, r Request, results []Result) (srcs [][]int32, indices []int, around []affixes, err error) {
	maxTokens, known := t.sourceLimit(&r), affixesByCodes{}
	for i, whole := range r.Texts {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		if text.IsBlank(whole) || results[i].InMemory || results[i].Similarity > 0 {
			continue
		}
		code, offset := t.codeOf(&r, i)
		s := whole[offset:]
		if text.IsBlank(s) {
			continue
		}
		if r.isKept(i) && isWordless(whole, offset, r.standIns[i]) {
			results[i].Translations = []Translation{wordless(whole, offset, r.standIns[i])}
			continue
		}
		a, err := t.affixes(known, r.From, cmp.Or(code, r.To))
		if err != nil {
			return nil, nil, nil, err
		}
		var ids []int32
		var ranges []text.Range
		if r.Tokens || r.Attention {
			ids, ranges = t.tokenizers.Source.EncodeRanges(nil, nil, s)
			ranges = shifted(ranges, offset)
		} else {
			ids = t.tokenizers.Source.Encode(nil, s)
		}
		result := &results[i]
		result.SourceTokens = len(ids)
		if limit := max(maxTokens-a.length(), 1); len(ids) > limit {
			result.TruncatedTo, ids = limit, ids[:limit]
		}
		if ranges != nil {
			result.Tokens = tokens(ids, ranges)
		}
		srcs, indices, around = append(srcs, a.wrap(ids)), append(indices, i), append(around, a)
	}
	return srcs, indices, around, nil
}

// sourceLimit returns the source limit of r.
func (t *Translator) sourceLimit(r *Request) int {
	return min(t.MaxSource(), cmp.Or(r.MaxSource, t.MaxSource()))
}

// prefix returns the begin of the translation of text i.
func (r *Request) prefix(i int) string {
	if i < len(r.Prefixes) {
		return cmp.Or(r.Prefixes[i], r.Prefix)
	}
	return r.Prefix
}

// prefixes returns the prefixes of the texts with the given indices, nil for none.
func (t *Translator) prefixes(r Request, indices []int) *decode.Begins {
	if len(r.Prefixes) == 0 && r.Prefix == "" {
		return nil
	}
	ids := make([][]int32, len(indices))
	for k, i := range indices {
		ids[k] = t.tokenizers.Target.Encode(nil, r.prefix(i))
	}
	return &decode.Begins{Targets: ids}
}

// attend returns the attention weights of each translation in lists, in order.
func (t *Translator) attend(ctx context.Context, srcs [][]int32, around []affixes, lists [][]decode.Hypothesis) ([][][]float32, error) {
	var pairSrcs, pairTgts [][]int32
	var of []*affixes // of each pair
	for i, list := range lists {
		for _, h := range list {
			a := &around[i]
			pairSrcs, pairTgts, of = append(pairSrcs, srcs[i]), append(pairTgts, slices.Concat(a.Begin, h.Tokens)), append(of, a)
		}
	}
	var attention [][][]float32
	err := t.withDecoder(ctx, func(d *decode.Decoder) (err error) {
		attention, err = d.Attention(ctx, pairSrcs, pairTgts, t.align)
		return err
	})
	for k := range attention {
		attention[k] = attention[k][len(of[k].Begin):]
		for i, row := range attention[k] {
			attention[k][i] = of[k].textWeights(row)
		}
	}
	return attention, err
}

// tokens combines ids with their ranges; further ranges are ignored.
func tokens(ids []int32, ranges []text.Range) []Token {
	list := make([]Token, len(ids))
	for i, id := range ids {
		list[i] = Token{id, ranges[i]}
	}
	return list
}

// translation decodes h into one line of valid text, and into tokens if withTokens.
func (t *Translator) translation(h decode.Hypothesis, withTokens bool) Translation {
	r := Translation{Score: h.Score, Truncated: h.Truncated, TokenScores: h.TokenScores, Alternatives: h.Alternatives}
	if !withTokens {
		r.Text, _ = text.OneLine(t.tokenizers.Target.Decode(h.Tokens))
		return r
	}
	raw, ranges := t.tokenizers.Target.DecodeRanges(nil, h.Tokens)
	var edits text.Edits
	r.Text, edits = text.OneLine(raw)
	for i := range ranges {
		ranges[i] = edits.Range(ranges[i])
	}
	r.Tokens = tokens(h.Tokens, ranges)
	return r
}
