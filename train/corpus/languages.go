package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
	"tfm/text/vocab"
)

// affixes are the tokens of the languages of a corpus: by the >>id<< that the sources of a tagged
// one begin with, else those of "". nil is that of a corpus whose languages have no tokens.
type affixes map[string]model.Affixes

// addLanguage adds the language of the target of a pair of a tagged text.
func (s *Survey) addLanguage(t *Text, p text.Pair) error {
	if !s.Tagged {
		return nil
	}
	code, _, found := model.CutLanguage(p.Source)
	if !found {
		return fmt.Errorf("%s: %s: found a source without a language, expected >>id<< at its begin, such as >>fra<<, as -tag says", t.Name, t.Place(p.Line))
	}
	if _, ok := s.affixes[code]; ok {
		return nil
	}
	if strings.ContainsAny(code, "=,") {
		return fmt.Errorf("%s: %s: found language %q, expected a code without = and a comma", t.Name, t.Place(p.Line), code)
	}
	if s.Model.HasLanguages() {
		if _, err := s.Model.TgtLanguages.Find("language", code); err != nil {
			return fmt.Errorf("%s: %s: %w, those of the model", t.Name, t.Place(p.Line), err)
		}
	}
	s.affixes[strings.Clone(code)] = model.Affixes{}
	return nil
}

// languages sets the tokens of the languages of the training pairs, and returns those of the model,
// whose tokenizers are v. The error is a *model.FieldError for src_lang or tgt_lang if Model has no
// such language, or names a language with more tokens than a model can have for one.
func (s *Survey) languages(v vocab.Tokenizers) (src, tgt model.Languages, err error) {
	c := s.Model
	if !c.HasLanguages() {
		if !s.Tagged {
			return "", "", nil
		}
		var list []model.Language
		for _, code := range slices.Sorted(maps.Keys(s.affixes)) {
			list = append(list, model.Language{Code: code, IDs: v.Source.Encode(nil, ">>"+code+"<<")})
		}
		c.Source, c.TgtLanguages = model.ToFirst, model.FormatLanguages(list)
		if n := len(c.TgtLanguages.List()); n < len(list) {
			return "", "", fmt.Errorf("found language %q of %d pieces, expected up to %d: take a shorter code, such as one of ISO 639", list[n].Code, len(list[n].IDs), model.MaxLanguageIDs)
		}
	} else if !s.Tagged {
		s.affixes = affixes{"": {}}
	}
	from, err := language("src_lang", c.SrcLanguages, s.SrcLang)
	for code := range s.affixes {
		var to model.Language
		if err == nil {
			to, err = language("tgt_lang", c.TgtLanguages, cmp.Or(code, s.TgtLang))
		}
		s.affixes[code] = c.Affixes(from, to)
	}
	return c.SrcLanguages, c.TgtLanguages, err
}

// language returns the language of l with a code, the zero Language if l has none.
func language(field string, l model.Languages, code string) (model.Language, error) {
	if l == "" {
		return model.Language{}, nil
	}
	return l.Find(field, code)
}

// tagged reports whether the sources begin with >>id<<.
func (a affixes) tagged() bool {
	_, same := a[""]
	return a != nil && !same
}

// of returns the tokens of the languages of a pair with this source, and its text without >>id<<.
func (a affixes) of(source string) (model.Affixes, string) {
	if !a.tagged() {
		return a[""], source
	}
	code, rest, _ := model.CutLanguage(source)
	return a[code], rest
}

// encoder appends the ids of a sentence to ids.
type encoder = func(ids []int32, sentence string) []int32

// encode replaces ids by those of a pair, with the encoders of both sides. A side without a text
// has none.
func (a affixes) encode(ids *[2][]int32, source, target string, sides [2]encoder) {
	around, rest := a.of(source)
	ids[0] = wrap(ids[0][:0], around.Before, rest, sides[0], around.After)
	ids[1] = wrap(ids[1][:0], around.Begin, target, sides[1], nil)
}

func wrap(ids, before []int32, sentence string, encode encoder, after []int32) []int32 {
	ids = append(ids, before...)
	if ids = encode(ids, sentence); len(ids) == len(before) {
		return ids[:0]
	}
	return append(ids, after...)
}
