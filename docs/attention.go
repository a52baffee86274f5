package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// attention is the content of attention.json: the cross-attention of one translated sentence.
type attention struct {
	Model   string      `json:"model"`   // how the model was trained
	Source  []string    `json:"source"`  // tokens, with the end mark
	Target  []string    `json:"target"`  // tokens of the translation, with the end mark
	Weights [][]float64 `json:"weights"` // [target × source], mean of the last layer's heads
}

// drawAttentionFile draws attention.json of a folder.
func drawAttentionFile(dir string) (string, error) {
	file := filepath.Join(dir, "attention.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var a attention
	if err := json.Unmarshal(data, &a); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case len(a.Source) == 0 || len(a.Target) == 0:
		return "", fmt.Errorf("%s: no tokens, expected at least an end mark on each side", file)
	case len(a.Weights) != len(a.Target):
		return "", fmt.Errorf("%s: %d rows of weights, expected %d", file, len(a.Weights), len(a.Target))
	}
	for i, row := range a.Weights {
		if len(row) != len(a.Source) {
			return "", fmt.Errorf("%s: %d weights in row %d, expected %d", file, len(row), i, len(a.Source))
		}
	}
	return drawAttention(a), nil
}

const (
	cellWidth  = 34
	cellHeight = 30
	mapTop     = 128
	mapMargin  = 12
	labelWidth = 8 // of a letter
)

// drawAttention draws a map with a row for each target token and a column for each source token.
func drawAttention(a attention) string {
	letters := 0
	for _, s := range a.Target {
		letters = max(letters, utf8.RuneCountInString(s))
	}
	left := mapMargin + letters*labelWidth + 10
	width := max(left+len(a.Source)*cellWidth+mapMargin, peersWidth)
	height := mapTop + len(a.Target)*cellHeight + 56
	c := newCanvas(width, height, "Attention map of a translated sentence", describe(a))
	c.text(mapMargin, 28, `class="head"`, sentence(a.Source))
	c.text(mapMargin, 50, `class="head"`, sentence(a.Target))
	c.text(mapMargin, 73, `class="dim"`, "Cross-attention of the last decoder layer, mean of its heads.")
	for j, s := range a.Source {
		c.text(left+j*cellWidth+cellWidth/2, mapTop-8-18*(j%2), `text-anchor="middle"`, strings.TrimSpace(s))
	}
	for i, s := range a.Target {
		y := mapTop + i*cellHeight
		c.text(left-8, y+cellHeight/2+5, `text-anchor="end"`, strings.TrimSpace(s))
		for j, w := range a.Weights[i] {
			drawCell(c, left+j*cellWidth, y, w, strings.TrimSpace(s)+" → "+strings.TrimSpace(a.Source[j]))
		}
	}
	bottom := mapTop + len(a.Target)*cellHeight
	c.WriteString(`<path class="grid" d="`)
	for i := range len(a.Target) + 1 {
		fmt.Fprintf(c, "M%d %d.5h%d", left, mapTop+i*cellHeight, len(a.Source)*cellWidth)
	}
	for j := range len(a.Source) + 1 {
		fmt.Fprintf(c, "M%d.5 %dv%d", left+j*cellWidth, mapTop, len(a.Target)*cellHeight)
	}
	c.WriteString(`"/>` + "\n")
	c.text(mapMargin, bottom+22, `class="dim"`, "Row: token of the translation. Column: token it attends to.")
	c.text(mapMargin, bottom+42, `class="dim"`, "A row sums to 1. "+a.Model)
	return c.end()
}

// drawCell draws a weight with its top left corner at (x, y): a fill as opaque as the weight, with
// the name of the pair as its tooltip, and from 0.1 the weight as a number.
func drawCell(c *canvas, x, y int, w float64, name string) {
	if w >= 0.005 {
		fmt.Fprintf(c, `<rect class="own" x="%d" y="%d" width="%d" height="%d" fill-opacity="%.2f"><title>%s %.2f</title></rect>`+"\n",
			x, y, cellWidth, cellHeight, w, html.EscapeString(name), w)
	}
	if w < 0.1 {
		return
	}
	attributes := `text-anchor="middle" style="font-size:13px`
	if w >= 0.6 { // the cell is dark in both schemes
		attributes += ";fill:#fff"
	}
	c.text(x+cellWidth/2, y+cellHeight/2+4, attributes+`"`, strings.TrimPrefix(fmt.Sprintf("%.2f", w), "0"))
}

// sentence joins tokens, without the end mark.
func sentence(tokens []string) string {
	return strings.Join(tokens[:len(tokens)-1], "")
}

// describe names the source token with the largest weight for each target token.
func describe(a attention) string {
	var largest []string
	for i, row := range a.Weights {
		best := 0
		for j, w := range row {
			if w > row[best] {
				best = j
			}
		}
		largest = append(largest, fmt.Sprintf("%s → %s %.2f", strings.TrimSpace(a.Target[i]), strings.TrimSpace(a.Source[best]), row[best]))
	}
	return fmt.Sprintf("%s is translated as %s. Largest weight of each row: %s.", sentence(a.Source), sentence(a.Target), strings.Join(largest, ", "))
}
