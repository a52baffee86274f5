package score

import "unicode"

// unspacedScripts are the scripts without spaces between words, except those of Chinese and
// Japanese.
var unspacedScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham}

// For returns t, unless t is Auto. For Auto it returns the tokenizer for the language of the
// references:
//
//	zh    Chinese
//	char  Japanese and the languages of the scripts in unspacedScripts, such as Thai
//	13a   all others, including Korean, which has spaces between words
//
// A text has an unspaced language if it has more characters of unspaced scripts than words of other
// scripts. It is Japanese if at least a tenth of its Chinese and Japanese characters are kana.
// sacreBLEU splits Japanese into words with MeCab, which is not available here.
func (t Tokenizer) For(references []string) Tokenizer {
	if t != Auto {
		return t
	}
	const firstUnspaced = '\u0E00' // Thai; a fast test for most characters
	var han, kana, other, words int
	for _, s := range references {
		inWord := false
		for _, r := range s {
			switch {
			case r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Bopomofo):
				han++
			case r >= firstUnspaced && unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case r >= firstUnspaced && unicode.In(r, unspacedScripts...):
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
