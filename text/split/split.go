package split

import (
	"cmp"

	"tfm/text"
)

// Options are the options of splitting.
type Options struct {
	// Language is the language of the text as a BCP 47 tag, for example "en" or "pt-BR". "", or
	// a language without a list of abbreviations, is unknown.
	Language string

	// MaxRunes is the length limit of a sentence in characters. 0 is DefaultMaxRunes.
	MaxRunes int

	// Lines ends a sentence at each line break. Otherwise the lines of a paragraph may be
	// wrapped.
	Lines bool
}

// DefaultMaxRunes is the default length limit of a sentence in characters: about 150 words of an
// alphabet.
const DefaultMaxRunes = 1000

// maxMaxRunes keeps windows within the memory of any machine.
const maxMaxRunes = 1 << 24

// Sentences returns the byte ranges of the sentences of s: ascending, not empty, without white
// space at their ends. All text between them is white space. It takes time linear in the length of
// s. Bytes that are not valid UTF-8 count as characters.
func Sentences(s string, o Options) []text.Range {
	var ranges []text.Range
	c := newScanner(o)
	for at := c.gap(s); at < len(s); at += c.gap(s[at:]) {
		n := c.sentence(s[at:min(len(s), at+c.window)])
		ranges = append(ranges, text.Range{Start: at, End: at + n})
		at += n
	}
	return ranges
}

// newScanner returns a scanner at the begin of a text.
func newScanner(o Options) *scanner {
	c := &scanner{words: wordsOf(o.Language), lines: o.Lines, maxRunes: cmp.Or(max(o.MaxRunes, 0), DefaultMaxRunes)}
	c.maxRunes = min(c.maxRunes, maxMaxRunes)
	c.window = 4*c.maxRunes + lookahead
	return c
}
