package convert

import (
	"maps"
	"slices"
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

// studentMetadata is the part of a file of Firefox's models that is used.
type studentMetadata struct {
	SourceLanguage string `json:"sourceLanguage"`
	TargetLanguage string `json:"targetLanguage"`
}

// studentLanguages returns the languages of a model of Firefox, one of each side: those that
// metadata.json or data.json names, or those of a file's name, as in model.ende.intgemm.alphas.bin
// and lex.50.50.ende.s2t.bin. One of them is English.
func studentLanguages(f folder, name string) (src, tgt []string) {
	for _, file := range []string{marianMetadata, "data.json"} {
		var meta studentMetadata
		if f.readJSON(file, false, &meta) == nil && meta.SourceLanguage != "" && meta.TargetLanguage != "" {
			tag := func(name string) []string { return []string{strings.ReplaceAll(name, "_", "-")} }
			return tag(meta.SourceLanguage), tag(meta.TargetLanguage)
		}
	}
	names := []string{name}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if strings.HasPrefix(name, "lex.") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		for _, field := range strings.Split(strings.ReplaceAll(name, "_", "-"), ".")[1:] {
			if other, ok := strings.CutPrefix(field, "en"); ok && knownLanguage(other) != "" {
				return []string{"en"}, []string{other}
			}
			if other, ok := strings.CutSuffix(field, "en"); ok && knownLanguage(other) != "" {
				return []string{other}, []string{"en"}
			}
		}
	}
	return nil, nil
}
