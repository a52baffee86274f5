package score

import (
	"unicode"

	"tfm/text/script"
)

// For returns t, unless t is Auto. For Auto it returns the tokenizer for the language of the
// references:
//
//	zh    Chinese
//	char  Japanese and the languages of other scripts without spaces, such as Thai
//	13a   all others, including Korean, which has spaces between words
//
// A text has an unspaced language if it has more characters of unspaced scripts than words of other
// scripts. It is Japanese if at least a tenth of its Chinese and Japanese characters are kana.
// sacreBLEU splits Japanese into words with MeCab, which is not available here.
func (t Tokenizer) For(references []string) Tokenizer {
	if t != Auto {
		return t
	}
	var han, kana, other, words int
	for _, s := range references {
		inWord := false
		for _, r := range s {
			switch script.OfUnspaced(r) {
			case script.Han:
				han++
			case script.Kana:
				kana++
			case script.Unspaced:
				other++
			default:
				switch {
				case unicode.IsLetter(r):
					if !inWord {
						words++
					}
					inWord = true
					continue
				case unicode.IsMark(r):
					continue
				}
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
