package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tfm/lang"
)

// Languages lists the languages that a side of a model can be: code=id with spaces between them,
// each with its code as the model spells it and the id of the token that selects it, or several ids
// with commas between them. The ids are of the vocabulary of the place of the token: the source's,
// or for Config.TargetBegins the target's. A reader of package convert makes it with
// FormatLanguages:
//
//	languages := []model.Language{{Code: "fra_Latn", IDs: []int32{256057}}, …}
//	c.Source, c.TargetBegins = model.FromFirst, true
//	c.SrcLanguages = model.FormatLanguages(languages)
//	c.TgtLanguages = c.SrcLanguages
//
// A side of one language, which no token selects, has none; its language is in the Header.
type Languages string

// Language is a language of a model.
type Language struct {
	Code string  // as the model spells it, such as fra_Latn, zh or pob; without >> and <<
	IDs  []int32 // the tokens that select it, at least one
}

// Limits of Languages.
const (
	maxLanguages   = 1 << 12
	MaxLanguageIDs = 16 // tokens of a language
	maxCode        = 64 // bytes
)

// FormatLanguages returns the Languages of a list.
func FormatLanguages(list []Language) Languages {
	var b strings.Builder
	for i, l := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Code + "=")
		for k, id := range l.IDs {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(id)))
		}
	}
	return Languages(b.String())
}

// List returns the languages in their order. Of a malformed one it returns those before it; those
// of a valid Config are well-formed.
func (l Languages) List() []Language {
	list, _ := l.parse()
	return list
}

func (l Languages) parse() (list []Language, err error) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(string(l)) {
		code, ids, _ := strings.Cut(word, "=")
		language := Language{Code: code}
		for text := range strings.SplitSeq(ids, ",") {
			id, err := strconv.ParseUint(text, 10, 24)
			if err != nil || len(language.IDs) == MaxLanguageIDs {
				return list, fmt.Errorf("%.80q", word)
			}
			language.IDs = append(language.IDs, int32(id))
		}
		if code == "" || len(code) > maxCode || seen[code] || len(list) == maxLanguages {
			return list, fmt.Errorf("%.80q", word)
		}
		seen[code] = true
		list = append(list, language)
	}
	return list, nil
}

// validateLanguages reports the first invalid field of languages, as a *FieldError.
func (c Config) validateLanguages() error {
	if !slices.ContainsFunc(layouts, func(x layoutName) bool { return x.layout == c.Source }) {
		return &FieldError{"source_marks", string(c.Source), "one of " + layoutNames()}
	}
	tgtSize := c.SrcVocab
	if c.TargetBegins {
		tgtSize = c.TgtVocab
	}
	for _, side := range []struct {
		field     string
		languages Languages
		used      bool // a place has their tokens
		size      int  // of the vocabulary of that place
	}{
		{"src_languages", c.SrcLanguages, c.Source.has("from"), c.SrcVocab},
		{"tgt_languages", c.TgtLanguages, c.Source.has("to") != c.TargetBegins, tgtSize},
	} {
		list, err := side.languages.parse()
		switch {
		case err != nil:
			return &FieldError{side.field, err.Error(), fmt.Sprintf("up to %d different codes with ids, such as fra=256057 deu=256042", maxLanguages)}
		case side.used != (len(list) > 0):
			return &FieldError{side.field, fmt.Sprint(len(list), " languages"), "some if a source or a target has their tokens, and else none"}
		}
		for _, l := range list {
			if n := c.MaxSource() - 1; len(l.IDs) > n {
				return &FieldError{side.field, fmt.Sprintf("%s with %d ids", l.Code, len(l.IDs)), fmt.Sprintf("at most %d, because max_len is %d", n, c.MaxLen)}
			}
			for _, id := range l.IDs {
				if id <= EOS || int(id) >= side.size {
					return &FieldError{side.field, fmt.Sprintf("%s=%d", l.Code, id), fmt.Sprintf("ids from %d to %d", EOS+1, side.size-1)}
				}
			}
		}
	}
	return nil
}

// HasLanguages reports whether tokens select a language of a side.
func (c Config) HasLanguages() bool { return c.SrcLanguages != "" || c.TgtLanguages != "" }

// Affixes are the tokens that name the languages of a pair: before and after the text of its
// source, as in SourceLayout.Around, and at the begin of its target.
type Affixes struct{ Before, After, Begin []int32 }

// Affixes returns the tokens of a pair in two languages of c. The zero Language is that of a side
// that no token selects.
func (c Config) Affixes(from, to Language) (a Affixes) {
	if c.TargetBegins {
		a.Begin = to.IDs
	}
	a.Before, a.After = c.Source.Around(from.IDs, to.IDs)
	return a
}

// TargetBegin returns the tokens of the language that a target begins with, none unless
// c.TargetBegins.
func (c Config) TargetBegin(tgt []int32) (begin []int32) {
	if !c.TargetBegins {
		return nil
	}
	for _, l := range c.TgtLanguages.List() {
		if n := len(l.IDs); n > len(begin) && n <= len(tgt) && slices.Equal(l.IDs, tgt[:n]) {
			begin = l.IDs
		}
	}
	return begin
}

// Find returns the language that code names: the model's own spelling, also as >>code<<, a tag of
// BCP 47, or a code of ISO 639-1 or 639-3. A code without a script or a region prefers a language
// without one, then one in the usual script. The error of a code that is "", or that names none or
// several, is a *FieldError for field that lists the languages.
func (l Languages) Find(field, code string) (Language, error) {
	if code == "" {
		return Language{}, &FieldError{field, missing{}, l.Expected("")}
	}
	given := code
	if inner, ok := strings.CutPrefix(code, ">>"); ok {
		code = strings.TrimSuffix(inner, "<<")
	}
	list := l.List()
	for _, x := range list {
		if x.Code == code {
			return x, nil
		}
	}
	codes := make([]string, len(list))
	for i, x := range list {
		codes[i] = x.Code
	}
	var found []Language
	for _, i := range lang.Best(code, codes) {
		found = append(found, list[i])
	}
	switch len(found) {
	case 0:
		return Language{}, &FieldError{field, given, l.Expected(code)}
	case 1:
		return found[0], nil
	}
	return Language{}, &FieldError{field, given, "one of " + listCodes(found) + ", because it can be each"}
}

// missing is the Found of an error.
type missing struct{}

func (missing) String() string { return "missing" }

// Codes returns the codes of the languages with spaces between them.
func (l Languages) Codes() string { return listCodes(l.List()) }

// Expected returns what an error for a code, "" for none, says that it expected: all languages, or
// of many those whose codes begin alike.
func (l Languages) Expected(code string) string {
	const maxListed, maxExamples = 24, 8
	list := l.List()
	if len(list) <= maxListed {
		return "one of the languages " + listCodes(list)
	}
	n := len(list)
	isFar := func(x Language) bool { return !strings.HasPrefix(x.Code, code[:min(len(code), 2)]) }
	if near := slices.DeleteFunc(slices.Clone(list), isFar); len(near) > 0 {
		list = near
	}
	return fmt.Sprintf("one of the %d languages that 'tfm info' lists, such as %s", n, listCodes(list[:min(len(list), maxExamples)]))
}

func listCodes(list []Language) string {
	var b strings.Builder
	for i, l := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Code)
	}
	return b.String()
}
