package score

import (
	"strings"
	"unicode"
)

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
			s = surround(s, func(r rune) bool { return unicode.In(r, chinese, asianMarks) })
		}
	}
	if t.NoPunctuation {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune(`.,?:;!"()`, r) || t.AsianSupport && unicode.Is(asianMarks, r) {
				return -1
			}
			return r
		}, s)
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

// chinese has the characters that sacreBLEU treats as Chinese for TER.
var chinese = &unicode.RangeTable{R16: []unicode.Range16{
	{0x2E80, 0x2EFF, 1}, // radicals
	{0x31C0, 0x31EF, 1}, // strokes
	{0x3200, 0x4DBF, 1}, // enclosed letters, ideographs
	{0x4E00, 0x9FFF, 1},
	{0xF900, 0xFAFF, 1}, // compatibility
	{0xFE30, 0xFE4F, 1},
}}

// asianMarks has Chinese, Japanese and full-width punctuation.
var asianMarks = &unicode.RangeTable{R16: []unicode.Range16{
	{0x3001, 0x3002, 1},
	{0x3008, 0x3011, 1},
	{0x3014, 0x301F, 1},
	{0x30FB, 0x30FB, 1},
	{0xFF01, 0xFF02, 1}, // ！＂
	{0xFF08, 0xFF09, 1}, // （）
	{0xFF0C, 0xFF0E, 2}, // ，．
	{0xFF1A, 0xFF1B, 1}, // ：；
	{0xFF1F, 0xFF1F, 1}, // ？
	{0xFF61, 0xFF65, 1},
}}
