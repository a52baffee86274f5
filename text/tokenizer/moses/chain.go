package moses

import (
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/rewrite"
)

// Chain turns raw text into the words that byte-pair encodings of subword-nmt split, and such words
// into text. It is immutable and safe for concurrent use.
type Chain struct {
	language    string
	punctuation rewrite.Rules
	tokenizer   *tokenizer
}

// NewChain returns the Chain of a language, a code of Moses such as "en".
func NewChain(language string) *Chain {
	return &Chain{language, portedRules(language), newTokenizer(language)}
}

// Language returns the language of c.
func (c *Chain) Language() string { return c.language }

// Words returns the words of s, with a space between them.
func (c *Chain) Words(s string) string {
	words, _ := c.words(s, nil)
	return words
}

// WordsAt is like Words and also returns, for each byte, the offset of the character of s that it
// was made from. Offsets ascend.
func (c *Chain) WordsAt(s string) (words string, at []int32) { return c.words(s, []int32{}) }

func (c *Chain) words(s string, at []int32) (string, []int32) {
	s, origin := c.punctuation.Apply(s, at != nil)
	l := newLine(s)
	defer l.free()
	for i := range origin[:min(len(origin), len(l.chars))] {
		l.chars[i].at = int32(origin[l.chars[i].at])
	}
	c.tokenizer.tokenize(l)
	var b strings.Builder
	b.Grow(len(s) + len(s)/4)
	last := int32(0)
	write := func(c char) {
		b.WriteRune(c.r)
		last = max(last, c.at)
		for at != nil && len(at) < b.Len() {
			at = append(at, last)
		}
	}
	l.words(func(word []char) {
		if b.Len() > 0 {
			write(char{' ', word[0].at})
		}
		for _, c := range word {
			write(c)
		}
	})
	return b.String(), at
}

// Text returns the text of words with spaces between them.
func (c *Chain) Text(words string) string {
	l := newLine(words)
	defer l.free()
	detokenize(l, c.language)
	return l.String()
}

// TextOf returns the text of words in pieces, which one after another are words with spaces between
// them, and the end in the text of what each piece contributes.
func (c *Chain) TextOf(pieces []string) (text string, ends []int) {
	l := newLine("")
	defer l.free()
	for i, piece := range pieces {
		for _, r := range piece {
			l.chars = append(l.chars, char{r, int32(i)})
			l.may.add(r)
		}
	}
	detokenize(l, c.language)
	n := 0
	for _, c := range l.chars {
		for len(ends) < int(c.at) {
			ends = append(ends, n)
		}
		n += utf8.RuneLen(c.r)
	}
	for len(ends) < len(pieces) {
		ends = append(ends, n)
	}
	return l.String(), ends
}

// Begin returns text that the text of words and of any further words begins with. The last word may
// be incomplete.
func (c *Chain) Begin(words string) string {
	const dash = "@-@"
	if c.language == "cs" {
		return "" // what follows decides about numbers
	}
	list := strings.Fields(words)
	n := max(len(list)-1, 0)
	for n > 0 && (list[n] == dash || list[n-1] == dash) {
		n-- // a dash joins words, to which other rules apply then
	}
	return c.Text(strings.Join(list[:n], " "))
}
