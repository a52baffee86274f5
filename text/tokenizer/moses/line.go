package moses

import (
	"strings"
	"sync"
	"unicode"
)

// char is a character of a line, and the position of what it was made from: an offset in the
// source, or the index of a piece.
type char struct {
	r  rune
	at int32
}

// line is a line while rules replace characters.
type line struct {
	chars []char
	out   []char // of the rule that is being applied
	may   runeSet
}

var lines = sync.Pool{New: func() any { return new(line) }}

// newLine returns the line s, whose positions are offsets. Invalid bytes become U+FFFD.
func newLine(s string) *line {
	l := lines.Get().(*line)
	l.chars, l.out, l.may = l.chars[:0], l.out[:0], runeSet{}
	for i, r := range s {
		l.chars = append(l.chars, char{r, int32(i)})
		l.may.add(r)
	}
	return l
}

// free makes l available for other texts.
func (l *line) free() {
	if cap(l.chars)+cap(l.out) <= 1<<16 { // memory of longer lines is freed
		lines.Put(l)
	}
}

// runeSet is a superset of the characters that were added to it.
type runeSet [4]uint64

func (s *runeSet) add(r rune) {
	if r < 128 {
		s[r>>6] |= 1 << (r & 63)
	} else {
		s[2+r>>6&1] |= 1 << (r & 63)
	}
}

// has reports false only if r was not added.
func (s *runeSet) has(r rune) bool {
	if r < 128 {
		return s[r>>6]>>(r&63)&1 != 0
	}
	return s[2+r>>6&1]>>(r&63)&1 != 0
}

// swap ends a rule: what it wrote is the line.
func (l *line) swap() { l.chars, l.out = l.out, l.chars[:0] }

// write appends the characters of s at the position of c.
func (l *line) write(s string, c char) {
	for _, r := range s {
		l.out = append(l.out, char{r, c.at})
		l.may.add(r)
	}
}

// rewrite applies a rule. match is called where r is at i, in order, with the end of what the rule
// replaced last. It returns the end of what it replaces, after it appended that to l.out, or i.
func (l *line) rewrite(r rune, match func(i, last int) int) {
	if !l.may.has(r) {
		return
	}
	last := 0
	for i := 0; i < len(l.chars); {
		if l.chars[i].r == r {
			if end := match(i, last); end > i {
				i, last = end, end
				continue
			}
		}
		l.out = append(l.out, l.chars[i])
		i++
	}
	l.swap()
}

// rule replaces a string.
type rule struct {
	old []rune
	new string
}

// rulesOf returns rules that replace the first of each two strings by the second.
func rulesOf(list ...string) (rules []rule) {
	for i := 0; i < len(list); i += 2 {
		rules = append(rules, rule{[]rune(list[i]), list[i+1]})
	}
	return rules
}

// replace applies rules in turn.
func (l *line) replace(rules []rule) {
	for _, u := range rules {
		if !l.mayHave(u.old) {
			continue
		}
		l.rewrite(u.old[0], func(i, _ int) int {
			if !l.hasAt(i, u.old) {
				return i
			}
			l.write(u.new, l.chars[i])
			return i + len(u.old)
		})
	}
}

// mayHave reports false only if l lacks a character of s.
func (l *line) mayHave(s []rune) bool {
	for _, r := range s {
		if !l.may.has(r) {
			return false
		}
	}
	return true
}

// hasAt reports whether s is at i.
func (l *line) hasAt(i int, s []rune) bool {
	if len(l.chars)-i < len(s) {
		return false
	}
	for k, r := range s {
		if l.chars[i+k].r != r {
			return false
		}
	}
	return true
}

// run returns the end of the characters of set from i.
func (l *line) run(i int, set func(rune) bool) int {
	for i < len(l.chars) && set(l.chars[i].r) {
		i++
	}
	return i
}

// joinSpaces makes each run of characters of isSpace one space.
func (l *line) joinSpaces(isSpace func(rune) bool) {
	for i := 0; i < len(l.chars); {
		end := l.run(i, isSpace)
		if end == i {
			l.out = append(l.out, l.chars[i])
			i++
			continue
		}
		l.out = append(l.out, char{' ', l.chars[i].at})
		i = end
	}
	l.may.add(' ')
	l.swap()
}

// keep removes characters.
func (l *line) keep(set func(rune) bool) {
	for _, c := range l.chars {
		if set(c.r) {
			l.out = append(l.out, c)
		}
	}
	l.swap()
}

// trim removes white space at both ends.
func (l *line) trim() {
	for len(l.chars) > 0 && isSpace(l.chars[len(l.chars)-1].r) {
		l.chars = l.chars[:len(l.chars)-1]
	}
	start := l.run(0, isSpace)
	l.chars = l.chars[:copy(l.chars, l.chars[start:])]
}

// words calls f with each word, which f may not keep.
func (l *line) words(f func(word []char)) {
	for i := l.run(0, isSpace); i < len(l.chars); i = l.run(i, isSpace) {
		start := i
		for i < len(l.chars) && !isSpace(l.chars[i].r) {
			i++
		}
		f(l.chars[start:i])
	}
}

// String returns the text.
func (l *line) String() string { return textOf(l.chars) }

func textOf(chars []char) string {
	var b strings.Builder
	b.Grow(len(chars))
	for _, c := range chars {
		b.WriteRune(c.r)
	}
	return b.String()
}

// isSpace reports whether Python's str.isspace is true.
func isSpace(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1C && r <= 0x1F
	}
	return unicode.IsSpace(r)
}

func isASCIISpace(r rune) bool { return r == ' ' }
