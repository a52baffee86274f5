package lang

import "strings"

// Tag is what a code says of a language. Two codes that say the same have equal Tags.
type Tag struct {
	Language string // code of ISO 639-3, or the given one in lower case if it has none; "" for none
	Script   string // of ISO 15924, such as Latn; "" if the code names none
	Region   string // with variants after it, in upper case; "" if the code names none
}

// Parse returns the parts of a code with hyphens or underscores: a tag, a code of ISO 639, or
// another code in use, such as zt.
func Parse(code string) (t Tag) {
	for i, part := range strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == '_' }) {
		switch {
		case i == 0:
			part = strings.ToLower(part)
			if isAlias(part) {
				t = Parse(languageOf[part])
			} else {
				t.Language = part
				for languageOf[t.Language] != "" && languageOf[t.Language] != t.Language {
					t.Language = languageOf[t.Language]
				}
			}
		case len(part) == 4 && part[0] >= 'A':
			t.Script = strings.ToUpper(part[:1]) + strings.ToLower(part[1:])
		case t.Region == "":
			t.Region = strings.ToUpper(part)
		default:
			t.Region += "-" + strings.ToUpper(part)
		}
	}
	if t.Language == "zho" && t.Script == "" {
		region, _, _ := strings.Cut(t.Region, "-")
		t.Script = chineseScripts[region]
	}
	return t
}

// isAlias reports whether a code is another name of a language in a script or a region.
func isAlias(code string) bool { return strings.Contains(languageOf[strings.ToLower(code)], "-") }

// Of returns the tag of a code, such as fr for fra_Latn, or "" if it has none.
func Of(code string) string { return Parse(code).String() }

// Primary returns the language of a code without script and region, that of ISO 639-1 if it has
// one: zh for zho_Hant, no for nb.
func Primary(code string) string { return Tag{Language: Parse(code).Language}.String() }

// String returns the BCP 47 tag, without the script if the language is usually written in it, or ""
// if t has none.
func (t Tag) String() string { return t.tag(false) }

// WithScript is String with the script of a language that is written in several, if t has one:
// zh-Hans for zho_Hans. It tells texts apart that a tag without a script does not.
func (t Tag) WithScript() string { return t.tag(true) }

func (t Tag) tag(script bool) string {
	tag := t.Language
	if short, ok := shortCodes[tag]; ok {
		tag = short
	}
	if usual := usualScripts[t.Language]; t.Script != "" && usual != "" && (script || t.Script != usual) {
		tag += "-" + t.Script
	}
	if t.Region != "" {
		tag += "-" + t.Region
	}
	tag, _ = Canonical(tag)
	return tag
}

// Script returns the script of a code of ISO 15924: the one that the code names, or that of the
// language, or "" if the language is unknown or written in several, such as Serbian.
func Script(code string) string {
	t := Parse(code)
	if t.Script != "" {
		return t.Script
	}
	return mainScripts[t.Language]
}
