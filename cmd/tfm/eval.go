package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/translate"
)

func evalCommand() cli.Command {
	return cli.Command{
		Name: "eval",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			src := f.String("src", "", "`file` of source sentences, one a line")
			scores := scoring.Flags(f)
			out := f.String("o", "", "`file` to write the translations to")
			f.Group("Search")
			search := settings.SearchFlags(f, decode.DefaultOptions().Beam)
			f.Group("Machine")
			int8, useList := int8Flag(f), shortlistFlag(f)
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(ctx context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				if *src == "" || len(scores.References) == 0 {
					return cli.Usagef("-src and -ref are needed")
				}
				if err := scores.Check(); err != nil {
					return err
				}
				if err := settings.CheckSearch(*search); err != nil {
					return err
				}
				if err := cli.CheckThreads(threads); err != nil {
					return err
				}
				if err := checkModel(*path); err != nil {
					return err
				}
				if *out != "" {
					if err := cli.CheckOutput(*out, append([]string{*path, *src}, scores.References...)...); err != nil {
						return err
					}
				}
				texts, err := scoring.ReadFiles(append([]string{*src}, scores.References...))
				if err != nil {
					return err
				}
				srcs, refs := texts[0], texts[1:]
				t, err := translate.Open(*path, translate.Options{Threads: threads, Int8: *int8})
				if err != nil {
					return err
				}
				defer t.Close()
				settings.UseModelPenalty(search, f.Given(), t.DefaultOptions())
				if *useList {
					if err := useShortlist(search, t, *path); err != nil {
						return err
					}
				}
				hyps, err := evaluate(ctx, t, *search, *src, srcs)
				if err != nil {
					return err
				}
				printTokenizer(scores, refs)
				err = scores.WriteCorpus(os.Stdout, hyps, refs)
				if *out == "" {
					return err
				}
				// After a failure of either the result of the other is kept.
				return errors.Join(err, writeLines(*out, hyps))
			}
		},
	}
}

// evaluate translates srcs, the lines of file, and shows its progress.
func evaluate(ctx context.Context, t *translate.Translator, o decode.Options, file string, srcs []string) ([]string, error) {
	const batch = 256
	p := terminal.NewProgress(os.Stderr)
	warnings := lineWarnings{remedy: trainLonger}
	warnings.Show = func(s string) { p.Line("tfm: %s", s) }
	start := time.Now()
	perSecond := func(n int) float64 { return float64(n) / time.Since(start).Seconds() }
	var hyps []string
	o.NoScore = true // for greedy search
	for len(hyps) < len(srcs) {
		texts := srcs[len(hyps):min(len(hyps)+batch, len(srcs))]
		results, err := t.Do(ctx, translate.Request{Texts: texts, Decode: o})
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			hyps = append(hyps, r.Best())
			if w, ok := r.LineWarning(text.Line{File: file, Number: len(hyps)}); ok {
				warnings.Add(w)
			}
		}
		p.Update(time.Now(), fmt.Sprintf("%s of %s sentences, %.1f a second", format.Thousands(len(hyps)), format.Thousands(len(srcs)), perSecond(len(hyps))))
	}
	warnings.Summarize()
	p.Line("%s in %.1f s, %.1f a second", format.Count(len(hyps), "sentence"), time.Since(start).Seconds(), perSecond(len(hyps)))
	return hyps, nil
}

// writeLines writes a file of lines.
func writeLines(path string, lines []string) error {
	return safetensors.WriteAtomic(path, func(w io.Writer) error {
		for _, l := range lines {
			if _, err := io.WriteString(w, l+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}
