package document

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
)

// translateTxt translates the passages of plain text.
func translateTxt(e *editor) {
	for p := range passages(e.src) {
		t := markup.Text{Plain: p.unwrap(e.src)}
		write := func(ts []markup.Text) string { return p.wrap(ts[0], nil) }
		e.edit(edit{start: p.Start, end: p.End, texts: []markup.Text{t}, write: write})
	}
}

// passage is a paragraph of plain text: a line, or several lines that a program wrapped.
type passage struct {
	text.Range        // in the plain text
	width      int    // characters of the longest wrapped line, without the indent
	between    string // line ending and indent of wrapped lines; "" for a single line
}

// passages returns those of s in order. The bytes between them are white space.
func passages(s string) iter.Seq[passage] {
	return func(yield func(passage) bool) {
		var block []text.Range // lines without a blank one
		flush := func() bool {
			width := 0
			for _, l := range block {
				width = max(width, utf8.RuneCountInString(s[l.Start:l.End]))
			}
			for len(block) > 0 {
				n := wrapped(s, block, width)
				if !yield(newPassage(s, block[:n])) {
					return false
				}
				block = block[n:]
			}
			return true
		}
		for l := range lines(s) {
			if !text.IsBlank(s[l.Start:l.End]) {
				block = append(block, l)
			} else if !flush() {
				return
			}
		}
		flush()
	}
}

// wrapped returns how many of the lines from the first are one paragraph that was wrapped: each
// line break is where the next word would have exceeded width, that of the longest line, and the
// lines after the first have the same indent and no marker of a list.
func wrapped(s string, lines []text.Range, width int) int {
	if width < minWrapWidth || width > maxWrapWidth {
		return 1
	}
	for i := 1; i < len(lines); i++ {
		line, next := s[lines[i-1].Start:lines[i-1].End], s[lines[i].Start:lines[i].End]
		word, rest, _ := strings.Cut(strings.TrimLeft(next, " \t"), " ")
		together := strings.TrimRight(line, " \t") + " " + word
		fits := utf8.RuneCountInString(together) <= width
		item := rest != "" && !strings.ContainsFunc(word, unicode.IsLetter) // as in "1. item"
		if fits || item || i > 1 && indent(next) != indent(line) {
			return i
		}
	}
	return len(lines)
}

// newPassage returns the passage of consecutive lines of s.
func newPassage(s string, lines []text.Range) passage {
	first := lines[0]
	p := passage{Range: text.Range{Start: first.Start + len(indent(s[first.Start:first.End])), End: lines[len(lines)-1].End}}
	if len(lines) == 1 {
		return p
	}
	second := indent(s[lines[1].Start:lines[1].End])
	for _, l := range lines {
		p.width = max(p.width, utf8.RuneCountInString(s[l.Start:l.End])-len(second))
	}
	p.between = s[first.End:lines[1].Start] + second
	return p
}

// unwrap returns the passage of s as one line.
func (p passage) unwrap(s string) string {
	if s = s[p.Start:p.End]; p.between != "" {
		return split.Unwrap(s)
	}
	return s
}

// wrap returns a translation of the passage, wrapped as it was.
func (p passage) wrap(t markup.Text, es elements) string {
	if p.between == "" {
		return es.render(t, nil)
	}
	return es.render(wrap(t, p.width, nil), func(s string) string { return strings.ReplaceAll(s, "\n", p.between) })
}

// indent returns the white space at the begin of a line.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// The widths in characters that programs wrap lines to. Lines of other widths end where the author
// ended them.
const minWrapWidth, maxWrapWidth = 40, 100

// lines returns the ranges of the lines of s without their endings.
func lines(s string) iter.Seq[text.Range] {
	return func(yield func(text.Range) bool) {
		for at := 0; at < len(s); {
			end, next := len(s), len(s)
			if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
				end, next = at+i, at+i+1
			}
			if end > at && s[end-1] == '\r' {
				end--
			}
			if !yield(text.Range{Start: at, End: end}) {
				return
			}
			at = next
		}
	}
}

// wrap returns t with line breaks in the place of spaces, so that lines have at most width
// characters if the words allow it. It leaves spaces in kept spans, and before words for which
// glued, if not nil, returns true.
func wrap(t markup.Text, width int, glued func(word string) bool) markup.Text {
	b := []byte(t.Plain)
	spans := t.Spans
	kept := func(i int) bool { // for ascending i
		for len(spans) > 0 && (!spans[0].Keep || spans[0].End <= i) {
			spans = spans[1:]
		}
		return len(spans) > 0 && spans[0].Start <= i
	}
	lineStart, space := 0, -1 // the last space of the line that can be a line break
	for i := 0; i <= len(b); i++ {
		if i < len(b) && b[i] == '\n' {
			lineStart, space = i+1, -1
			continue
		}
		if i < len(b) && b[i] != ' ' {
			continue
		}
		if space >= lineStart && utf8.RuneCount(b[lineStart:i]) > width {
			b[space] = '\n'
			lineStart = space + 1
		}
		if i < len(b) && !kept(i) && (glued == nil || !glued(t.Plain[i+1:])) {
			space = i
		}
	}
	return markup.Text{Plain: string(b), Spans: t.Spans}
}
