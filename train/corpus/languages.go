package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tfm/lang"
	"tfm/model"
	"tfm/text"
	"tfm/text/tokenizer/vocab"
)

// affixes are the tokens of the languages of the pairs of a corpus. The zero value is that of a
// corpus whose languages have no tokens.
type affixes struct {
	tagged bool // each source begins with >>id<<, the language of its target
	of     map[languages]model.Affixes
}

// languages are codes of the languages of a pair, "" for those of Options: of a dataset of a Mix
// with its own, and of >>id<<.
type languages struct{ from, to string }

// languages returns the languages that the source names for its pairs itself.
func (s Dataset) languages() languages { return languages{s.SrcLang, s.TgtLang} }

// Unnamed returns the sampled pairs whose source, and those whose target, is in a language that no
// dataset names.
func (s *Survey) Unnamed() (sources, targets []text.Pair) {
	for i, p := range s.Sample {
		part, _ := s.Train.locate(i + 1)
		l := s.Train.dataset(part).languages()
		if l.from == "" {
			sources = append(sources, p)
		}
		if l.to == "" {
			targets = append(targets, p)
		}
	}
	return sources, targets
}

// cut splits a source sentence of a tagged corpus into the code of its language and the rest, and
// returns all of another one as the rest.
func (a affixes) cut(source string) (code, rest string) {
	if !a.tagged {
		return "", source
	}
	code, rest, _ = lang.CutCode(source)
	return code, rest
}

// split returns the languages of a pair of a part of the corpus with this source, and its text
// without >>id<<.
func (a affixes) split(part Dataset, source string) (languages, string) {
	l := part.languages()
	code, rest := a.cut(source)
	if a.tagged {
		l.to = code
	}
	return l, rest
}

// addLanguages adds the languages of a pair, which was read last.
func (s *Survey) addLanguages(t *Text, p text.Pair) error {
	if s.affixes.of == nil {
		return nil
	}
	l, rest := s.affixes.split(t.dataset(t.part()), p.Source)
	if _, ok := s.affixes.of[l]; ok || text.IsBlank(rest) {
		return nil
	}
	if s.affixes.tagged {
		switch {
		case l.to == "":
			return fmt.Errorf("%s: %s: found a source without a language, expected >>id<< at its begin, such as >>fra<<, as -tag says", t.Name, t.Place(p.Line))
		case strings.ContainsAny(l.to, "=,"):
			return fmt.Errorf("%s: %s: found language %q, expected a code without = and a comma", t.Name, t.Place(p.Line), l.to)
		case s.Model.HasLanguages():
			if _, err := s.Model.TgtLanguages.Find("language", l.to); err != nil {
				return fmt.Errorf("%s: %s: %w, those of the model", t.Name, t.Place(p.Line), err)
			}
		}
		l.to = strings.Clone(l.to)
	}
	s.affixes.of[l] = model.Affixes{}
	return nil
}

// Codes returns the sorted codes of the languages that the sources of a tagged corpus begin with.
func (s *Survey) Codes() (codes []string) {
	for l := range s.affixes.of {
		codes = append(codes, l.to)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// setAffixes sets the tokens of the languages of the training pairs, and returns the languages of
// the model, whose tokenizers are v. The error is a *model.FieldError for src_lang or tgt_lang if
// Model does not have that language, of Options. Other errors name a dataset's language, or one
// with more tokens than a model can have for it.
func (s *Survey) setAffixes(v vocab.Tokenizers) (src, tgt model.Languages, err error) {
	c := s.Model
	if !c.HasLanguages() {
		if !s.Tagged {
			return "", "", nil
		}
		var list []model.Language
		for _, code := range s.Codes() {
			list = append(list, model.Language{Code: code, IDs: v.Source.Encode(nil, ">>"+code+"<<")})
		}
		c.Source, c.TgtLanguages = model.ToFirst, model.FormatLanguages(list)
		if n := len(c.TgtLanguages.List()); n < len(list) {
			return "", "", fmt.Errorf("found language %q of %d pieces, expected up to %d: take a shorter code, such as one of ISO 639", list[n].Code, len(list[n].IDs), model.MaxLanguageIDs)
		}
	}
	for l := range s.affixes.of {
		from, fromErr := s.language("src_lang", c.SrcLanguages, l.from, s.SrcLang)
		to, toErr := s.language("tgt_lang", c.TgtLanguages, l.to, s.TgtLang)
		if err := cmp.Or(fromErr, toErr); err != nil {
			return "", "", err
		}
		s.affixes.of[l] = c.Affixes(from, to)
	}
	return c.SrcLanguages, c.TgtLanguages, nil
}

// language returns the language of l that a dataset names, or else Options; the zero Language if l
// has none.
func (s *Survey) language(field string, l model.Languages, own, other string) (model.Language, error) {
	if l == "" {
		return model.Language{}, nil
	}
	if own == "" || own == other {
		return l.Find(field, other)
	}
	found, err := l.Find(strings.ReplaceAll(field, "_", "-"), own)
	if err != nil {
		err = fmt.Errorf("%s: a dataset: %w", s.Train.Name, err)
	}
	return found, err
}

// encoder appends the ids of a sentence to ids.
type encoder = func(ids []int32, sentence string) []int32

// encode replaces ids by those of a pair of a part of the corpus, with the encoders of both sides.
// A side without a text has none.
func (a affixes) encode(ids *[2][]int32, part Dataset, source, target string, sides [2]encoder) {
	l, rest := a.split(part, source)
	around := a.of[l]
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
