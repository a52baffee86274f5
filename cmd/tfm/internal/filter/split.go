package filter

import (
	"iter"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/text"
	"tfm/text/split"
	"tfm/translate"
)

// Split are the flags that split texts into sentences.
type Split struct {
	On, Paragraphs bool
	several        bool // the model splits texts of several sentences
}

// describeOne are the flags for which a text is one sentence.
var describeOne = []string{"nbest", "align", "token-scores", "alternatives"}

// Several lets lines of several sentences be split, as the model says, unless a flag is given that
// describes one sentence. Then it returns the name of the flag.
func (s *Split) Several(given map[string]string, t *translate.Translator) (unless string) {
	if _, ok := given["split"]; ok || s.On || !t.SplitsSentences() {
		return ""
	}
	for _, name := range describeOne {
		if _, ok := given[name]; ok {
			return name
		}
	}
	s.several = true
	return ""
}

// Sentences returns the number of sentences of a line.
func Sentences(s string) int {
	return len(split.Sentences(s, split.Options{Lines: true, MaxRunes: len(s)}))
}

// SeveralSentences is the kind of warnings about lines that are translated as one sentence.
const SeveralSentences = "lines of several sentences"

// SplitFlags declares the flags of Split.
func SplitFlags(f *cli.Flags) *Split {
	s := new(Split)
	f.BoolVar(&s.On, "split", false, "translate the sentences of a line separately; the white space between them remains; by default, if the model is trained on single sentences, for lines of several").Not(describeOne...)
	f.BoolVar(&s.Paragraphs, "paragraphs", false, "with -split, sentences continue on the next line; blank lines, headings and items of lists end them").Needs("split")
	return s
}

// Apply sets the splitting of lines. Without paragraphs a text stays one line.
func (s *Split) Apply(o *translate.LineOptions) {
	if !s.On && !s.several {
		return
	}
	o.Split, o.SplitSeveral = &split.Options{Lines: !s.Paragraphs}, s.several
	if textOf := o.Text; !s.Paragraphs {
		o.Text = func(l text.Line) string {
			one, _ := text.OneLine(textOf(l))
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
