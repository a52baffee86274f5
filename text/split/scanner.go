package split

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookahead is the number of bytes after a stop that the rules may read.
const lookahead = 1024

// The limits of the text in brackets within which sentences do not end.
const (
	maxBracket = 600 // bytes
	maxOpen    = 8   // opening brackets
)

// scanner finds the gaps and sentences of a text one after another. It looks for the end of a
// sentence in a window, whose end is that of the text if it has fewer than window bytes.
type scanner struct {
	words    *words
	lines    bool
	maxRunes int
	window   int // bytes

	column int // of the next character in its line
	widest int // columns of the widest line of the paragraph that has ended
}

// gap returns the length of the white space at the begin of s.
func (c *scanner) gap(s string) int {
	n := len(s) - len(strings.TrimLeftFunc(s, isSpace))
	c.advance(s[:n])
	return n
}

// advance moves the column past s.
func (c *scanner) advance(s string) {
	for {
		i := strings.IndexAny(s, lineBreaks)
		if i < 0 {
			c.column += columns(s)
			return
		}
		n := lineBreak(s[i:])
		c.widest = max(c.widest, c.column+columns(s[:i]))
		if isBlankStart(s[i+n:]) {
			c.widest = 0
		}
		c.column, s = 0, s[i+n:]
	}
}

// isBlankStart reports whether s begins with a blank line that has an end.
func isBlankStart(s string) bool {
	return lineBreak(strings.TrimLeftFunc(s, func(r rune) bool { return isSpace(r) && !isLineBreak(r) })) > 0
}

// columns returns the width of s, where a character of Chinese or Japanese has two columns.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if isCJK(r) {
			n++
		}
	}
	return n
}

const lineBreaks = "\n\r\v\f\u0085\u2028\u2029"

func isLineBreak(r rune) bool { return strings.ContainsRune(lineBreaks, r) }

// lineBreak returns the length of the line break at the begin of s, 0 if there is no line break.
func lineBreak(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	if r, size := utf8.DecodeRuneInString(s); isLineBreak(r) {
		return size
	}
	return 0
}

// white returns the length of the white space at the begin of s and the number of its line breaks.
// A form feed and a paragraph separator count as two.
func white(s string) (n, breaks int) {
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !isSpace(r) {
			break
		}
		if b := lineBreak(s[n:]); b > 0 {
			size = b
			if breaks++; r == '\f' || r == '\u2029' {
				breaks++
			}
		}
		n += size
	}
	return n, breaks
}

// sentence is the state of the search for the end of a sentence.
type sentence struct {
	*scanner
	w        string // window, from the begin of the sentence
	closed   int    // offset at which brackets that are open close; 0 if none are open
	lower    bool   // the first letter is lower-case
	upper    bool   // has a letter that is upper-case
	skip     int    // offset before which stops were examined
	thai     bool   // has a Thai letter
	maxBreak int    // offset before which line breaks were examined
}

// sentence returns the length of the sentence at the begin of w, which is not empty and does not
// begin with white space.
func (c *scanner) sentence(w string) int {
	s := sentence{scanner: c, w: w}
	n := s.end()
	c.advance(w[:n])
	return n
}

