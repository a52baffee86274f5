package split

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"strings"

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

// minChunk is the least size of the memory into which Read reads, in bytes.
const minChunk = 1 << 16

// maxMaxRunes keeps windows within the memory of any machine.
const maxMaxRunes = 1 << 24

// Sentences returns the byte ranges of the sentences of s: ascending, not empty, without white
// space at their ends. All text between them is white space. It takes time linear in the length of
// s. Bytes that are not valid UTF-8 count as characters.
func Sentences(s string, o Options) []text.Range {
	var ranges []text.Range
	c := newScanner(o)
	for at := 0; at < len(s); {
		at += c.gap(c.cut(s[at:]))
		if n := c.sentence(c.cut(s[at:])); n > 0 {
			ranges = append(ranges, text.Range{Start: at, End: at + n})
			at += n
		}
	}
	return ranges
}

// Sentence is a sentence of a stream with the white space before it. Text is "" at the end of the
// stream and where the white space is long.
type Sentence struct{ Gap, Text string }

// Read splits the text of r into the sentences of Sentences. All strings concatenated are the text.
// Memory is bounded by a small multiple of the length limit. A read error is yielded after all
// sentences before it, and ends the sequence. The sequence can be ranged over once.
func Read(r io.Reader, o Options) iter.Seq2[Sentence, error] {
	return func(yield func(Sentence, error) bool) {
		c := newScanner(o)
		chunk := make([]byte, max(c.window, minChunk))
		var unread string
		var err error
		fill := func() {
			n := 0
			for len(unread)+n < c.window && err == nil {
				var m int
				m, err = r.Read(chunk[n:])
				n += m
			}
			unread += string(chunk[:n])
		}
		next := func(n int) string {
			s := strings.Clone(unread[:n])
			unread = unread[n:]
			return s
		}
		for fill(); unread != ""; fill() {
			var s Sentence
			s.Gap = next(c.gap(c.cut(unread)))
			fill()
			s.Text = next(c.sentence(c.cut(unread)))
			if !yield(s, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(Sentence{}, err)
		}
	}
}

// newScanner returns a scanner at the begin of a text.
func newScanner(o Options) *scanner {
	c := &scanner{words: wordsOf(o.Language), lines: o.Lines, maxRunes: cmp.Or(max(o.MaxRunes, 0), DefaultMaxRunes)}
	c.maxRunes = min(c.maxRunes, maxMaxRunes)
	c.window = 4*c.maxRunes + lookahead
	return c
}

// cut returns the window at the begin of s.
func (c *scanner) cut(s string) string { return s[:min(len(s), c.window)] }
