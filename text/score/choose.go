package score

import "unicode"

// unspacedScripts are the scripts that put no spaces between words, other than those of Chinese and
// Japanese.
var unspacedScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham}

// For returns t, or if that is Auto the tokenizer that suits the language of the references:
//
//	zh    Chinese
//	char  Japanese, and the scripts of Thailand, Laos, Cambodia, Myanmar and Tibet
//	13a   everything else, Korean too, as it has spaces between words
//
// A text is of a language without spaces if it has more characters of its scripts than words of
// others, and Japanese if at least a tenth of its Chinese and Japanese characters are kana.
// sacreBLEU cuts Japanese into words with MeCab, which is not available here.
func (t Tokenizer) For(references []string) Tokenizer {
	if t != Auto {
		return t
	}
	var han, kana, other, words int
	for _, s := range references {
		inWord := false
		for _, r := range s {
			switch {
			case r >= '\u0E00' && unicode.In(r, unicode.Han, unicode.Bopomofo): // Thai is the first of these scripts
				han++
			case r >= '\u0E00' && unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case r >= '\u0E00' && unicode.In(r, unspacedScripts...):
				other++
			case unicode.IsLetter(r):
				if !inWord {
					words++
				}
				inWord = true
				continue
			case unicode.IsMark(r):
				continue
			}
			inWord = false
		}
	}
	switch {
	case han+kana+other <= words:
		return Tok13a
	case other > han+kana, 10*kana >= han+kana:
		return TokChar
	}
	return TokZh
}