// end returns the end of the sentence.
func (s *sentence) end() int {
	w := s.w
	runes := 0
	for i := 0; i < len(w); runes++ {
		if runes == s.maxRunes {
			return s.cutBefore(i)
		}
		if c := w[i]; 'a' <= c && c <= 'z' { // the most frequent case
			s.lower = s.lower || !s.upper
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(w[i:])
		switch {
		case isSpace(r):
			if end := s.atSpace(i); end > 0 {
				return end
			}
		case i >= s.skip && s.stopAt(i) != noStop:
			end, next := s.atStop(i)
			if end > 0 && runes+utf8.RuneCountInString(w[i:end]) <= s.maxRunes {
				return end
			}
			s.skip = next
		case closerOf(r) != 0:
			s.open(i, r)
		case isUpper(r):
			s.upper = true
		case isLower(r):
			s.lower = s.lower || !s.upper
		case r >= 0x0E01 && r <= 0x0E7F:
			s.thai = true
		}
		i += size
	}
	return len(strings.TrimRightFunc(w, isSpace))
}

// open remembers the end of the brackets that r opens at i, unless they are within others, do not
// close, or hold the begin of the sentence, which corner brackets may begin.
func (s *sentence) open(i int, r rune) {
	if i < s.closed || i == 0 && r != '「' && r != '『' {
		return
	}
	closer, depth, openers := closerOf(r), 0, 0
	text := s.w[i:min(len(s.w), i+maxBracket)]
	for k, c := range text {
		switch {
		case closerOf(c) != 0:
			if openers++; openers > maxOpen {
				return
			}
			if c == r {
				depth++
			}
		case c == closer:
			if depth--; depth == 0 {
				s.closed = i + k
				return
			}
		case isSpace(c) && lineBreak(text[k:]) > 0:
			if n, breaks := white(text[k:]); s.lines || breaks > 1 || s.isMarker(i+k+n) {
				return
			}
		}
	}
}

// atSpace returns the end of the sentence if the white space at i ends it, otherwise 0.
func (s *sentence) atSpace(i int) int {
	if i < s.maxBreak {
		return 0
	}
	n, breaks := white(s.w[i:])
	s.maxBreak = i + n
	switch {
	case i+n == len(s.w):
		return i
	case breaks > 0 && s.breakEnds(i, i+n, breaks):
		return i
	case s.thai && slices.ContainsFunc(thaiParticles, func(p string) bool { return strings.HasSuffix(s.w[:i], p) }):
		return i
	}
	return 0
}

// thaiParticles end most polite sentences of Thai, which has no stops.
var thaiParticles = []string{"ครับ", "ค่ะ", "คะ"}

// minWrapped is the least number of columns of a line that a program wraps.
const minWrapped = 30

// breakEnds reports whether line breaks in the white space from end to next end a sentence.
func (s *sentence) breakEnds(end, next, breaks int) bool {
	w := s.w
	switch {
	case s.lines || breaks > 1:
		return true
	case s.isMarker(next):
		return true
	case end < s.closed:
		return false
	case isLower(firstRune(w[next:])):
		return false
	}
	lineStart, column := 0, s.column
	if i := strings.LastIndexAny(w[:end], lineBreaks); i >= 0 {
		_, size := utf8.DecodeRuneInString(w[i:])
		lineStart, column = i+size, 0
	}
	width := column + columns(w[lineStart:end])
	line := w[next:]
	if i := strings.IndexAny(line, lineBreaks); i >= 0 {
		line = line[:i]
	}
	widest := max(width, columns(line), s.widest)
	if widest < minWrapped {
		return true
	}
	word := line
	if i := strings.IndexFunc(line, func(r rune) bool { return isSpace(r) || isCJK(r) }); i > 0 {
		word = line[:i]
	} else if i == 0 {
		word = line[:min(len(line), 3)]
	}
	return width+1+columns(word) <= widest*7/8
}

// cutBefore returns the end of a part of a sentence that exceeds the length limit at i.
func (s *sentence) cutBefore(i int) int {
	w := s.w[:i]
	space := 0
	for end := len(w); end > len(w)/2; {
		r, size := utf8.DecodeLastRuneInString(w[:end])
		isLast := end == len(w)
		switch {
		case isSpace(r):
			if space == 0 && len(strings.TrimRightFunc(w[:end], isSpace)) > 0 {
				space = end - size
			}
			if r := lastRune(w[:end-size]); isClauseEnd(r) {
				return len(strings.TrimRightFunc(w[:end-size], isSpace))
			}
		case isCJK(r) && isClauseEnd(r) && !isLast:
			return end
		}
		end -= size
	}
	if space > 0 {
		return len(strings.TrimRightFunc(w[:space], isSpace))
	}
	end := i
	for k := 0; k < 32 && end > 0 && isJoined(s.w, end); k++ {
		_, size := utf8.DecodeLastRuneInString(w[:end])
		end -= size
	}
	if end == 0 || isJoined(s.w, end) {
		end = i
	}
	return len(strings.TrimRightFunc(w[:end], isSpace))
}

// isJoined reports whether the characters before and at i belong together.
func isJoined(w string, i int) bool {
	r := firstRune(w[i:])
	return i < len(w) && (unicode.IsMark(r) || r == '\u200D' || lastRune(w[:i]) == '\u200D' || isSpace(r) && i == 0)
}
