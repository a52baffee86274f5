package filter

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/translate"
)

// plain is the Format whose lines are texts.
type plain struct{ Answer }

func (plain) Parse(line string) (text, key string, err error) { return line, "", nil }

func (p plain) Write(w io.Writer, number int, _ string, r *translate.Result, _ error) {
	for _, t := range p.list(r) {
		switch {
		case p.NBest: // the last column may contain tabs
			fmt.Fprintf(w, "%d\t%s\t%s\n", number, score(t.Score), t.Text)
		case p.Scores:
			io.WriteString(w, p.columns("", &t)+"\n")
		default:
			io.WriteString(w, t.Text+"\n")
		}
	}
}

// columns returns the answer as columns. number is that of the line, or its key.
func (a Answer) columns(number string, t *translate.Translation) string {
	text := withoutTabs(t.Text)
	switch {
	case a.NBest:
		return number + "\t" + score(t.Score) + "\t" + text
	case a.Scores:
		return text + "\t" + score(t.Score)
	}
	return text
}

// emptyColumns returns the answer of a line without translation.
func (a Answer) emptyColumns(number string) string {
	switch {
	case a.NBest:
		return number + "\t\t"
	case a.Scores:
		return "\t"
	}
	return ""
}

// columns is the Format of lines whose columns are separated by tabs.
type columns struct {
	Answer
	text int // index of the text
	key  int // index of the key, -1 without
}

func newColumns(o *Options, a Answer) (Format, error) {
	c := columns{Answer: a, key: -1}
	var err error
	if o.Column != "" {
		if c.text, err = columnIndex("column", o.Column); err != nil {
			return nil, err
		}
	}
	if o.Key != "" {
		if c.key, err = columnIndex("key", o.Key); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// columnIndex returns the index of a column from the value of a flag.
func columnIndex(flag, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, cli.Usagef("-%s %q: with -tsv, expected the number of a column, from 1", flag, value)
	}
	return n - 1, nil
}

func (c columns) Parse(line string) (text, key string, err error) {
	list, err := split(line, max(c.text, c.key))
	if err != nil {
		return "", "", err
	}
	if c.key >= 0 {
		key = list[c.key]
	}
	return list[c.text], key, nil
}

// split returns the columns of a line, which must have one of index last.
func split(line string, last int) ([]string, error) {
	list := strings.Split(line, "\t")
	if last < len(list) {
		return list, nil
	}
	found := fmt.Sprintf("%d columns", len(list))
	if len(list) == 1 {
		found = "no tab"
	}
	return nil, fmt.Errorf("found %s, expected column %d", found, last+1)
}

func (c columns) Write(w io.Writer, number int, line string, r *translate.Result, err error) {
	id := strconv.Itoa(number)
	if err != nil {
		io.WriteString(w, line+"\t"+c.emptyColumns(id)+"\n")
		return
	}
	if c.key >= 0 {
		_, id, _ = c.Parse(line)
	}
	for _, t := range c.list(r) {
		io.WriteString(w, line+"\t"+c.columns(id, &t)+"\n")
	}
}
