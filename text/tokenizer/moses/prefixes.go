package moses

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed prefixes.txt
var prefixesFile string

// prefixes are the words of a language that keep the full stop after them: true for those that do
// only before a number.
type prefixes map[string]bool

// prefixesOf returns the prefixes of a language, those of English for an unknown one.
func prefixesOf(language string) prefixes {
	english := prefixes{}
	for s := range strings.Lines(prefixesFile) {
		languages, words, ok := strings.Cut(s, ": ")
		if !ok || strings.HasPrefix(s, "#") {
			continue
		}
		list := strings.Split(languages, ",")
		if slices.Contains(list, language) {
			return parsePrefixes(words)
		}
		if slices.Contains(list, "en") {
			english = parsePrefixes(words)
		}
	}
	return english
}

func parsePrefixes(words string) prefixes {
	p := prefixes{}
	for word := range strings.FieldsSeq(words) {
		lo, size := utf8.DecodeRuneInString(word)
		if hi, ok := strings.CutPrefix(word[size:], "-"); ok && utf8.RuneCountInString(hi) == 1 {
			last, _ := utf8.DecodeRuneInString(hi)
			for r := lo; r <= last; r++ {
				p[string(r)] = false
			}
			continue
		}
		word, numeric := strings.CutPrefix(word, "#")
		p[word] = numeric
	}
	return p
}
