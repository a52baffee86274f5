package main

import (
	"fmt"
	"os"
	"strings"

	"tfm/internal/format"
	"tfm/model"
)

// The rows of Table 3 of the paper in its order, by the names of their presets, and the millions of parameters that
// the paper gives; 0 where it gives none.
var table3 = []struct {
	preset   string
	millions int
}{
	{"base", 65}, {"A1", 0}, {"A2", 0}, {"A3", 0}, {"A4", 0}, {"B1", 58}, {"B2", 60},
	{"C1", 36}, {"C2", 50}, {"C3", 80}, {"C4", 28}, {"C5", 168}, {"C6", 53}, {"C7", 90},
	{"D1", 0}, {"D2", 0}, {"D3", 0}, {"D4", 0}, {"E", 0}, {"big", 213},
}

// The vocabulary that English and German share, section 5.1: "about 37000 tokens".
const paperVocab = 37000

// printTable3 prints the models of Table 3 with our number of parameters beside the paper's.
func printTable3() error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-5s %2s %8s %5s %3s %4s %4s %7s %5s %-11s %12s %9s %7s\n",
		"row", "N", "d_model", "d_ff", "h", "d_k", "d_v", "P_drop", "ε_ls", "positions", "parameters", "paper", "differ")
	for _, row := range table3 {
		c, err := model.Preset(row.preset)
		if err != nil {
			return err
		}
		c.SrcVocab, c.TgtVocab = paperVocab, paperVocab
		dk, dv := c.HeadSizes()
		positions, _ := c.Positions.MarshalText()
		n := c.CountParams()
		line := fmt.Sprintf("%-5s %2d %8d %5d %3d %4d %4d %7v %5v %-11s %12s", row.preset, c.EncoderLayers, c.DModel, c.DFF, c.Heads, dk, dv,
			c.Dropout, c.LabelSmoothing, positions, format.Thousands(n))
		if row.millions > 0 {
			line += fmt.Sprintf(" %7d M %+6.1f%%", row.millions, 100*difference(n, row.millions))
		}
		fmt.Fprintln(&b, line)
	}
	b.WriteString(table3Note)
	_, err := os.Stdout.WriteString(b.String())
	return err
}

// difference is how much more n is than so many millions, as a fraction of them.
func difference(n, millions int) float64 { return float64(n)/(1e6*float64(millions)) - 1 }

const table3Note = `
The vocabulary is 37,000 pieces, and both embeddings and the output projection are one matrix. Rows without a figure
of the paper's are said to be base but for what they change, and the paper gives whole millions.

Differences of more than 2 %: base, B1, B2 and C1 to C6 (and C7, with 1.9 %) all lack the same thing, the weights of
3,200 to 4,900 further pieces. With 41,000 pieces each of them is within 1 % of the paper's figure, so that its
"about 37000 tokens" (section 5.1) explain them; their layers agree. The fewer weights a row has in its layers,
the larger the part that is missing. big is within 1 % with 37,000. E has 1,048,576 more than base, which are
1,024 learned positions on each side.
`
