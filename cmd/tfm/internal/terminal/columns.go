package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Columns returns the number of columns of s on a terminal.
func Columns(s string) int {
	width := 0
	for _, r := range s {
		width += runeColumns(r)
	}
	return width
}

// Truncate returns s if it has at most the given number of columns, at least 1, else its start and
// "…".
func Truncate(s string, columns int) string {
	width, end := 0, 0 // end: of the longest start that leaves a column for "…"
	for i, r := range s {
		if width < columns {
			end = i
		}
		if width += runeColumns(r); width > columns {
			return s[:end] + "…"
		}
	}
	return s
}

// Printable returns s with a space for each control character, which could move the cursor, and
// U+FFFD for each byte that is not UTF-8.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// wide reports whether a character has two columns: wide and fullwidth blocks of Unicode Standard
// Annex #11, East Asian Width.
func wide(r rune) bool {
	for _, block := range [][2]rune{
		{0x1100, 0x115F},   // Hangul initial consonants
		{0x2E80, 0x303E},   // radicals, CJK punctuation
		{0x3041, 0xA4CF},   // kana, bopomofo, ideographs, Yi
		{0xA960, 0xA97F},   // Hangul extended A
		{0xAC00, 0xD7A3},   // Hangul syllables
		{0xF900, 0xFAFF},   // compatibility ideographs
		{0xFE30, 0xFE6F},   // compatibility and small forms
		{0xFF00, 0xFF60},   // fullwidth forms
		{0xFFE0, 0xFFE6},   // fullwidth signs
		{0x1F300, 0x1FAFF}, // pictographs
		{0x20000, 0x3FFFD}, // further ideographs
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}

// Pad appends spaces to s up to a number of columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-Columns(s)))
}

// minText is the least width of a text beside a label.
const minText = 18

// Row returns a label of labelColumns columns and a text, which is wrapped in its column to a
// terminal of width columns, unless that leaves it less than minText columns.
func Row(label, text string, labelColumns, width int) string {
	lines := []string{text}
	if width >= labelColumns+minText {
		lines = Wrap(strings.Fields(text), width-labelColumns)
	}
	return fmt.Sprintf("%-*s%s", labelColumns, label, strings.Join(lines, "\n"+strings.Repeat(" ", labelColumns)))
}

// Wrap joins words with spaces into lines of at most width columns. A wider word has its own line.
func Wrap(words []string, width int) (lines []string) {
	for _, w := range words {
		if n := len(lines); n > 0 && Columns(lines[n-1])+1+Columns(w) <= width {
			lines[n-1] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}
