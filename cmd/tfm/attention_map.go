package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// shades are the cells of an attention map, for weights from 0 to 1.
var shades = []rune(" ·░▒▓█")

func shade(weight float32) rune {
	i := int(float32(weight*float32(len(shades)-1)) + 0.5)
	return shades[max(0, min(i, len(shades)-1))]
}

// drawAttention draws weights[i][j], how much row i looks at column j, each between 0 and 1, as shades under
// the names of the columns and beside those of the rows. Names may be of any width on the screen.
func drawAttention(w io.Writer, weights [][]float32, rows, columns []string) error {
	left := 0
	for _, name := range rows {
		left = max(left, displayWidth(name))
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", left))
	for _, name := range columns {
		b.WriteString("  " + name)
	}
	b.WriteByte('\n')
	for i, name := range rows {
		b.WriteString(strings.Repeat(" ", left-displayWidth(name)) + name)
		for j, column := range columns {
			b.WriteString("  " + strings.Repeat(string(shade(weights[i][j])), displayWidth(column)))
		}
		b.WriteByte('\n')
	}
	var key []string
	for i, s := range shades {
		key = append(key, fmt.Sprintf("%c%c %.1f", s, s, float64(i)/float64(len(shades)-1)))
	}
	fmt.Fprintf(&b, "%s  %s\n", strings.Repeat(" ", left), strings.Join(key[1:], "  "))
	_, err := io.WriteString(w, b.String())
	return err
}

// displayWidth is the number of columns that s takes on a terminal.
func displayWidth(s string) int {
	width := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			width += 2
		default:
			width++
		}
	}
	return width
}

// wide says whether a character takes two columns: the blocks whose characters are wide or fullwidth in
// Unicode Standard Annex #11, East Asian Width.
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
