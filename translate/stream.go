package translate

import (
	"context"
	"unicode/utf8"

	"tfm/model/decode"
	"tfm/text"
)

// nBest returns the list of translations of each source. It calls r.Certain, where indices are
// those of the sources in r.Texts.
func (t *Translator) nBest(ctx context.Context, srcs [][]int32, indices []int, r *Request) ([][]decode.Hypothesis, error) {
	if r.Certain == nil {
		return t.engine.NBest(ctx, srcs, r.Decode)
	}
	ids := make([][]int32, len(srcs))   // that are certain
	passed := make([]string, len(srcs)) // text that was passed to r.Certain
	lists := make([][]decode.Hypothesis, len(srcs))
	pass := func(i int, s string) {
		if n := len(passed[i]); len(s) > n && !r.isKept(indices[i]) {
			passed[i] = s
			r.Certain(indices[i], s[n:])
		}
	}
	err := t.engine.Stream(ctx, srcs, r.Decode, func(i int, token int32) {
		ids[i] = append(ids[i], token)
		s, _ := text.OneLine(completeCharacters(decodeBegin(t.tokenizers.Target, ids[i])))
		pass(i, s)
	}, func(i int, list []decode.Hypothesis) {
		lists[i] = list
		s, _ := text.OneLine(t.tokenizers.Target.Decode(list[0].Tokens))
		pass(i, s)
	})
	return lists, err
}

// decodeBegin returns the begin of a translation that begins with ids.
func decodeBegin(t text.Tokenizer, ids []int32) string {
	if p, ok := t.(text.PartialDecoder); ok {
		return p.DecodeBegin(ids)
	}
	return t.Decode(ids)
}

// completeCharacters returns s without a part of a character at its end.
func completeCharacters(s string) string {
	for i := len(s) - 1; i >= max(0, len(s)-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}
