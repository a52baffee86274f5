package convert

import (
	"strings"

	"tfm/model"
)

// addTargets sets the languages of the targets in c if v, the source vocabulary whose side is s,
// has tokens that select one at the begin of a source, as >>fra<< of OPUS-MT.
func (s side) addTargets(c *model.Config, v *vocabulary) {
	layout := map[model.SourceLayout]model.SourceLayout{model.EOSLast: model.ToFirst, model.NoMarks: model.ToText}[c.Source]
	list := s.languages(v, func(token string) string {
		code, isCode := strings.CutPrefix(token, ">>")
		if code, isCode = strings.CutSuffix(code, "<<"); isCode && strings.HasPrefix(token, ">>") {
			return code
		}
		return ""
	})
	if len(list) > 0 && layout != "" {
		c.Source, c.TgtLanguages = layout, model.FormatLanguages(list)
	}
}

// languages returns the languages that tokens of v, whose side is s, select. code returns the code
// of a token, "" for others.
func (s side) languages(v *vocabulary, code func(token string) string) (list []model.Language) {
	idOf := s.idsOfRows()
	for row, token := range v.tokens {
		if code := code(token); code != "" && !strings.ContainsAny(code, " =,") {
			ids := []int32{idOf[row]}
			if v.spellsCodes {
				ids = s.tokenizer.Encode(nil, token)
			}
			if len(ids) > 0 && ids[0] > model.EOS {
				list = append(list, model.Language{Code: code, IDs: ids})
			}
		}
	}
	return list
}
