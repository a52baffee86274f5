package score

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
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
	TokIntl: {"intl", separateIntl},
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

// UnmarshalText sets t to the tokenizer with a name: auto, 13a, none, char, zh or intl. The error
// is errors.ErrUnsupported for another tokenizer of sacreBLEU.
func (t *Tokenizer) UnmarshalText(name []byte) error {
	for i, x := range tokenizers {
		if x.name == string(name) {
			*t = Tokenizer(i)
			return nil
		}
	}
	if instead, ok := unsupported[string(name)]; ok {
		return unsupportedError{string(name), instead}
	}
	return fmt.Errorf("BLEU tokenizer %q: expected auto, 13a, none, char, zh or intl", name)
}

// unsupportedError says what to do without a tokenizer.
type unsupportedError struct{ name, instead string }

func (e unsupportedError) Error() string {
	return fmt.Sprintf("BLEU tokenizer %q is not built in: %s", e.name, e.instead)
}

func (unsupportedError) Unwrap() error { return errors.ErrUnsupported }

// unsupported has sacreBLEU's other tokenizers, which need a dictionary or a model, and what gives
// the same score.
var unsupported = map[string]string{
	"ja-mecab":  "split all files with 'mecab -Owakati' and the dictionary IPA and use none, or use char",
	"ko-mecab":  "split all files with 'mecab -Owakati' and mecab-ko-dic and use none, or use 13a",
	"spm":       splitWithModel,
	"flores101": splitWithModel,
	"flores200": splitWithModel,
	"spBLEU-1K": splitWithModel,
}

const splitWithModel = "split all files with its model, 'spm_encode --model=FILE', and use none"

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

func separate13a(s string) string {
	s = strings.ReplaceAll(s, "<skipped>", "")
	s = strings.ReplaceAll(s, "-\n", "")
	s = strings.ReplaceAll(s, "\n", " ")
	return splitNumbers(surround(" "+decodeEntities(s)+" ", isMark13a))
}

// isMark13a reports whether r is a space or ASCII punctuation or symbol except ' , - .
func isMark13a(r rune) bool {
	return ' ' <= r && r <= '&' || '(' <= r && r <= '+' || r == '/' || ':' <= r && r <= '@' || '[' <= r && r <= '`' || '{' <= r && r <= '~'
}

// splitNumbers separates periods and commas that are not between digits, and dashes after digits.
func splitNumbers(s string) string {
	s = splitPairs(s, notDigit, isStop, "", " ")
	s = splitPairs(s, isStop, notDigit, " ", "") // in the output of the first
	return splitPairs(s, isDigit, func(r rune) bool { return r == '-' }, "", " ")
}

func isDigit(r rune) bool  { return '0' <= r && r <= '9' }
func notDigit(r rune) bool { return !isDigit(r) }
func isStop(r rune) bool   { return r == '.' || r == ',' }

func separateChars(s string) string {
	return strings.Join(strings.Split(s, ""), " ")
}

func separateZh(s string) string {
	s = surround(strings.TrimFunc(s, isPythonSpace), func(r rune) bool { return unicode.Is(zh, r) })
	return splitNumbers(surround(s, isMark13a))
}

// zh has the characters that sacreBLEU treats as Chinese. For the ideographs from U+20000 to
// U+2A6D6 sacreBLEU has "\u20000" <= c <= "\u2a6d6", which are strings of two characters in Python,
// so that it includes U+2001 to U+2A6D, general punctuation and symbols, instead. Equal scores need
// the same ranges.
var zh = &unicode.RangeTable{R16: []unicode.Range16{
	{0x2001, 0x2A6D, 1},
	{0x2E80, 0x2FDF, 1}, // radicals
	{0x2FF0, 0x303F, 1}, // structure, punctuation
	{0x3100, 0x312F, 1}, // phonetic
	{0x31A0, 0x31EF, 1}, // phonetic, strokes
	{0x3200, 0x4DB5, 1}, // symbols, ideographs
	{0x4E00, 0x9FBB, 1},
	{0xF900, 0xFA2D, 1},
	{0xFA30, 0xFA6A, 1},
	{0xFA70, 0xFAD9, 1},
	{0xFE10, 0xFE1F, 1},
	{0xFE30, 0xFE4F, 1},
	{0xFF00, 0xFFEF, 1}, // full width
}}

func separateIntl(s string) string {
	notNumber := func(r rune) bool { return !unicode.IsNumber(r) }
	s = splitPairs(s, notNumber, unicode.IsPunct, "", " ")
	s = splitPairs(s, unicode.IsPunct, notNumber, " ", "")
	return surround(s, unicode.IsSymbol)
}
