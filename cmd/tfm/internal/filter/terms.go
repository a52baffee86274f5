package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/text/script"
	"tfm/translate"
)

// Terms is the flag that sets the translations of terms.
type Terms struct{ File string }

// TermFlags declares the flag of Terms.
func TermFlags(f *cli.Flags) *Terms {
	t := new(Terms)
	f.StringVar(&t.File, "terms", "", "`file` of a term, a tab and its translation on each line; where a text has the term, the translation has that, even against -no-repeat")
	return t
}

// Apply sets the phrases of o.
func (t *Terms) Apply(o *translate.LineOptions, tr *translate.Translator) error {
	if t.File == "" {
		return nil
	}
	var list []term
	for pair, err := range (text.Files{Source: t.File}.Pairs()) {
		if err != nil {
			return err
		}
		if text.IsBlank(pair.Source) {
			return fmt.Errorf("%s:%d: found no term before the tab", t.File, pair.Line)
		}
		if err := tr.CheckPhrase(pair.Target); err != nil {
			return fmt.Errorf("%s:%d: %w", t.File, pair.Line, err)
		}
		list = append(list, term{strings.TrimSpace(pair.Source), strings.TrimSpace(pair.Target)})
	}
	slices.SortStableFunc(list, func(a, b term) int { return cmp.Compare(len(b.source), len(a.source)) })
	o.PhrasesOf = func(s string) []string { return phrasesOf(s, list) }
	return nil
}

// term is a term and its translation.
type term struct{ source, target string }

// phrasesOf returns the translations of the terms that s contains, without those that are only
// within a longer one. list is in descending order of the length of terms.
func phrasesOf(s string, list []term) (phrases []string) {
	inTerm := make([]bool, len(s)) // by byte
	for _, t := range list {
		found := false
		for from := 0; ; {
			i := strings.Index(s[from:], t.source)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(t.source)
			from = start + 1
			if isWord(s, start, end) && !inTerm[start] && !inTerm[end-1] {
				found = true
				for j := start; j < end; j++ {
					inTerm[j] = true
				}
			}
		}
		if found && !slices.Contains(phrases, t.target) {
			phrases = append(phrases, t.target)
		}
	}
	return phrases
}

// isWord reports whether s[start:end] neither begins nor ends within a word.
func isWord(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	first, _ := utf8.DecodeRuneInString(s[start:])
	last, _ := utf8.DecodeLastRuneInString(s[:end])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after))
}

// inWord reports whether r is a letter or digit of a script with spaces between words.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && script.OfUnspaced(r) == script.None
}
