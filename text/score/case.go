package score

import (
	"strings"
	"unicode"
)

// isPythonSpace is Python's str.isspace: what the scores split and strip by.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

// pythonLower is Python's str.lower. It differs from strings.ToLower in the two
// places where Unicode's full mapping does: İ keeps its dot as a combining mark,
// and a Σ that ends a word becomes ς.
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

// endsWord is Unicode's condition Final_Sigma for runes[i]: a cased letter comes
// before it and none after it, apart from runes that case ignores.
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

func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// caseIgnorable: marks, format characters and modifiers, and what stands between
// the letters of one word (Word_Break MidLetter, MidNumLet and Single_Quote).
func caseIgnorable(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) ||
		strings.ContainsRune("'.:·\u0387\u055F\u05F4‘’\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A", r)
}
