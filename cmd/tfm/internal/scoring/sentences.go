package scoring

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tfm/text/score"
)

// WriteSentences writes a line for each hypothesis: its scores, BLEU with effective order,
// separated by tabs, or a JSON object of its number and these.
func (o *Options) WriteSentences(w io.Writer, hyps []string, references [][]string) error {
	var names []string
	var columns [][]float64
	for _, metric := range o.chosen(true) {
		s := score.Count(metric, hyps, references...)
		names, columns = append(names, s.Name()), append(columns, s.SegmentScores())
	}
	out := bufio.NewWriter(w)
	for i := range hyps {
		scores := make([]string, len(columns))
		object := fmt.Sprintf(`{"line": %d`, i+1)
		for c, column := range columns {
			scores[c] = string(o.number(column[i]))
			object += fmt.Sprintf(", %q: %s", names[c], scores[c])
		}
		if o.json {
			fmt.Fprintln(out, object+"}")
		} else {
			fmt.Fprintln(out, strings.Join(scores, "\t"))
		}
	}
	return out.Flush()
}

// SentenceColumns describes the columns of WriteSentences with their signatures.
func (o *Options) SentenceColumns(references int) string {
	var b strings.Builder
	empty := make([][]string, references)
	for i := range empty {
		empty[i] = []string{""}
	}
	for i, metric := range o.chosen(true) {
		s := score.Count(metric, []string{""}, empty...)
		fmt.Fprintf(&b, "column %d: %s %s\n", i+1, s.Name(), s.Result().Signature)
	}
	return b.String()
}
