package scoring

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tfm/text/score"
)

// WriteCorpus writes BLEU and chrF of the hypotheses: two lines each, the score and its signature,
// or sacreBLEU's JSON.
func (o *Options) WriteCorpus(w io.Writer, hyps []string, references [][]string) error {
	bleu, chrf := o.bleu(false), o.chrf()
	for i, h := range hyps {
		first, more := segment(references, i)
		bleu.Add(h, first, more...)
		chrf.Add(h, first, more...)
	}
	b, c := bleu.Score(), chrf.Score()
	if o.json {
		return o.writeJSON(w, b, c)
	}
	_, err := fmt.Fprintf(w, "BLEU = %.*f %s\n%s\n%s = %.*f\n%s\n",
		o.width, b.Score, b.Details(), b.Signature, c.Name, o.width, c.Score, c.Signature)
	return err
}

// writeJSON writes the scores as sacreBLEU's -f json does: with the fields of the signature.
func (o *Options) writeJSON(w io.Writer, b score.BLEUResult, c score.CHRFResult) error {
	scores := []*object{
		new(object).add("name", "BLEU").add("score", o.number(b.Score)).
			add("signature", b.Signature).add("verbose_score", b.Details()).addSignature(b.Signature),
		new(object).add("name", c.Name).add("score", o.number(c.Score)).
			add("signature", c.Signature).addSignature(c.Signature),
	}
	encoded, err := json.MarshalIndent(scores, "", " ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", encoded)
	return err
}

// WriteSentences writes a line for each hypothesis: its BLEU, with effective order, a tab and its
// chrF, or a JSON object of its number and both.
func (o *Options) WriteSentences(w io.Writer, hyps []string, references [][]string) error {
	out := bufio.NewWriter(w)
	for i, h := range hyps {
		bleu, chrf := o.bleu(true), o.chrf()
		first, more := segment(references, i)
		bleu.Add(h, first, more...)
		chrf.Add(h, first, more...)
		b, c := bleu.Score(), chrf.Score()
		if !o.json {
			fmt.Fprintf(out, "%s\t%s\n", o.number(b.Score), o.number(c.Score))
			continue
		}
		line, err := new(object).add("line", i+1).add("BLEU", o.number(b.Score)).add(c.Name, o.number(c.Score)).MarshalJSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return out.Flush()
}

// SentenceColumns describes the columns of WriteSentences with their signatures.
func (o *Options) SentenceColumns(references int) string {
	bleu, chrf := o.bleu(true), o.chrf()
	more := make([]string, references-1)
	bleu.Add("", "", more...)
	chrf.Add("", "", more...)
	b, c := bleu.Score(), chrf.Score()
	return fmt.Sprintf("column 1: BLEU %s\ncolumn 2: %s %s\n", b.Signature, c.Name, c.Signature)
}

// segment returns the references of line i.
func segment(references [][]string, i int) (first string, more []string) {
	for _, r := range references[1:] {
		more = append(more, r[i])
	}
	return references[0][i], more
}

// number is a score with the decimals of -width.
func (o *Options) number(x float64) json.Number {
	return json.Number(strconv.FormatFloat(x, 'f', o.width, 64))
}

// object is a JSON object with its fields in the order of their addition.
type object struct {
	names  []string
	values []any
}

func (o *object) add(name string, value any) *object {
	o.names, o.values = append(o.names, name), append(o.values, value)
	return o
}

// addSignature adds the fields of a signature, name:value|name:value.
func (o *object) addSignature(signature string) *object {
	for _, field := range strings.Split(signature, "|") {
		name, value, _ := strings.Cut(field, ":")
		o.add(name, value)
	}
	return o
}

// MarshalJSON returns the object as JSON.
func (o *object) MarshalJSON() ([]byte, error) {
	encoded := []byte{'{'}
	for i, name := range o.names {
		n, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			encoded = append(encoded, ", "...)
		}
		encoded = append(append(append(encoded, n...), ": "...), v...)
	}
	return append(encoded, '}'), nil
}
