package main

import (
	"context"
	"strings"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/vocab"
)

// translator is a model with its tokenizers and a way to search.
type translator struct {
	tokens  vocab.Pair
	model   *model.Transformer
	decoder *decode.Decoder
	search  decode.Options
	maxLen  int // most pieces of a source; what is longer is cut
}

// loadTranslator reads a model file.
func loadTranslator(path string, threads int, s decode.Options) (*translator, error) {
	file, err := model.Load(path, false)
	if err != nil {
		return nil, err
	}
	t, err := tokenizersOf(path, file.Tokenizers, file.Model.Config)
	if err != nil {
		return nil, err
	}
	return newTranslator(file.Model, t, mat.NewPool(threads), s), nil
}

func newTranslator(m *model.Transformer, t vocab.Pair, p *mat.Pool, s decode.Options) *translator {
	return &translator{t, m, decode.New(decode.NewWeights(m, p), p), s, m.Config.MaxLen - 1}
}

// translate translates texts. Those without a word stay empty. For a text that is too long cut is called with
// its number and its pieces, of which the first maxLen are translated.
func (t *translator) translate(texts []string, cut func(i, pieces int)) []string {
	out := make([]string, len(texts))
	for i, list := range t.nbest(texts, cut) {
		if len(list) > 0 {
			out[i] = t.text(list[0])
		}
	}
	return out
}

// nbest lists translations of texts as translate makes them; none of those without a word. The texts are numbered
// through all calls, for sampling, those without a word not counted.
func (t *translator) nbest(texts []string, cut func(i, pieces int)) [][]decode.Hypothesis {
	var srcs [][]int32
	var of []int // the text of each source
	for i, s := range texts {
		if strings.TrimSpace(s) == "" {
			continue
		}
		ids := t.tokens.Source.Encode(nil, s)
		if len(ids) > t.maxLen {
			cut(i, len(ids))
			ids = ids[:t.maxLen]
		}
		srcs, of = append(srcs, ids), append(of, i)
	}
	out := make([][]decode.Hypothesis, len(texts))
	lists, _ := t.decoder.NBest(context.Background(), srcs, t.search)
	for i, list := range lists {
		out[of[i]] = list
	}
	t.search.First += uint64(len(srcs))
	return out
}

func (t *translator) text(h decode.Hypothesis) string {
	return oneLine(t.tokens.Target.Decode(h.Tokens))
}
