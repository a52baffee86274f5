package script

import "unicode"

// unspaced are the scripts of Unicode without spaces between words.
var unspaced = []struct {
	script Script
	tables []*unicode.RangeTable
}{
	{Han, []*unicode.RangeTable{unicode.Han, unicode.Bopomofo}},
	{Kana, []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{Unspaced, []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham}},
}

// OfUnspaced returns the script of a character if it has no spaces between words, and None for
// other characters. Of is faster, but assigns whole pages of characters: OfUnspaced also knows 々
// and half-width kana, and leaves out punctuation.
func OfUnspaced(r rune) Script {
	const first = '\u0E00' // Thai
	if r < first {
		return None
	}
	for _, u := range unspaced {
		if unicode.In(r, u.tables...) {
			return u.script
		}
	}
	return None
}
