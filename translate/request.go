package translate

import (
	"context"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
)

// Request is texts to translate, and how.
type Request struct {
	Texts  []string
	Decode decode.Options // the zero value is decode.DefaultOptions()

	// MaxSource is the number of tokens after which a text is cut. 0 is what the model can take,
	// and more is no more than that.
	MaxSource int

	Tokens    bool // results carry the tokens with their places in the texts
	Attention bool // results carry tokens and the attention of each translation's tokens to its source's
}

// Result is what became of a text.
type Result struct {
	// Translations are those that Decode.NBest asks for, the ones with the highest scores first.
	// There are none of a text without a word, and at least one of every other.
	Translations []Translation

	Length int     // tokens of the text
	Cut    int     // those of them that were translated, if that is not all; else 0
	Tokens []Token // those that were translated, if Request.Tokens
}

// Best is the text of the best translation, empty if there is none.
func (r Result) Best() string {
	if len(r.Translations) == 0 {
		return ""
	}
	return r.Translations[0].Text
}

// Translation is one translation of a text.
type Translation struct {
	Text      string  // one line of valid UTF-8
	Score     float64 // log-probability divided by the length penalty
	Truncated bool    // the limit of length came before the end

	Tokens []Token // if Request.Tokens

	// Attention, if Request.Attention, is how much each token of the translation looked at each
	// token of the source: the weights of the last decoder layer's cross-attention, averaged over
	// its heads. Row i belongs to the step that said Tokens[i], and there is one more for the end
	// mark; so is a column at the end of each row. The numbers of a row are 0 or more and sum to
	// 1.
	Attention [][]float32
}

// Token is a token of a text: an id of the vocabulary, and the bytes of the text that it stands
// for. The ranges of a text's tokens follow one another, as text.Tokenizer says, and divide all
// of it that has been translated.
type Token struct {
	ID int32
	text.Range
}

// Alignment returns for each token of the translation the index of the source's token that it
// looked at most, of equal ones the first, by Attention. End marks take no part. It is nil
// without Attention, or if the source has no tokens.
func (r Translation) Alignment() []int {
	if len(r.Attention) == 0 || len(r.Attention[0]) == 1 { // the end mark alone
		return nil
	}
	align := make([]int, len(r.Tokens))
	for i := range align {
		row := r.Attention[i]
		for j, w := range row[:len(row)-1] {
			if w > row[align[i]] {
				align[i] = j
			}
		}
	}
	return align
}

func orDefault(o decode.Options) decode.Options {
	if o == (decode.Options{}) {
		return decode.DefaultOptions()
	}
	return o
}

// Do translates the texts of a request; results are in their order. Texts with a word are
// numbered from Decode.First, which draws depend on. The error is an invalid setting's, as a
// *model.FieldError, or that of ctx, which is looked at before each text and each step of
// decoding: a call that is cancelled returns at once.
func (t *Translator) Do(ctx context.Context, r Request) ([]Result, error) {
	r.Decode = orDefault(r.Decode)
	if err := r.Decode.Validate(); err != nil {
		return nil, err
	}
	if r.MaxSource < 0 {
		return nil, &model.FieldError{Field: "max_source", Found: r.MaxSource, Expected: "0 or more"}
	}
	d, err := t.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer t.release(d)

	results := make([]Result, len(r.Texts))
	srcs, of, err := t.encode(ctx, r, results)
	if err != nil {
		return nil, err
	}
	lists, err := d.NBest(ctx, srcs, r.Decode)
	if err != nil {
		return nil, err
	}
	var attention [][][]float32 // of all translations in order
	if r.Attention {
		if attention, err = attend(ctx, d, srcs, lists); err != nil {
			return nil, err
		}
	}
	for i, list := range lists {
		for _, h := range list {
			tr := t.translation(h, r.Tokens || r.Attention)
			if r.Attention {
				tr.Attention, attention = attention[0], attention[1:]
			}
			results[of[i]].Translations = append(results[of[i]].Translations, tr)
		}
	}
	return results, nil
}

// encode returns the ids of the texts that have a word and their indices in results, where it
// sets what a result says of its source. The error is that of ctx.
func (t *Translator) encode(ctx context.Context, r Request, results []Result) (srcs [][]int32, of []int, err error) {
	most := t.MaxSource()
	if r.MaxSource > 0 {
		most = min(most, r.MaxSource)
	}
	for i, s := range r.Texts {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if text.IsBlank(s) {
			continue
		}
		var ids []int32
		var ranges []text.Range
		if r.Tokens || r.Attention {
			ids, ranges = t.tokens.Source.EncodeRanges(nil, nil, s)
		} else {
			ids = t.tokens.Source.Encode(nil, s)
		}
		result := &results[i]
		if result.Length = len(ids); len(ids) > most {
			result.Cut, ids = most, ids[:most]
		}
		if ranges != nil {
			result.Tokens = tokens(ids, ranges)
		}
		srcs, of = append(srcs, ids), append(of, i)
	}
	return srcs, of, nil
}

// attend returns the attention of all translations in lists, one after another.
func attend(ctx context.Context, d *decode.Decoder, srcs [][]int32, lists [][]decode.Hypothesis) ([][][]float32, error) {
	var from, to [][]int32
	for i, list := range lists {
		for _, h := range list {
			from, to = append(from, srcs[i]), append(to, h.Tokens)
		}
	}
	return d.Attention(ctx, from, to)
}

func tokens(ids []int32, ranges []text.Range) []Token {
	list := make([]Token, len(ids))
	for i, id := range ids {
		list[i] = Token{id, ranges[i]}
	}
	return list
}

// translation is a hypothesis as text, with its tokens if they are wanted.
func (t *Translator) translation(h decode.Hypothesis, withTokens bool) Translation {
	r := Translation{Score: h.Score, Truncated: h.Truncated}
	if !withTokens {
		r.Text, _ = text.OneLine(t.tokens.Target.Decode(h.Tokens), nil)
		return r
	}
	raw, ranges := t.tokens.Target.DecodeRanges(nil, h.Tokens)
	r.Text, ranges = text.OneLine(raw, ranges)
	r.Tokens = tokens(h.Tokens, ranges)
	return r
}
