package lang

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Form describes the tags that Canonical accepts, for errors.
const Form = "a BCP 47 language tag, language[-script][-region][-variant…] without a duplicate variant, such as en, zh-Hant or pt-BR"

// wellFormed matches a tag: the language, then script, region and variants with their hyphens. It
// lists letters of both cases because (?i) would also match letters outside ASCII, such as the
// Kelvin sign for k.
var wellFormed = regexp.MustCompile(`^([A-Za-z]{2,8})(-[A-Za-z]{4})?(-[A-Za-z]{2}|-[0-9]{3})?((?:-[A-Za-z0-9]{5,8}|-[0-9][A-Za-z0-9]{3})*)$`)

// Canonical returns a language tag in the case that BCP 47 recommends: en, zh-Hant, pt-BR,
// de-CH-1996. The tag must be well-formed (RFC 5646, section 2.1); whether its subtags are
// registered is not checked. Canonical accepts
//
//	language   2 to 8 letters              in lower case
//	script     4 letters                   in title case; optional
//	region     2 letters or 3 digits       in upper case; optional
//	variants   5 to 8 letters and digits,  in lower case; any number, no duplicates
//	           or a digit and 3 of them
//
// and returns "" and an error for the rest of that grammar: extended languages (yue, not zh-yue),
// extensions, private use, and "_" as a separator. It accepts a grandfathered tag only in this
// form, for example art-lojban; most of the others have a replacement, such as tlh for i-klingon.
func Canonical(tag string) (string, error) {
	parts := wellFormed.FindStringSubmatch(tag)
	if parts == nil {
		return "", fmt.Errorf("found %.80q, expected %s", tag, Form)
	}
	language, script, region, variants := strings.ToLower(parts[1]), parts[2], strings.ToUpper(parts[3]), strings.ToLower(parts[4])
	list := strings.Split(variants, "-")
	slices.Sort(list)
	if len(slices.Compact(list)) < strings.Count(variants, "-")+1 {
		return "", fmt.Errorf("found %.80q, expected %s", tag, Form)
	}
	if script != "" {
		script = strings.ToUpper(script[:2]) + strings.ToLower(script[2:])
	}
	return language + script + region + variants, nil
}

// Named is Canonical for what people name languages by, which may also be a code of a model or of
// another program: eng_Latn, >>fra<<, or zt.
func Named(name string) (string, error) {
	inner, _, found := CutCode(name)
	if found || strings.Contains(name, "_") || isAlias(name) {
		name = cmp.Or(Parse(cmp.Or(inner, name)).WithScript(), name)
	}
	return Canonical(name)
}

// maxCode is the limit of the bytes of a code in a text.
const maxCode = 64

// CutCode splits a text that begins with >>code<<, as those of OPUS-MT do, into the code and the
// rest without the spaces before it.
func CutCode(text string) (code, rest string, found bool) {
	after, found := strings.CutPrefix(text, ">>")
	if !found {
		return "", text, false
	}
	code, rest, found = strings.Cut(after, "<<")
	if !found || code == "" || len(code) > maxCode || strings.ContainsAny(code, " <>") {
		return "", text, false
	}
	return code, strings.TrimLeft(rest, " "), true
}
