package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/internal/format"
	"tfm/mat"
	"tfm/text"
	"tfm/translate"
)

func scorePairsCommand() cli.Command {
	return cli.Command{
		Name: "score-pairs",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			src := f.String("src", "", "`file` of sources, one a line")
			tgt := f.String("tgt", "", "`file` of their translations")
			form := filter.PairFlags(f)
			f.Group("Output")
			f.BoolVar(&form.Tokens, "tokens", false, "add the log-probability of each token")
			f.Bool("progress", false, "show pairs, speed and remaining time; on by default for files on a terminal, if the output goes elsewhere")
			f.Group("Machine")
			int8 := int8Flag(f)
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(ctx context.Context, args []string) error {
				pairFormat, err := form.Format()
				if err != nil {
					return err
				}
				twoFiles := !form.TSV && !form.JSON
				switch {
				case twoFiles && (*src == "" || *tgt == ""):
					return cli.Usagef("-src and -tgt are needed, or -tsv, or -json")
				case !twoFiles && (*src != "" || *tgt != ""):
					return cli.Usagef("either -src and -tgt, or -tsv, or -json")
				case twoFiles:
					if err := cli.NoArguments(args); err != nil {
						return err
					}
				}
				t, err := openModel(*path, translate.Options{Threads: threads, Int8: *int8})
				if err != nil {
					return err
				}
				defer t.Close()
				files, pairs := args, linesOfPairs(args, pairFormat)
				if twoFiles {
					files, pairs = []string{*src, *tgt}, filesOfPairs(*src, *tgt)
				}
				w := pairWriter{format: pairFormat, progress: filter.NewProgress(files, f.Given()["progress"])}
				w.warnings.Show = func(s string) { w.progress.Screen.Line("tfm: %s", s) }
				return w.write(ctx, os.Stdout, t, pairs)
			}
		},
	}
}

// pairLine is a line with a pair.
type pairLine struct {
	text.Line
	pair text.Pair
	read string // text of the files, for the progress
	err  error  // the line has no pair
}

// linesOfPairs returns the pairs of the lines of files, or of standard input without files.
func linesOfPairs(files []string, f filter.PairFormat) iter.Seq2[pairLine, error] {
	return func(yield func(pairLine, error) bool) {
		for l, err := range inputLines(files, text.RepairLines) {
			p := pairLine{Line: l, read: l.Text}
			p.pair, p.err = f.Parse(l.Text)
			if !yield(p, err) {
				return
			}
		}
	}
}

// filesOfPairs returns the pairs of two files.
func filesOfPairs(src, tgt string) iter.Seq2[pairLine, error] {
	return func(yield func(pairLine, error) bool) {
		for p, err := range text.Pairs(src, tgt) {
			l := pairLine{Line: text.Line{File: src, Number: p.Line}, pair: p, read: p.Source + "\n" + p.Target}
			if !yield(l, err) {
				return
			}
		}
	}
}

// pairWriter writes pairs and their scores.
type pairWriter struct {
	format   filter.PairFormat
	progress *filter.Progress
	warnings text.Warnings

	pairs, tokens, failed int
	logProb               float64
}

// failedPair is the kind of the warning about a pair without score.
const failedPair = "pairs that were not scored"

// write scores pairs as they are read. After all pairs, the error is that of pairs, or that some
// have no score.
func (w *pairWriter) write(ctx context.Context, out io.Writer, t *translate.Translator, pairs iter.Seq2[pairLine, error]) error {
	const batch = 256
	b := bufio.NewWriter(out)
	for lines, err := range text.Batches(ctx, pairs, batch) {
		if e := w.writeBatch(ctx, b, t, lines); e != nil {
			err = e
		}
		if e := b.Flush(); e != nil {
			err = e
		}
		if err != nil {
			w.progress.Screen.Clear()
			return err
		}
		w.progress.Update()
	}
	w.progress.Screen.Clear()
	w.warnings.Summarize()
	w.progress.End()
	if w.tokens > 0 {
		mean := w.logProb / float64(w.tokens)
		w.progress.Screen.Line("%s, %s: log-probability %.4f a token, perplexity %.4f",
			format.Count(w.pairs, "pair"), format.Count(w.tokens, "token"), mean, mat.Exp(-mean))
	}
	if w.failed > 0 {
		return fmt.Errorf("%s of %s not scored", format.Thousands(w.failed), format.Count(w.pairs+w.failed, "pair"))
	}
	return nil
}

func (w *pairWriter) writeBatch(ctx context.Context, out io.Writer, t *translate.Translator, lines []pairLine) error {
	pairs := make([]text.Pair, len(lines))
	for i, l := range lines {
		pairs[i] = l.pair
	}
	scores, err := t.ScorePairs(ctx, pairs)
	if err != nil {
		return err
	}
	for i := range lines {
		w.add(out, &lines[i], &scores[i])
	}
	return nil
}

// add writes a pair and its scores.
func (w *pairWriter) add(out io.Writer, l *pairLine, s *translate.PairScore) {
	w.progress.Add(l.read)
	for _, warning := range l.Warnings {
		w.warnings.Add(warning)
	}
	err := errors.Join(l.err, s.Err) // one of them
	switch {
	case w.format.Blank(l.Text):
	case err != nil:
		warning := l.Warning(failedPair, "%v", err)
		err = errors.New(warning.Message)
		w.warnings.Add(warning)
		w.failed++
		s = new(translate.PairScore)
	default:
		w.pairs++
		w.tokens += len(s.LogProbs)
		w.logProb += s.LogProb
	}
	w.format.Write(out, l.Text, l.pair, s, err)
}
