package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/exact"
	"tfm/internal/format"
	"tfm/text"
	"tfm/translate"
)

func scorePairsCommand(f *cli.Flags) cli.Action {
	c := pairScorer{given: f.Given}
	c.model.PathFlag(f)
	c.model.LanguageFlags(f)
	c.corpus = filter.CorpusFlags(f)
	f.Group("Output")
	f.BoolVar(&c.tokens, "tokens", false, "add the log-probability of each token")
	f.BoolVar(&c.progress, "progress", false, "show pairs, speed and remaining time; on by default for files on a terminal, if the output goes elsewhere")
	f.Group("Machine")
	c.model.Int8Flag(f)
	cli.ThreadsFlag(f, &c.model.Threads)
	return c.run
}

// pairScorer is the command with its flags.
type pairScorer struct {
	given            func() map[string]string // flags of the command line
	model            translator.Model
	corpus           *filter.Corpus
	tokens, progress bool
}

func (c *pairScorer) run(ctx context.Context, _ []string) error {
	if err := c.corpus.Check(); err != nil {
		return err
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	files := c.corpus.Files()
	w := pairWriter{file: text.InputName(files.Source), tokens: c.tokens, progress: filter.NewProgress("pair", filter.TextSize(files.Paths()), os.Stdout, c.given()["progress"])}
	w.warnings.Show = func(s string) { w.progress.Screen.Line("tfm: %s", s) }
	return w.write(ctx, os.Stdout, t, files.Pairs())
}

// pairWriter writes the scores of pairs.
type pairWriter struct {
	file     string // of the pairs, in warnings
	tokens   bool   // write the log-probability of each token
	progress *filter.Progress
	warnings text.Warnings

	pairs, count, failed int // count: tokens
	logProb              float64
}

// failedPair is the kind of the warning about a pair without score.
const failedPair = "pairs that were not scored"

// write scores pairs as they are read. After all pairs, the error is that of pairs, or that some
// have no score.
func (w *pairWriter) write(ctx context.Context, out io.Writer, t *translate.Translator, pairs iter.Seq2[text.Pair, error]) error {
	const batch = 256
	b := bufio.NewWriter(out)
	for list, err := range text.Batches(ctx, pairs, batch) {
		scores, failed := t.ScorePairs(ctx, list)
		for i := range scores {
			w.add(b, list[i], &scores[i])
		}
		if err := cmp.Or(b.Flush(), translator.LanguageError(failed), err); err != nil {
			w.progress.Screen.Clear()
			return err
		}
		w.progress.Update()
	}
	w.progress.Screen.Clear()
	w.warnings.Summarize()
	w.progress.End()
	if w.count > 0 {
		mean := w.logProb / float64(w.count)
		w.progress.Screen.Line("%s, %s: log-probability %.4f a token, perplexity %.4f",
			format.Count(w.pairs, "pair"), format.Count(w.count, "token"), mean, exact.Exp(-mean))
	}
	return filter.Failed(w.failed, w.pairs+w.failed, "pair", "scored")
}

// add writes the scores of a pair, or empty columns if it has none.
func (w *pairWriter) add(out io.Writer, p text.Pair, s *translate.PairScore) {
	w.progress.Add(p.Source + "\n" + p.Target)
	line := "\t\t"
	if s.Err != nil {
		w.failed++
		w.warnings.Add(text.Line{File: w.file, Number: p.Line}.Warning(failedPair, "%v", s.Err))
	} else {
		w.pairs++
		w.count += len(s.LogProbs)
		w.logProb += s.LogProb
		line = fmt.Sprintf("%.6f\t%d\t%.6f", s.LogProb, len(s.LogProbs), s.Perplexity())
	}
	if w.tokens {
		var list []string
		for _, x := range s.LogProbs {
			list = append(list, fmt.Sprintf("%.6f", x))
		}
		line += "\t" + strings.Join(list, " ")
	}
	io.WriteString(out, line+"\n")
}
