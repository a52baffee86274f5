package terminal

import (
	"fmt"
	"io"
	"strings"
)

// shades are the characters for weights from 0 to 1.
var shades = []rune(" ·░▒▓█")

// shade returns the character for a weight.
func shade(weight float32) rune {
	i := int(float32(weight*float32(len(shades)-1)) + 0.5)
	return shades[max(0, min(i, len(shades)-1))]
}

// DrawHeatmap draws weights[i][j], the attention of row i to column j, from 0 to 1, as shades with
// the names of the rows to the left and of the columns above. Names may contain wide characters.
func DrawHeatmap(w io.Writer, weights [][]float32, rows, columns []string) error {
	left := 0
	for _, name := range rows {
		left = max(left, Columns(name))
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", left))
	for _, name := range columns {
		b.WriteString("  " + name)
	}
	b.WriteByte('\n')
	for i, name := range rows {
		b.WriteString(strings.Repeat(" ", left-Columns(name)) + name)
		for j, column := range columns {
			b.WriteString("  " + strings.Repeat(string(shade(weights[i][j])), Columns(column)))
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
