package subword

import (
	"strings"
	"unicode/utf8"

	"tfm/text/tokenizer/internal/merges"
)

// encoder is the reusable scratch memory of splitting words. It is not safe for concurrent use.
type encoder struct {
	codes      *Codes
	vocabulary *Vocabulary // nil without
	word       *merges.Word
	list       []int // ends of the segments
	key        []byte
}

func newEncoder(c *Codes, v *Vocabulary) *encoder {
	return &encoder{codes: c, vocabulary: v, word: merges.NewWord(c.table)}
}

// segments returns the ends of the segments of a word, which must not be empty. They are valid
// until the next call.
func (e *encoder) segments(word string) []int {
	e.list = e.list[:0]
	if _, size := utf8.DecodeRuneInString(word); size == len(word) {
		return append(e.list, size)
	}
	e.split(word)
	e.word.Apply(true)
	begin := 0
	for i := int32(0); i != merges.None; i = e.word.Symbols[i].Next {
		end := begin + int(e.word.Symbols[i].Length)
		if e.vocabulary == nil {
			e.list = append(e.list, end)
		} else {
			e.appendKnown(word[begin:end], begin, end == len(word))
		}
		begin = end
	}
	return e.list
}

// split makes the characters of a word its symbols, the last with the end of the word.
func (e *encoder) split(word string) {
	e.word.Reset()
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		e.key = append(e.key[:0], word[i:i+size]...)
		if i += size; i == len(word) {
			e.key = append(e.key, endOfWord...)
		}
		id, ok := e.codes.symbols[string(e.key)]
		if !ok {
			id = merges.None
		}
		e.word.Append(id, size)
	}
}

// appendKnown appends the segment s of a word, which begins at an offset, or if the vocabulary
// lacks it, the segments into which reversing merges splits it. isLast reports whether it ends the
// word.
func (e *encoder) appendKnown(s string, offset int, isLast bool) {
	if e.vocabulary.find(s, isLast) >= 0 {
		e.list = append(e.list, offset+len(s))
		return
	}
	e.key = append(e.key[:0], s...)
	if isLast {
		e.key = append(e.key, endOfWord...)
	}
	parts, ok := e.codes.parts[string(e.key)]
	left, right := parts[0], parts[1]
	if ok && isLast {
		right, ok = strings.CutSuffix(right, endOfWord)
	}
	if !ok || right == "" {
		e.list = append(e.list, offset+len(s))
		return
	}
	e.appendKnown(s[:len(left)], offset, false)
	e.appendKnown(s[len(left):], offset+len(left), isLast)
}
