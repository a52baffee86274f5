package scoring

import (
	"fmt"
	"io"
	"math"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text/score"
)

// Tests reports whether the flags ask for a test of significance.
func (o *Options) Tests() bool { return o.confidence || o.paired }

// WriteTable writes the scores of several systems, a line each, with the tests of the flags, and
// the signatures; or a JSON array with sacreBLEU's fields. A comparison is with the first system.
func (o *Options) WriteTable(w io.Writer, systems []System, references [][]string) error {
	metrics := o.measure(systems, references)
	names := make([]string, len(systems))
	for i, s := range systems {
		names[i] = s.Name
	}
	if o.paired {
		names[0] = "Baseline: " + names[0]
	}
	if o.json {
		return o.writeTableJSON(w, names, metrics)
	}

	rows := make([][]string, 1+len(systems))
	rows[0] = []string{"System"}
	for i, name := range names {
		rows[i+1] = []string{name}
	}
	for _, m := range metrics {
		title := m.metric
		if !math.IsNaN(m.results[0].Mean) {
			title += " (μ ± 95% CI)"
		}
		rows[0] = append(rows[0], title)
		for i, r := range m.results {
			rows[i+1] = append(rows[i+1], o.cell(r, m.results[0]))
		}
	}
	text := align(rows)
	if o.paired {
		text += "\n" + o.explanation()
	}
	text += "\n"
	for _, m := range metrics {
		text += fmt.Sprintf("%s: %s\n", m.metric, m.results[0].Signature)
	}
	_, err := io.WriteString(w, text)
	return err
}

// cell formats a result as sacreBLEU does: 26.02 (26.05 ± 0.57) (p = 0.0010)*. A score that equals
// the baseline's has no asterisk, although its p-value is the least one.
func (o *Options) cell(r, baseline score.Result) string {
	s := string(o.number(r.Score))
	if !math.IsNaN(r.Mean) {
		s += fmt.Sprintf(" (%v ± %v)", o.number(r.Mean), o.number(r.Interval))
	}
	if !math.IsNaN(r.P) {
		s += fmt.Sprintf(" (p = %.4f)", r.P)
		if r.P <= significant && r.Score != baseline.Score {
			s += "*"
		}
	}
	return s
}

// significant is the largest p-value with an asterisk.
const significant = 0.05

// explanation describes the test under the table.
func (o *Options) explanation() string {
	return fmt.Sprintf("Paired bootstrap resampling, %s; *: p <= %v, the difference from the baseline is unlikely to be chance\n",
		format.Count(o.resamples, "resample"), significant)
}

// align returns lines of columns of equal width, two spaces apart.
func align(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], terminal.Columns(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += terminal.Pad(cell, widths[i]+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (o *Options) writeTableJSON(w io.Writer, names []string, metrics []measured) error {
	var systems []*terminal.Object
	for i, name := range names {
		s := new(terminal.Object).Add("system", name)
		for _, m := range metrics {
			r := m.results[i]
			s.Add(m.metric, new(terminal.Object).Add("score", o.number(r.Score)).Add("p_value", unlessNaN(r.P, r.P)).
				Add("mean", unlessNaN(r.Mean, o.number(r.Mean))).Add("ci", unlessNaN(r.Interval, o.number(r.Interval))).Add("signature", r.Signature))
		}
		systems = append(systems, s)
	}
	return writeJSON(w, systems)
}

// unlessNaN returns value, or nil if x is NaN.
func unlessNaN(x float64, value any) any {
	if math.IsNaN(x) {
		return nil
	}
	return value
}
