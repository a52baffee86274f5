package filter

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/text"
	"tfm/translate"
)

// PairFormat is the form of the input and output of scores of pairs.
type PairFormat interface {
	// Parse returns the pair of a line.
	Parse(line string) (text.Pair, error)

	// Blank reports whether a line is copied without scores.
	Blank(line string) bool

	// Write writes a line and the scores of its pair. If it has none, err is the reason.
	Write(w io.Writer, line string, pair text.Pair, s *translate.PairScore, err error)
}

// PairOptions are the flags that select a PairFormat.
type PairOptions struct {
	JSON    bool   // lines are objects
	Columns string // columns or fields of source and target; "" is the default fields, or two files
	Tokens  bool   // add the log-probability of each token
}

// PairFlags declares the flags of a PairFormat.
func PairFlags(f *cli.Flags) *PairOptions {
	o := new(PairOptions)
	f.StringVar(&o.Columns, "columns", "", "numbers of the `columns` of source and target, such as 1,2: lines are columns separated by tabs; they are copied, and the scores are added. "+
		"With -json the names of fields (default text,translation)")
	f.BoolVar(&o.JSON, "json", false, "lines are JSON objects; their fields are copied, and the scores are added")
	return o
}

// Format returns the PairFormat that the flags select. The error is that of a wrong flag.
func (o *PairOptions) Format() (PairFormat, error) {
	source, target, ok := strings.Cut(o.Columns, ",")
	switch {
	case o.Columns != "" && (!ok || source == "" || target == "" || strings.Contains(target, ",")):
		return nil, cli.Usagef("-columns is %q, expected two, separated by a comma", o.Columns)
	case o.JSON:
		return pairObjects{cmp.Or(source, "text"), cmp.Or(target, "translation"), o.Tokens}, nil
	case o.Columns != "":
		c := pairColumns{copied: true, tokens: o.Tokens}
		var sourceErr, targetErr error
		c.source, sourceErr = columnIndex("columns", source)
		c.target, targetErr = columnIndex("columns", target)
		return c, cmp.Or(sourceErr, targetErr)
	}
	return pairColumns{tokens: o.Tokens}, nil
}

// pairColumns is the PairFormat of scores in columns separated by tabs.
type pairColumns struct {
	copied         bool // lines have columns and are copied; false: pairs of two files
	source, target int  // indices of columns
	tokens         bool
}

func (c pairColumns) Parse(line string) (text.Pair, error) {
	if !c.copied {
		return text.Pair{}, nil
	}
	list, err := splitColumns(line, max(c.source, c.target))
	if err != nil {
		return text.Pair{}, err
	}
	return text.Pair{Source: list[c.source], Target: list[c.target]}, nil
}

func (pairColumns) Blank(string) bool { return false }

// Write writes empty columns after an error.
func (c pairColumns) Write(w io.Writer, line string, _ text.Pair, s *translate.PairScore, err error) {
	columns := []string{"", "", ""}
	if err == nil {
		columns = []string{score(s.LogProb), strconv.Itoa(len(s.LogProbs)), score(s.Perplexity())}
	}
	if c.tokens {
		var list []string
		for _, x := range s.LogProbs {
			list = append(list, score(x))
		}
		columns = append(columns, strings.Join(list, " "))
	}
	if c.copied {
		columns = slices.Insert(columns, 0, line)
	}
	io.WriteString(w, strings.Join(columns, "\t")+"\n")
}

// pairObjects is the PairFormat of JSON objects. A blank line is copied.
type pairObjects struct {
	source, target string // names of fields
	tokens         bool
}

// The fields of the scores of a pair.
const (
	logProbField    = "logprob"
	countField      = "tokens"
	perplexityField = "perplexity"
	logProbsField   = "token_logprobs" // of the tokens and EOS: pairs of text and log-probability
)

func (f pairObjects) Parse(line string) (p text.Pair, err error) {
	fields, err := objectFields(line)
	if err != nil || fields == nil {
		return p, err
	}
	for _, name := range []string{logProbField, countField, perplexityField, logProbsField} {
		if _, ok := fields[name]; ok && (name != logProbsField || f.tokens) {
			return p, fmt.Errorf("found a field %q, which is the name of a field of the scores", name)
		}
	}
	if p.Source, err = textField(fields, f.source); err != nil {
		return p, err
	}
	p.Target, err = textField(fields, f.target)
	p.Source, _ = text.OneLine(p.Source, nil)
	p.Target, _ = text.OneLine(p.Target, nil)
	return p, err
}

func (pairObjects) Blank(line string) bool { return text.IsBlank(line) }

func (f pairObjects) Write(w io.Writer, line string, p text.Pair, s *translate.PairScore, err error) {
	line = strings.TrimSpace(line)
	if writeWithoutAnswer(w, line, err) {
		return
	}
	scores := new(terminal.Object).Add(logProbField, number(s.LogProb)).
		Add(countField, len(s.LogProbs)).Add(perplexityField, number(s.Perplexity()))
	if f.tokens {
		var list [][2]any
		for i, x := range s.LogProbs {
			piece := ""
			if i < len(s.Tokens) {
				piece = p.Target[s.Tokens[i].Start:s.Tokens[i].End]
			}
			list = append(list, [2]any{piece, number(x)})
		}
		scores.Add(logProbsField, list)
	}
	writeObject(w, line, scores)
}
