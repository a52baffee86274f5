package main

import (
	"strings"

	"tfm/mat"
	"tfm/model"
)

// translator is a model with its tokenizers and a way to search.
type translator struct {
	tokenizers
	decoder *model.Decoder
	search  model.Search
	maxLen  int // most pieces of a source; what is longer is cut
}

// loadTranslator reads a model file.
func loadTranslator(path string, threads int, s model.Search) (*translator, error) {
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

func newTranslator(m *model.Transformer, t tokenizers, p *mat.Pool, s model.Search) *translator {
	return &translator{t, model.NewDecoder(m, p), s, m.Config.MaxLen - 1}
}

// translate translates texts. Those without a word stay empty. For a text that is too long cut is called with
// its number and its pieces, of which the first maxLen are translated.
func (t *translator) translate(texts []string, cut func(i, pieces int)) []string {
	var srcs [][]int32
	var of []int // the text of each source
	for i, s := range texts {
		if strings.TrimSpace(s) == "" {
			continue
		}
		ids := t.src.Encode(nil, s)
		if len(ids) > t.maxLen {
			cut(i, len(ids))
			ids = ids[:t.maxLen]
		}
		srcs, of = append(srcs, ids), append(of, i)
	}
	out := make([]string, len(texts))
	for i, h := range t.decoder.Translate(srcs, t.search) {
		out[of[i]] = oneLine(t.tgt.Decode(h.Tokens))
	}
	return out
}
