package score

import "strings"

// tokens returns the tokens of s as sacreBLEU's version of Tercom's Normalizer makes them.
// sacreBLEU's rules for kana and for 's at the end are left out: they have no effect, because the
// text has a space at its start and its end when they apply.
func (t TER) tokens(s string) []string {
	s = strings.TrimRightFunc(s, isPythonSpace)
	if !t.CaseSensitive {
		s = pythonLower(s)
	}
	if t.Normalized {
		s = normalizeWestern(s)
		if t.AsianSupport {
			s = surround(s, func(r rune) bool { return isChinese(r) || isAsianMark(r) })
		}
	}
	if t.NoPunctuation {
		s = remove(s, func(r rune) bool { return strings.ContainsRune(`.,?:;!"()`, r) || t.AsianSupport && isAsianMark(r) })
	}
	return strings.FieldsFunc(s, isPythonSpace)
}

// referenceTokens returns the tokens of a reference, which sacreBLEU tokenizes twice. Possessives
// before punctuation, as in "That is Jim's.", then get tokens of their own, unlike those of
// hypotheses.
func (t TER) referenceTokens(s string) []string {
	tokens := t.tokens(s)
	if !t.Normalized { // the second pass would change nothing
		return tokens
	}
	return t.tokens(strings.Join(tokens, " "))
}

func normalizeWestern(s string) string {
	s = strings.ReplaceAll(s, "\n-", "")
	s = strings.ReplaceAll(s, "\n", " ")
	s = surround(" "+decodeEntities(s)+" ", isMark13a)
	return splitNumbers(strings.ReplaceAll(s, "'s ", " 's "))
}

// isChinese reports whether sacreBLEU treats r as Chinese for TER.
func isChinese(r rune) bool {
	switch {
	case 0x2E80 <= r && r <= 0x2EFF, // radicals
		0x31C0 <= r && r <= 0x31EF, // strokes
		0x3200 <= r && r <= 0x3F22, // sacreBLEU's limit; enclosed letters end at U+32FF
		0x3400 <= r && r <= 0x4DBF, // ideographs
		0x4E00 <= r && r <= 0x9FFF,
		0xF900 <= r && r <= 0xFAFF, // compatibility
		0xFE30 <= r && r <= 0xFE4F:
		return true
	}
	return false
}

// isAsianMark reports whether r is Chinese, Japanese or full-width punctuation.
func isAsianMark(r rune) bool {
	switch {
	case r == 0x3001, r == 0x3002, 0x3008 <= r && r <= 0x3011, 0x3014 <= r && r <= 0x301F, r == 0x30FB, 0xFF61 <= r && r <= 0xFF65:
		return true
	}
	return strings.ContainsRune("．，？：；！＂（）", r)
}
