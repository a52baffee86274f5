package filter

import (
	"hash/fnv"
	"io"
	"strconv"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/translate"
)

// Format is the form of input and output.
type Format interface {
	// Parse returns the text and the key of a line. The key is "" unless the format has one.
	Parse(line string) (text, key string, err error)

	// Write writes a line and its answer. number counts lines from 0. If Parse fails for the
	// line, its error is err, and the line has no translation.
	Write(w io.Writer, number int, line string, r *translate.Result, err error)
}

// Answer selects the parts of an answer.
type Answer struct {
	NBest  bool // all translations with their numbers and scores, not only the best translation
	Scores bool
}

// Options are the flags that select a Format.
type Options struct {
	TSV, JSON bool
	Column    string // column or field of the text; "" is the default of the format
	Key       string // column or field of the key; "" is none
	As        string // field of the translation; "" is the default
}

// Flags declares the flags of a Format.
func Flags(f *cli.Flags) *Options {
	o := new(Options)
	f.BoolVar(&o.TSV, "tsv", false, "lines are columns separated by tabs; they are copied, and the answer is added")
	f.BoolVar(&o.JSON, "json", false, "lines are JSON objects; their fields are copied, and the answer is added")
	f.StringVar(&o.Column, "column", "", "`column` to translate: with -tsv its number (default 1), with -json the name of its field (default text)")
	f.StringVar(&o.Key, "key", "", "`column`, or field, that takes the place of the line's number in -nbest and -sample")
	f.StringVar(&o.As, "as", "", "`field` of the translation with -json (default translation)")
	return o
}

// Format returns the Format that the flags select. The error is that of a wrong flag.
func (o *Options) Format(a Answer) (Format, error) {
	switch {
	case o.TSV && o.JSON:
		return nil, cli.Usagef("either -tsv or -json")
	case o.As != "" && !o.JSON:
		return nil, cli.Usagef("-as needs -json")
	case o.JSON:
		return newObjects(o, a)
	case o.TSV:
		return newColumns(o, a)
	case o.Column != "":
		return nil, cli.Usagef("-column needs -tsv or -json")
	case o.Key != "":
		return nil, cli.Usagef("-key needs -tsv or -json")
	}
	return plain{a}, nil
}

// Number returns the number of a key on which draws depend: that of a decimal number is the number,
// so that the number of a line as its key changes no draw; others are hashed.
func Number(key string) uint64 {
	if n, err := strconv.ParseUint(key, 10, 64); err == nil && strconv.FormatUint(n, 10) == key {
		return n
	}
	h := fnv.New64a()
	io.WriteString(h, key)
	return h.Sum64()
}

// score formats a score as in n-best lists.
func score(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// list returns the translations that a selects: at least one, which is empty for a blank text.
func (a Answer) list(r *translate.Result) []translate.Translation {
	switch {
	case len(r.Translations) == 0:
		return []translate.Translation{{}}
	case !a.NBest:
		return r.Translations[:1]
	}
	return r.Translations
}

// withoutTabs returns s, which becomes a column, with a space for each tab.
func withoutTabs(s string) string { return strings.ReplaceAll(s, "\t", " ") }
