package score

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Tokenizer is one of sacreBLEU's tokenizers, which split text into the tokens that BLEU counts.
type Tokenizer int

const (
	Auto    Tokenizer = iota // the choice of For; without it 13a
	Tok13a                   // WMT's mteval-v13a: sacreBLEU's default, for languages with spaces
	TokNone                  // splits at white space alone: for tokenized text
	TokChar                  // splits into characters
	TokZh                    // splits Chinese into characters and the rest as 13a
	TokIntl                  // mteval-v14: splits at Unicode's punctuation and symbols
)

var tokenizers = [...]struct {
	name     string
	separate func(string) string // inserts white space between tokens
}{
	Auto:    {"auto", separate13a},
	Tok13a:  {"13a", separate13a},
	TokNone: {"none", func(s string) string { return s }},
	TokChar: {"char", separateChars},
	TokZh:   {"zh", separateZh},
	TokIntl: {"intl", func(s string) string { return separateIntl(s) }},
}

// String returns sacreBLEU's name of the tokenizer, or auto for Auto.
func (t Tokenizer) String() string {
	if t < 0 || int(t) >= len(tokenizers) {
		return fmt.Sprintf("Tokenizer(%d)", int(t))
	}
	return tokenizers[t].name
}

// MarshalText returns the name of t, or an error if t is not one of the constants.
func (t Tokenizer) MarshalText() ([]byte, error) {
	name := []byte(t.String())
	return name, t.UnmarshalText(name)
}

// UnmarshalText sets t to the tokenizer with a name: auto, 13a, none, char, zh or intl.
func (t *Tokenizer) UnmarshalText(name []byte) error {
	for i, x := range tokenizers {
		if x.name == string(name) {
			*t = Tokenizer(i)
			return nil
		}
	}
	return fmt.Errorf("BLEU tokenizer %q: expected auto, 13a, none, char, zh or intl", name)
}

// Tokens returns the tokens of s. They are not empty and contain no white space.
func (t Tokenizer) Tokens(s string) []string {
	s = strings.TrimRightFunc(s, isPythonSpace)
	return strings.FieldsFunc(tokenizers[t].separate(s), isPythonSpace)
}

var entities = []string{"&quot;", `"`, "&amp;", "&", "&lt;", "<", "&gt;", ">"}

func decodeEntities(s string) string {
	// In this order, so that &amp;lt; becomes <.
	for e := range slices.Chunk(entities, 2) {
		s = strings.ReplaceAll(s, e[0], e[1])
	}
	return s
}

// replacements returns a function that replaces the matches of regular expressions in turn. Each is
// followed by its replacement.
func replacements(rules ...string) func(string) string {
	compiled := sync.OnceValue(func() (list []*regexp.Regexp) {
		for r := range slices.Chunk(rules, 2) {
			list = append(list, regexp.MustCompile(r[0]))
		}
		return list
	})
	return func(s string) string {
		for i, r := range compiled() {
			s = r.ReplaceAllString(s, rules[2*i+1])
		}
		return s
	}
}

var (
	// marks13a puts spaces around ASCII punctuation and symbols, of which ' , - . are left, then
	// beside periods and commas that are not between digits, and around dashes after digits.
	marks13a = replacements("([ -&(-+/:-@\\[-`{-~])", " $1 ",
		`([^0-9])([.,])`, "$1 $2 ", `([.,])([^0-9])`, " $1 $2", `([0-9])(-)`, "$1 $2 ")

	separateIntl = replacements(`(\P{N})(\p{P})`, "$1 $2 ", `(\p{P})(\P{N})`, " $1 $2", `(\p{S})`, " $1 ")

	// aroundZh puts spaces around the characters that sacreBLEU treats as Chinese: ideographs,
	// their parts and phonetics, and punctuation. For the ideographs from U+20000 to U+2A6D6
	// sacreBLEU has "\u20000" <= c <= "\u2a6d6", which are strings of two characters in Python, so
	// that it includes U+2001 to U+2A6D, general punctuation and symbols, instead. Equal scores
	// need the same ranges.
	aroundZh = replacements(`([\x{2001}-\x{2A6D}\x{2E80}-\x{2FDF}\x{2FF0}-\x{303F}\x{3100}-\x{312F}`+
		`\x{31A0}-\x{31EF}\x{3200}-\x{4DB5}\x{4E00}-\x{9FBB}\x{F900}-\x{FA2D}\x{FA30}-\x{FA6A}`+
		`\x{FA70}-\x{FAD9}\x{FE10}-\x{FE1F}\x{FE30}-\x{FE4F}\x{FF00}-\x{FFEF}])`, " $1 ")
)

func separate13a(s string) string {
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	return marks13a(" " + decodeEntities(s) + " ")
}

func separateChars(s string) string {
	return strings.Join(strings.Split(s, ""), " ")
}

func separateZh(s string) string { return marks13a(aroundZh(strings.TrimFunc(s, isPythonSpace))) }
