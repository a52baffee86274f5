package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/translator"
	"tfm/model"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/detect"
	"tfm/translate"
)

func evalCommand(f *cli.Flags) cli.Action {
	c := evaluation{given: f.Given}
	c.model.PathFlag(f)
	c.model.LanguageFlags(f)
	f.StringVar(&c.src, "src", "", "`file` of source sentences, one a line")
	f.StringVar(&c.tsv, "tsv", "", "`file` of lines with source, tab, reference, or translation memory (TMX), or .gz; replaces -src and -ref")
	c.scores = scoring.Flags(f)
	f.StringVar(&c.out, "o", "", "`file` to write the translations to")
	f.Group("Search")
	c.search = settings.SearchFlags(f, decode.DefaultOptions().Beam)
	f.Group("Machine")
	c.model.Int8Flag(f)
	c.model.ShortlistFlag(f)
	cli.ThreadsFlag(f, &c.model.Threads)
	return c.run
}

// evaluation is the command with its flags.
type evaluation struct {
	given         func() map[string]string // flags of the command line
	model         translator.Model
	src, tsv, out string
	scores        *scoring.Options
	search        *decode.Options
}

// check reports wrong usage, and files that cannot be read or written.
func (c *evaluation) check() error {
	refs := &c.scores.References
	if err := cmp.Or(
		cli.UsageIf(c.tsv != "" && (c.src != "" || len(*refs) > 0), "either -tsv or -src and -ref"),
		cli.UsageIf(c.tsv == "" && (c.src == "" || len(*refs) == 0), "-src and -ref are needed, or -tsv"),
	); err != nil {
		return err
	}
	if c.tsv != "" {
		c.src, *refs = c.tsv, []string{c.tsv}
	}
	err := cmp.Or(
		c.scores.Check(),
		settings.Error(c.search.Validate()),
		c.model.Check(),
	)
	if err != nil || c.out == "" {
		return err
	}
	return cli.CheckOutput(c.out, append([]string{c.model.Path, c.src}, c.scores.References...)...)
}

func (c *evaluation) run(ctx context.Context, _ []string) error {
	if err := c.check(); err != nil {
		return err
	}
	refFiles := c.scores.References
	if c.tsv != "" {
		refFiles = nil // the file is read once
	}
	files, err := translator.Inputs([]string{c.src}, refFiles...)
	if err != nil {
		return err
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	read := func() ([][]string, error) { return scoring.ReadFiles(append(files, c.scores.References...)) }
	if c.tsv != "" {
		read = func() ([][]string, error) { return readPairs(c.tsv, c.model.From, c.model.To, t) }
	}
	texts, err := read()
	if err != nil {
		return err
	}
	srcs, refs := texts[0], texts[1:]
	if err := c.model.Search(c.search, c.given(), t); err != nil {
		return err
	}
	source, target := t.Tags("", "")
	if err := detect.CheckDirection(srcs, refs[0], source, target); err != nil {
		fmt.Fprintf(os.Stderr, "tfm: warning: %s: %v\n", text.InputName(c.src), err)
	}
	hyps, err := c.translate(ctx, t, srcs)
	if err != nil {
		return err
	}
	c.scores.PrintTokenizer(refs)
	err = c.scores.WriteCorpus(os.Stdout, hyps, refs)
	if c.out == "" {
		return err
	}
	// After a failure of either the result of the other is kept.
	return errors.Join(err, writeLines(c.out, hyps))
}

// readPairs returns the sources and the references of a file of pairs. The languages from and to,
// or those of the model, choose the variants of a translation memory; those of the model, which may
// have been detected, only tell source from target where they are not in it.
func readPairs(path, from, to string, t *translate.Translator) ([][]string, error) {
	files := text.Files{Source: path, OneSided: new(int)}
	files.SrcLang, files.TgtLang = t.Languages()
	if src, tgt, err := model.CanonicalLanguages(from, to); err == nil {
		files.SrcLang, files.TgtLang = cmp.Or(src, files.SrcLang), cmp.Or(tgt, files.TgtLang)
	}
	texts, err := sides(files)
	if err != nil && from+to == "" {
		files.Likely = true
		if texts, err := sides(files); err == nil {
			return texts, nil
		}
	}
	return texts, err
}

// sides returns the sources and the targets of all pairs.
func sides(files text.Files) ([][]string, error) {
	texts := make([][]string, 2)
	for p, err := range files.Pairs() {
		if err != nil {
			return nil, err
		}
		texts[0], texts[1] = append(texts[0], p.Source), append(texts[1], p.Target)
	}
	return texts, nil
}

// translate translates srcs, the lines of -src, and shows its progress.
func (c *evaluation) translate(ctx context.Context, t *translate.Translator, srcs []string) ([]string, error) {
	const batch = 256
	size := 0
	for _, s := range srcs {
		size += len(s) + 1
	}
	p := filter.NewProgress("sentence", int64(size), nil, "true")
	var warnings translator.Warnings
	warnings.Show = func(s string) { p.Screen.Line("tfm: %s", s) }
	var hyps []string
	c.search.NoScore = true // for greedy search
	for len(hyps) < len(srcs) {
		texts := srcs[len(hyps):min(len(hyps)+batch, len(srcs))]
		results, err := t.Do(ctx, translate.Request{Texts: texts, Decode: *c.search})
		if err != nil {
			return nil, translator.LanguageError(err)
		}
		for i, r := range results {
			p.Add(texts[i])
			hyps = append(hyps, r.Best())
			if w, ok := r.LineWarning(text.Line{File: text.InputName(c.src), Number: len(hyps)}); ok {
				warnings.Add(w)
			}
		}
		p.Update()
	}
	warnings.Summarize()
	p.End()
	return hyps, nil
}

// writeLines writes a file of lines.
func writeLines(path string, lines []string) error {
	return safetensors.WriteAtomic(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(append(lines, ""), "\n"))
		return err
	})
}
