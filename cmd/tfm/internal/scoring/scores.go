package scoring

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/text/score"
)

// WriteCorpus writes the scores of one system: two lines each, the score and its signature, or with
// -b only the number, or sacreBLEU's JSON.
func (o *Options) WriteCorpus(w io.Writer, hyps []string, references [][]string) error {
	metrics := o.measure([]System{{Hypotheses: hyps}}, references)
	if o.json {
		return o.writeCorpusJSON(w, metrics)
	}
	for _, m := range metrics {
		r := m.results[0]
		line := string(o.number(r.Score))
		if i := o.interval(r); i != "" {
			line += " (" + i + ")"
		}
		if o.Bare {
			fmt.Fprintln(w, line)
			continue
		}
		line = m.metric + " = " + line
		if m.details != "" {
			line += " " + m.details
		}
		if _, err := fmt.Fprintf(w, "%s\n%s\n", line, r.Signature); err != nil {
			return err
		}
	}
	return nil
}

// writeCorpusJSON writes the scores as sacreBLEU's -f json does: with the fields of the signature,
// and an array only of several.
func (o *Options) writeCorpusJSON(w io.Writer, metrics []measured) error {
	var scores []*terminal.Object
	for _, m := range metrics {
		r := m.results[0]
		s := new(terminal.Object).Add("name", m.metric).Add("score", o.number(r.Score)).Add("signature", r.Signature)
		if i := o.interval(r); i != "" {
			s.Add("confidence_mean", o.number(r.Mean)).Add("confidence_var", o.number(r.Interval)).Add("confidence", i)
		}
		if m.details != "" {
			s.Add("verbose_score", m.details)
		}
		for field := range strings.SplitSeq(r.Signature, "|") {
			name, value, _ := strings.Cut(field, ":")
			s.Add(name, value)
		}
		scores = append(scores, s)
	}
	if len(scores) == 1 {
		return writeJSON(w, scores[0])
	}
	return writeJSON(w, scores)
}

func writeJSON(w io.Writer, v any) error {
	encoded, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", encoded)
	return err
}

// interval returns the interval of a bootstrap as sacreBLEU prints it: μ = 36.41 ± 0.83. It is
// empty without a bootstrap and, as there, if the mean is 0.
func (o *Options) interval(r score.Result) string {
	if !(r.Mean > 0) {
		return ""
	}
	return fmt.Sprintf("μ = %v ± %v", o.number(r.Mean), o.number(r.Interval))
}

// number is a score with the decimals of -width.
func (o *Options) number(x float64) json.Number {
	return json.Number(strconv.FormatFloat(x, 'f', o.width, 64))
}
