package model

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const languageForm = "a BCP 47 language tag, language[-script][-region][-variant…] without a duplicate variant, such as en, zh-Hant or pt-BR"

// languageTag matches a tag: the language, then script, region and variants with their hyphens. It
// lists letters of both cases because (?i) would also match letters outside ASCII, such as the
// Kelvin sign for k.
var languageTag = regexp.MustCompile(`^([A-Za-z]{2,8})(-[A-Za-z]{4})?(-[A-Za-z]{2}|-[0-9]{3})?((?:-[A-Za-z0-9]{5,8}|-[0-9][A-Za-z0-9]{3})*)$`)

// CanonicalLanguage returns a language tag in the case that BCP 47 recommends: en, zh-Hant, pt-BR,
// de-CH-1996. The tag must be well-formed (RFC 5646, section 2.1); whether its subtags are
// registered is not checked. CanonicalLanguage accepts
//
//	language   2 to 8 letters              in lower case
//	script     4 letters                   in title case; optional
//	region     2 letters or 3 digits       in upper case; optional
//	variants   5 to 8 letters and digits,  in lower case; any number, no duplicates
//	           or a digit and 3 of them
//
// and returns an error for the rest of that grammar: extended languages (yue, not zh-yue),
// extensions, private use, and "_" as a separator. It accepts a grandfathered tag only in this
// form, for example art-lojban; most of the others have a replacement, such as tlh for i-klingon.
func CanonicalLanguage(tag string) (string, error) {
	parts := languageTag.FindStringSubmatch(tag)
	if parts == nil {
		return "", fmt.Errorf("found %.80q, expected %s", tag, languageForm)
	}
	language, script, region, variants := strings.ToLower(parts[1]), parts[2], strings.ToUpper(parts[3]), strings.ToLower(parts[4])
	list := strings.Split(variants, "-")
	slices.Sort(list)
	if len(slices.Compact(list)) < strings.Count(variants, "-")+1 {
		return "", fmt.Errorf("found %.80q, expected %s", tag, languageForm)
	}
	if script != "" {
		script = strings.ToUpper(script[:2]) + strings.ToLower(script[2:])
	}
	return language + script + region + variants, nil
}

// CanonicalLanguages returns the canonical tags of a source and a target language. A language may
// be "", unknown. The error is a *FieldError for src_lang or tgt_lang.
func CanonicalLanguages(src, tgt string) (string, string, error) {
	for _, lang := range []struct {
		field string
		tag   *string
	}{{keySrcLang, &src}, {keyTgtLang, &tgt}} {
		if *lang.tag == "" {
			continue
		}
		tag, err := CanonicalLanguage(*lang.tag)
		if err != nil {
			return "", "", &FieldError{lang.field, *lang.tag, languageForm}
		}
		*lang.tag = tag
	}
	return src, tgt, nil
}

// NamedLanguages is CanonicalLanguages for what people name languages by, which may also be a code
// of a model: eng_Latn, or >>fra<<.
func NamedLanguages(src, tgt string) (string, string, error) {
	for _, code := range []*string{&src, &tgt} {
		inner, _, found := CutLanguage(*code)
		if found || strings.Contains(*code, "_") {
			*code = cmp.Or(ScriptTag(cmp.Or(inner, *code)), *code)
		}
	}
	return CanonicalLanguages(src, tgt)
}
