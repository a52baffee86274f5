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
type plain struct {
	*Answer
	keyed bool // a line is its own key
}

func (p plain) Parse(line string) (text, key string, err error) {
	if p.keyed {
		key = line
	}
	return line, key, nil
}

func (p plain) Write(w io.Writer, number int, line string, r *translate.Result, _ error) {
	for _, t := range p.list(r) {
		id := strconv.Itoa(number)
		if p.keyed {
			id = strings.ReplaceAll(line, "\t", " ")
		}
		columns := p.columns(id, line, r, &t)
		if p.NBest && p.Align == "" || len(columns) == 1 {
			columns[len(columns)-1] = t.Text // the last column may contain tabs
		}
		io.WriteString(w, strings.Join(columns, "\t")+"\n")
	}
}

// columns returns the columns of a translation of a text. number is that of the line, or its key.
func (a *Answer) columns(number, text string, r *translate.Result, t *translate.Translation) []string {
	columns := []string{strings.ReplaceAll(t.Text, "\t", " ")}
	switch {
	case a.NBest:
		columns = []string{number, score(t.Score), columns[0]}
	case a.Scores:
		columns = append(columns, score(t.Score))
	}
	if a.Align != "" {
		columns = append(columns, pharaoh(a.links(text, r, t)))
	}
	return columns
}

// columns is the Format of lines whose columns are separated by tabs.
type columns struct {
	*Answer
	text int // index of the text
	key  int // index of the key, -1 without
}

func newColumns(o *Options, a *Answer) (Format, error) {
	c := columns{Answer: a, key: -1}
	var err error
	if c.text, err = columnIndex("column", o.Column); err == nil && o.Key != "" {
		c.key, err = columnIndex("key", o.Key)
	}
	return c, err
}

// columnIndex returns the index of a column from the value of a flag.
func columnIndex(flag, value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, cli.Usagef("-%s is %q, expected the number of a column, from 1, or -json", flag, value)
	}
	return n - 1, nil
}

func (c columns) Parse(line string) (text, key string, err error) {
	list, err := splitColumns(line, max(c.text, c.key))
	if err != nil {
		return "", "", err
	}
	if c.key >= 0 {
		key = list[c.key]
	}
	return list[c.text], key, nil
}

// splitColumns returns the columns of a line, which must have one of index last.
func splitColumns(line string, last int) ([]string, error) {
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
	text, key, _ := c.Parse(line)
	switch {
	case err != nil:
		text, r = "", new(translate.Result)
	case c.key >= 0:
		id = key
	}
	for _, t := range c.list(r) {
		columns := c.columns(id, text, r, &t)
		for i := range columns {
			if err != nil && !(c.NBest && i == 0) {
				columns[i] = "" // of a line without translation, all but its number
			}
		}
		io.WriteString(w, line+"\t"+strings.Join(columns, "\t")+"\n")
	}
}
