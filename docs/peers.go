package main

import (
	"fmt"
	"strings"
)

// program is one bar of a chart.
type program struct {
	name   string
	value  int    // in the unit of the chart; 0 if it was not measured
	figure string // the value as BENCHMARKS.md writes it, or "not measured"
}

// chart is a group of bars on one axis from 0 to the longest bar.
type chart struct {
	title    string
	programs []program
}

// peers are the figures of "Beside PyTorch and Marian" and "A training step" in BENCHMARKS.md, Zen
// 4, two threads, float32: of tfm the series beside PyTorch, of each peer the best. PyTorch's
// memory is that on the Xeon. Speed is in tokens/s, memory in MB.
var peers = []chart{
	{"base: 49 M parameters, tokens/s", []program{
		{"tfm", 1306, "1,306"}, {"Marian 1.12", 957, "957"}, {"PyTorch 2.15", 781, "781"}}},
	{"base: peak memory, GB", []program{
		{"tfm", 1050, "1.05"}, {"Marian 1.12", 2300, "2.3"}, {"PyTorch 2.15", 2870, "2.87"}}},
	{"tiny: 2 M parameters, tokens/s", []program{
		{"tfm", 22100, "22,100"}, {"Marian 1.12", 10300, "10,300"}, {"PyTorch 2.15", 5960, "5,960"}}},
	{"tiny: peak memory, GB", []program{
		{"tfm", 120, "0.12"}, {"Marian 1.12", 0, "not measured"}, {"PyTorch 2.15", 1900, "1.9"}}},
}

const (
	peersWidth  = 760
	peersHeight = 356
	chartWidth  = 350 // of one of two columns
	chartHeight = 124
	nameWidth   = 92
	barLength   = 190 // of the longest bar
	barHeight   = 20
	rowHeight   = 28
)

// drawPeers draws charts in two columns.
func drawPeers(charts []chart) string {
	description := "Two cores of an AMD EPYC (Zen 4), float32."
	for _, ch := range charts {
		var figures []string
		for _, p := range ch.programs {
			figures = append(figures, p.name+" "+p.figure)
		}
		description += fmt.Sprintf(" %s: %s.", ch.title, strings.Join(figures, ", "))
	}
	c := newCanvas(peersWidth, peersHeight, "Training speed and memory of tfm, Marian and PyTorch", description)
	c.text(20, 30, `class="head"`, "Training a Transformer on two CPU cores (AMD EPYC, Zen 4), float32")
	c.text(20, 50, `class="dim"`, "Speed: longer is better. Memory: shorter is better. Every axis begins at 0.")
	for i, ch := range charts {
		drawChart(c, 20+i%2*(chartWidth+20), 84+i/2*chartHeight, ch)
	}
	c.text(20, peersHeight-28, `class="dim"`,
		"Speed is source + target tokens a second; of tfm the slowest series is shown, of each peer the best.")
	c.text(20, peersHeight-10, `class="dim"`, "PyTorch's memory was measured on an Intel Xeon. Conditions: BENCHMARKS.md.")
	return c.end()
}

// drawChart draws a chart with its top left corner at (x, y).
func drawChart(c *canvas, x, y int, ch chart) {
	longest := 0
	for _, p := range ch.programs {
		longest = max(longest, p.value)
	}
	c.text(x, y, "", ch.title)
	left := x + nameWidth
	for i, p := range ch.programs {
		top := y + 12 + i*rowHeight
		class := "other"
		if p.name == "tfm" {
			class = "own"
		}
		c.text(left-8, top+15, `text-anchor="end"`, p.name)
		if p.value == 0 {
			c.text(left+6, top+15, `class="dim"`, p.figure)
			continue
		}
		length := max(1, p.value*barLength/longest)
		fmt.Fprintf(c, `<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`+"\n", class, left, top, length, barHeight)
		c.text(left+length+6, top+15, "", p.figure)
	}
	fmt.Fprintf(c, `<path class="grid" d="M%d.5 %dv%d"/>`+"\n", left, y+8, len(ch.programs)*rowHeight)
}
