package score

import (
	"strings"
	"unicode"
)

// isPythonSpace reports whether Python's str.split and str.strip treat r as white space.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

// pythonLower returns Python's s.lower(). It differs from strings.ToLower in two characters: İ
// becomes i with a combining dot, and Σ at the end of a word becomes ς.
func pythonLower(s string) string {
	if !strings.ContainsAny(s, "İΣ") {
		return strings.ToLower(s)
	}
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == 'İ':
			b.WriteString("i\u0307")
		case r == 'Σ' && endsWord(runes, i):
			b.WriteRune('ς')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// endsWord reports whether runes[i] meets Unicode's condition Final_Sigma: the nearest rune before
// it that is not case-ignorable is cased, and the nearest one after it is not.
func endsWord(runes []rune, i int) bool {
	before, after := i-1, i+1
	for before >= 0 && caseIgnorable(runes[before]) {
		before--
	}
	for after < len(runes) && caseIgnorable(runes[after]) {
		after++
	}
	return before >= 0 && cased(runes[before]) && (after == len(runes) || !cased(runes[after]))
}

// cased reports whether r has Unicode's property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable reports whether r has Unicode's property Case_Ignorable: marks, format characters,
// modifiers, and the Word_Break classes MidLetter, MidNumLet and Single_Quote.
func caseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:·\u0387\u055F\u05F4‘’\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A", r)
}
