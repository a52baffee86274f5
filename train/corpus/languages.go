package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
)

// targetCodes are the languages >>id<< that the sources of a tagged corpus begin with, and the
// tokens of each. nil is those of a corpus without.
type targetCodes map[string][]int32

// add adds the code of a pair of a text. known are the languages of a model that is trained
// further, or "". It ignores pairs of a corpus without codes.
func (c targetCodes) add(t *Text, p text.Pair, known model.Languages) error {
	if c == nil {
		return nil
	}
	code, _, found := model.CutLanguage(p.Source)
	if !found {
		return fmt.Errorf("%s: %s: found a source without a language, expected >>id<< at its begin, such as >>fra<<, as -tag says", t.Name, t.Place(p.Line))
	}
	if _, ok := c[code]; ok {
		return nil
	}
	if strings.ContainsAny(code, "=,") {
		return fmt.Errorf("%s: %s: found language %q, expected a code without = and a comma", t.Name, t.Place(p.Line), code)
	}
	var ids []int32
	if known != "" {
		language, err := known.Find("language", code)
		if err != nil {
			return fmt.Errorf("%s: %s: %w, those of the model", t.Name, t.Place(p.Line), err)
		}
		ids = language.IDs
	}
	c[strings.Clone(code)] = ids
	return nil
}

// tokenize sets the tokens of all codes, and returns the languages, by their names. The error names
// a language with more tokens than a model can have for one.
func (c targetCodes) tokenize(source text.Tokenizer) (model.Languages, error) {
	var list []model.Language
	for _, code := range slices.Sorted(maps.Keys(c)) {
		c[code] = source.Encode(nil, ">>"+code+"<<")
		list = append(list, model.Language{Code: code, IDs: c[code]})
	}
	languages := model.FormatLanguages(list)
	if n := len(languages.List()); n < len(list) {
		return "", fmt.Errorf("found language %q of %d pieces, expected up to %d: take a shorter code, such as one of ISO 639", list[n].Code, len(list[n].IDs), model.MaxLanguageIDs)
	}
	return languages, nil
}

// cut appends the tokens of the language that a source begins with to dst, and returns the text
// after it.
func (c targetCodes) cut(dst []int32, source string) (ids []int32, rest string) {
	if c == nil {
		return dst, source
	}
	code, rest, _ := model.CutLanguage(source)
	return append(dst, c[code]...), rest
}
