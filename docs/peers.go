package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// chart is a group of bars on one axis that begins at 0. Each bar is a cell of a table in
// BENCHMARKS.md.
type chart struct {
	title   string
	table   string   // first cell of the table's header
	row     string   // first cell of the row
	columns []string // headers of the cells, tfm's first
}

// panel is a row of two charts, or a heading with a note.
type panel struct {
	heading, note string
	charts        [2]chart
}

var (
	inFloat32 = []string{"tfm, 1 thread", "CTranslate2", "PyTorch"}
	inInt8    = []string{"tfm, 1 thread", "CTranslate2", "Marian"}
	inSteps   = []string{"tfm", "Marian", "PyTorch, tuned"}
)

// peers are the charts of peers.svg from top to bottom.
var peers = []panel{
	{heading: "Translating: base, beam 4, one core", note: "Target tokens/s: longer is better."},
	decoding("one sentence", "beam 4, 1"),
	decoding("32 sentences at once", "beam 4, 32"),
	{heading: "Training: float32, two cores", note: "Speed: longer is better. Memory: shorter is better."},
	{charts: [2]chart{
		{"base, tokens/s", "Training, tokens/s", "Zen 4: `base`, float32", inSteps},
		{"tiny, tokens/s", "Training, tokens/s", "Zen 4: `tiny`, float32", inSteps}}},
	{charts: [2]chart{
		{"base, memory in GB", "Peak memory, float32", "`base`", inSteps},
		{"tiny, memory in GB", "Peak memory, float32", "`tiny`", inSteps}}},
}

// decoding returns the charts of a search in float32 and int8.
func decoding(title, row string) panel {
	return panel{charts: [2]chart{
		{"float32, " + title, "base, tokens/s", "float32, " + row, inFloat32},
		{"int8, " + title, "base, tokens/s", "int8, " + row, inInt8}}}
}

const (
	peersWidth    = 480
	peersMargin   = 12
	chartWidth    = 232
	chartHeight   = 84
	headingHeight = 52
	nameWidth     = 92
	barLength     = 78 // of the longest bar
	barHeight     = 15
	rowHeight     = 19
)

// drawPeersFile draws peers from the tables of BENCHMARKS.md, which is in the parent of dir.
func drawPeersFile(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "..", "BENCHMARKS.md"))
	if err != nil {
		return "", err
	}
	height, description := 62, "Two cores of an AMD EPYC (Zen 4)."
	for _, p := range peers {
		height += p.height()
		if p.heading != "" {
			description += fmt.Sprintf(" %s (%s).", p.heading, p.note)
			continue
		}
		for _, ch := range p.charts {
			bars, err := ch.bars(string(data))
			if err != nil {
				return "", err
			}
			description += fmt.Sprintf(" %s: %s.", ch.title, strings.Join(bars, ", "))
		}
	}
	c := newCanvas(peersWidth, height, "tfm beside CTranslate2, Marian and PyTorch", description)
	y := 0
	for _, p := range peers {
		c.text(peersMargin, y+30, `class="head"`, p.heading)
		c.text(peersMargin, y+49, `class="dim"`, p.note)
		for i, ch := range p.charts {
			if p.heading == "" {
				ch.draw(c, peersMargin+i*chartWidth, y+18, string(data))
			}
		}
		y += p.height()
	}
	c.text(peersMargin, height-34, `class="dim"`, "AMD EPYC (Zen 4); PyTorch memory on an Intel Xeon.")
	c.text(peersMargin, height-14, `class="dim"`, "Marian did not take turns with tfm. See BENCHMARKS.md.")
	return c.end(), nil
}

func (p panel) height() int {
	if p.heading != "" {
		return headingHeight
	}
	return chartHeight
}

// bars returns the names and figures of a chart.
func (ch chart) bars(document string) (bars []string, err error) {
	for _, column := range ch.columns {
		figure, err := cell(document, ch.table, ch.row, column)
		if err != nil {
			return nil, err
		}
		if figure == "" {
			figure = "not measured"
		}
		name, _, _ := strings.Cut(column, ",")
		bars = append(bars, name+" "+figure)
	}
	return bars, nil
}

// draw draws a chart with its top left corner at (x, y).
func (ch chart) draw(c *canvas, x, y int, document string) {
	bars, err := ch.bars(document)
	if err != nil {
		panic(err) // drawPeersFile has read the same bars
	}
	longest := 0.0
	for _, b := range bars {
		longest = max(longest, value(b))
	}
	c.text(x, y, "", ch.title)
	left := x + nameWidth
	for i, b := range bars {
		name, figure, _ := strings.Cut(b, " ")
		top, class := y+8+i*rowHeight, "other"
		if i == 0 {
			class = "own"
		}
		c.text(left-8, top+13, `text-anchor="end"`, name)
		if value(b) == 0 {
			c.text(left+6, top+13, `class="dim"`, figure)
			continue
		}
		length := max(1, int(value(b)*barLength/longest))
		fmt.Fprintf(c, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, left, top, length, barHeight)
		c.text(left+length+6, top+13, "", strings.TrimSuffix(figure, " GB"))
	}
	fmt.Fprintf(c, `<path class="grid" d="M%d.5 %dv%d"/>`+"\n", left, y+5, len(bars)*rowHeight)
}

// value returns the number of a bar such as "tfm 1,306", 0 if it has none.
func value(bar string) float64 {
	v, _ := strconv.ParseFloat(strings.ReplaceAll(strings.Fields(bar)[1], ",", ""), 64)
	return v
}

// cell returns a cell of a Markdown table: of the first column with the given header.
func cell(document, table, row, column string) (string, error) {
	_, rest, ok := strings.Cut(document, "\n| "+table+" |")
	lines := strings.Split("| "+table+" |"+rest, "\n")
	for _, line := range lines {
		if !ok || !strings.HasPrefix(line, "|") {
			break
		}
		if cells := cellsOf(line); cells[0] == row {
			if i := slices.Index(cellsOf(lines[0]), column); i > 0 && i < len(cells) {
				return cells[i], nil
			}
		}
	}
	return "", fmt.Errorf("BENCHMARKS.md: found no cell %q of row %q in a table that begins with %q", column, row, table)
}

// cellsOf splits a line of a table.
func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
