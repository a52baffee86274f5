package parts

import (
	"cmp"
	"regexp"
	"strings"

	"tfm/lang"
	"tfm/model"
)

// AddTargets sets the languages of the targets in c if v, the source vocabulary whose side is s,
// has tokens that select one at the begin of a source, as >>fra<< of OPUS-MT.
func (s Side) AddTargets(c *model.Config, v *Vocabulary) {
	layout := map[model.SourceLayout]model.SourceLayout{model.EOSLast: model.ToFirst, model.NoMarks: model.ToText}[c.Source]
	list := s.Languages(v, func(token string) string {
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

// Languages returns the languages that tokens of v, whose side is s, select. code returns the code
// of a token, "" for others.
func (s Side) Languages(v *Vocabulary, code func(token string) string) (list []model.Language) {
	idOf := s.IDsOfRows()
	for row, token := range v.Tokens {
		if code := code(token); code != "" && !strings.ContainsAny(code, " =,") {
			ids := []int32{idOf[row]}
			if v.spellsCodes {
				ids = s.Tokenizer.Encode(nil, token)
			}
			if len(ids) > 0 && ids[0] > model.EOS {
				list = append(list, model.Language{Code: code, IDs: ids})
			}
		}
	}
	return list
}

// KnownLanguage returns the tag of a language, or "" for other names.
func KnownLanguage(name string) string {
	tag, err := lang.Canonical(name)
	if err != nil {
		return ""
	}
	return tag
}

// M2MPiecesFile is the tokenizer of M2M-100 and NLLB-200.
const M2MPiecesFile = "sentencepiece.bpe.model"

// m2mLanguage matches the token of a language: fra_Latn of NLLB-200, or __fr__ of M2M-100.
var m2mLanguage = regexp.MustCompile(`^(?:([a-z]{3}_[A-Z][a-z]{3})|__([a-z]{2,3})__)$`)

// M2MCode returns the code of the token of a language, "" for other tokens.
func M2MCode(token string) string {
	found := m2mLanguage.FindStringSubmatch(token)
	if found == nil {
		return ""
	}
	return cmp.Or(found[1], found[2])
}
