package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tfm/text"
	"tfm/text/markup"
	"tfm/text/split"
)

// translateTxt translates paragraphs of plain text. A line is one, or several wrapped lines are.
func translateTxt(e *editor) error {
	var block []text.Range // lines without a blank one
	end := func() error {
		width := 0
		for _, l := range block {
			width = max(width, utf8.RuneCountInString(e.src[l.Start:l.End]))
		}
		for len(block) > 0 {
			n := wrapped(e.src, block, width)
			if err := e.paragraph(block[:n]); err != nil {
				return err
			}
			block = block[n:]
		}
		return nil
	}
	for l := range lines(e.src) {
		if text.IsBlank(e.src[l.Start:l.End]) {
			if err := end(); err != nil {
				return err
			}
			continue
		}
		block = append(block, l)
	}
	return end()
}

// wrapped returns how many of the lines from the first are one paragraph that was wrapped: each
// line break is where the next word would have exceeded width, that of the longest line, and the
// lines after the first have the same indent and no marker of a list.
func wrapped(src string, lines []text.Range, width int) int {
	if width < minWrapWidth || width > maxWrapWidth {
		return 1
	}
	for i := 1; i < len(lines); i++ {
		line, next := src[lines[i-1].Start:lines[i-1].End], src[lines[i].Start:lines[i].End]
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

// indent returns the white space at the begin of a line.
func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// paragraph replaces the text of lines, which are one paragraph.
func (e *editor) paragraph(lines []text.Range) error {
	first, last := lines[0], lines[len(lines)-1]
	if len(lines) == 1 {
		return e.replace(first.Start, first.End, plain(e.src[first.Start:first.End]), nil)
	}
	width := 0
	for _, l := range lines {
		width = max(width, utf8.RuneCountInString(e.src[l.Start:l.End]))
	}
	start := first.Start + len(indent(e.src[first.Start:first.End]))
	between := e.src[first.End:lines[1].Start] + indent(e.src[lines[1].Start:lines[1].End])
	width -= len(indent(e.src[lines[1].Start:lines[1].End]))
	write := func(ts []markup.Text) (string, error) {
		return strings.ReplaceAll(wrap(ts[0], width, nil).Plain, "\n", between), nil
	}
	t := markup.Text{Plain: split.Unwrap(e.src[start:last.End])}
	return e.edit(edit{start: start, end: last.End, texts: []markup.Text{t}, write: write})
}
