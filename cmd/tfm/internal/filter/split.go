package filter

import (
	"cmp"
	"iter"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/text/split"
	"tfm/translate"
)

// Split are the flags that split texts into sentences.
type Split struct{ On, Paragraphs bool }

// SplitFlags declares the flags of Split.
func SplitFlags(f *cli.Flags) *Split {
	s := new(Split)
	f.BoolVar(&s.On, "split", false, "translate the sentences of a line separately; the white space between them remains")
	f.BoolVar(&s.Paragraphs, "paragraphs", false, "with -split, sentences continue on the next line; blank lines, headings and items of lists end them")
	return s
}

// Check reports the flags that -split and -paragraphs do not accept.
func (s *Split) Check(given map[string]string) error {
	_, column := given["column"]
	_, json := given["json"]
	return cmp.Or(
		cli.UsageIf(s.Paragraphs && !s.On, "-paragraphs needs -split"),
		cli.UsageIf(s.Paragraphs && column && !json, "either -paragraphs or -column"),
		cli.Excludes(s.Paragraphs, given, "paragraphs", "prefix-file"),
		cli.Excludes(s.On, given, "split", "nbest", "align", "token-scores", "alternatives"),
	)
}

// Apply sets the splitting of lines. Without paragraphs a text stays one line.
func (s *Split) Apply(o *translate.LineOptions) {
	if !s.On {
		return
	}
	o.Split = &split.Options{Lines: !s.Paragraphs}
	if textOf := o.Text; !s.Paragraphs {
		o.Text = func(l text.Line) string {
			one, _ := text.OneLine(textOf(l), nil)
			return one
		}
	}
}

// JoinParagraphs returns lines with the lines of each paragraph as one, which has their line breaks
// and warnings and the number of the first. Blank lines, which end paragraphs, remain. A paragraph
// of more than text.MaxLine bytes is ended after a line.
func JoinParagraphs(lines iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	return func(yield func(text.Line, error) bool) {
		var first text.Line // of the paragraph, with the warnings of all
		var b strings.Builder
		open := false
		end := func() bool {
			if !open {
				return true
			}
			open, first.Text = false, b.String()
			b.Reset()
			return yield(first, nil)
		}
		for l, err := range lines {
			if err != nil || text.IsBlank(l.Text) || l.File != first.File || b.Len()+len(l.Text) > text.MaxLine {
				if !end() {
					return
				}
			}
			switch {
			case err != nil:
				yield(l, err)
				return
			case text.IsBlank(l.Text):
				if !yield(l, nil) {
					return
				}
			case open:
				b.WriteByte('\n')
				b.WriteString(l.Text)
				first.Warnings = append(first.Warnings, l.Warnings...)
			default:
				first, open = l, true
				b.WriteString(l.Text)
			}
		}
		end()
	}
}
