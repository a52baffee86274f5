package bpe

import (
	"fmt"
	"strings"
)

// WordPattern returns a regular expression whose matches, one after another, are the words of a
// text with a space before it, for programs that apply a Tokenizer in another language. It uses
// alternation, greedy counts, classes of characters with ranges such as \x{41}-\x{5A}, and negative
// lookahead, which package regexp lacks. The text must be valid UTF-8.
func WordPattern() string {
	var sets [joiner + 1]string
	for r := rune(0); r < 0x80; r++ {
		last := r
		for last+1 < 0x80 && asciiClass[last+1] == asciiClass[r] {
			last++
		}
		sets[asciiClass[r]] += hexRange(r, last)
		r = last
	}
	for _, c := range classRanges {
		sets[c.class] += hexRange(c.first, c.last)
	}
	// Above ASCII the letters are the characters without a range.
	notLetter := sets[digit] + sets[other] + sets[white]
	return strings.NewReplacer(
		"DIGIT", sets[digit], "OTHERS", sets[other]+sets[joiner], "OTHER", sets[other], "WHITE", sets[white],
		"NOT_LETTER", notLetter, "MORE", fmt.Sprint(maxWord-1),
	).Replace(` ?[^NOT_LETTER][^NOT_LETTER]{0,MORE}| ?[DIGIT]| ?[OTHER][OTHERS]{0,MORE}|[WHITE](?:(?! [^WHITE])[WHITE]){0,MORE}`)
}

// hexRange returns a range of characters in a class of a regular expression.
func hexRange(first, last rune) string {
	if first == last {
		return fmt.Sprintf(`\x{%X}`, first)
	}
	return fmt.Sprintf(`\x{%X}-\x{%X}`, first, last)
}
