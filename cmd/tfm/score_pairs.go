package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/lang"
	"tfm/mat"
	"tfm/model"
	"tfm/text"
	"tfm/translate"
)

func scorePairsCommand(f *cli.Flags) cli.Action {
	c := pairScorer{given: f.Given}
	c.model.PathFlag(f)
	c.model.LanguageFlags(f)
	f.StringVar(&c.src, "src", "", "`file` of sources, one a line")
	f.StringVar(&c.tgt, "tgt", "", "`file` of their translations")
	c.form = filter.PairFlags(f)
	f.Group("Output")
	f.BoolVar(&c.form.Tokens, "tokens", false, "add the log-probability of each token")
	f.BoolVar(&c.progress, "progress", false, "show pairs, speed and remaining time; on by default for files on a terminal, if the output goes elsewhere")
	f.Group("Machine")
	c.model.Int8Flag(f)
	cli.ThreadsFlag(f, &c.model.Threads)
	return c.run
}

// pairScorer is the command with its flags.
type pairScorer struct {
	given    func() map[string]string // flags of the command line
	model    translator.Model
	src, tgt string
	form     *filter.PairOptions
	progress bool
}

func (c *pairScorer) run(ctx context.Context, args []string) error {
	format, err := c.form.Format()
	if err != nil {
		return err
	}
	twoFiles := c.form.Columns == "" && !c.form.JSON
	files := args
	switch {
	case twoFiles && (c.src == "" || c.tgt == ""):
		return cli.Usagef("-src and -tgt are needed, or -columns, or -json")
	case !twoFiles && (c.src != "" || c.tgt != ""):
		return cli.Usagef("either -src and -tgt, or -columns, or -json")
	case twoFiles:
		if err := cli.NoArguments(args); err != nil {
			return err
		}
		files = []string{c.src, c.tgt}
	}
	if files, err = translator.Inputs(files); err != nil {
		return err
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	pairs := linesOfPairs(files, format)
	if config := t.Config(); c.form.JSON && config.SrcLanguages+config.TgtLanguages != "" {
		pairs = c.checkLanguages(t, pairs)
	}
	if twoFiles {
		pairs = filesOfPairs(c.src, c.tgt)
	}
	w := pairWriter{format: format, progress: filter.NewProgress(files, os.Stdout, c.given()["progress"])}
	w.warnings.Show = func(s string) { w.progress.Screen.Line("tfm: %s", s) }
	return w.write(ctx, os.Stdout, t, pairs)
}

// pairLine is a line with a pair.
type pairLine struct {
	text.Line
	pair text.Pair
	read string // text of the files, for the progress
	err  error  // the line has no pair
}

// linesOfPairs returns the pairs of the lines of files.
func linesOfPairs(files []string, f filter.PairFormat) iter.Seq2[pairLine, error] {
	return func(yield func(pairLine, error) bool) {
		for l, err := range translator.Lines(files, text.RepairLines) {
			p := pairLine{Line: l, read: l.Text}
			p.pair, p.err = f.Parse(l.Text)
			if !yield(p, err) {
				return
			}
		}
	}
}

// checkLanguages sets the error of JSON objects that name other languages than those that all pairs
// have by the flags or the model, or than the code at the begin of the source.
func (c *pairScorer) checkLanguages(t *translate.Translator, pairs iter.Seq2[pairLine, error]) iter.Seq2[pairLine, error] {
	srcLang, tgtLang := t.Languages()
	differs := func(l model.Languages, found, want string) bool {
		if list := l.List(); want == "" && len(list) == 1 {
			want = list[0].Code
		}
		x, errX := l.Find("", found)
		y, errY := l.Find("", want)
		same := errX == nil && errY == nil && x.Code == y.Code || l == "" && lang.Is(found, want)
		return found != "" && !same
	}
	return func(yield func(pairLine, error) bool) {
		for p, err := range pairs {
			from, to := filter.LineLanguages(p.Text)
			code, _, _ := lang.CutCode(p.pair.Source)
			if p.err == nil && (differs(t.Config().SrcLanguages, from, cmp.Or(c.model.From, srcLang)) || differs(t.Config().TgtLanguages, to, cmp.Or(code, c.model.To, tgtLang))) {
				p.err = fmt.Errorf("found from %.20q and to %.20q, expected those of -from and -to: score the pairs of each direction by themselves", from, to)
			}
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
			l := pairLine{Line: text.Line{File: text.InputName(src), Number: p.Line}, pair: p, read: p.Source + "\n" + p.Target}
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
		failed := w.writeBatch(ctx, b, t, lines)
		if err := cmp.Or(b.Flush(), failed, err); err != nil {
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
	return filter.Failed(w.failed, w.pairs+w.failed, "pair", "scored")
}

func (w *pairWriter) writeBatch(ctx context.Context, out io.Writer, t *translate.Translator, lines []pairLine) error {
	pairs := make([]text.Pair, len(lines))
	for i, l := range lines {
		pairs[i] = l.pair
	}
	scores, err := t.ScorePairs(ctx, pairs)
	if err != nil {
		return translator.LanguageError(err)
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
