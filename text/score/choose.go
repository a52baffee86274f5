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
	var characters [script.None + 1]int // by script
	words := 0
	for _, s := range references {
		inWord := false
		for _, r := range s {
			class := script.OfUnspaced(r)
			characters[class]++
			isLetter := class == script.None && unicode.IsLetter(r)
			if isLetter && !inWord {
				words++
			}
			inWord = isLetter || inWord && class == script.None && unicode.IsMark(r)
		}
	}
	han, kana, other := characters[script.Han], characters[script.Kana], characters[script.Unspaced]
	switch {
	case han+kana+other <= words:
		return Tok13a
	case other > han+kana, 10*kana >= han+kana:
		return TokChar
	}
	return TokZh
}
