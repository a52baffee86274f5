package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model/decode"
	"tfm/text"
	"tfm/train"
	"tfm/translate"
)

func translateCommand() cli.Command {
	return cli.Command{
		Name:  "translate",
		Short: "translate text, line by line",
		Usage: "[-model MODEL] [flags] [FILE...]",
		Example: `
			tfm translate -model en-de.safetensors < in.en > out.de
			tfm translate -model en-de.safetensors -beam 8 -nbest 8 in.en > out.lists
			tfm translate -model en-de.safetensors -sample -top-p 0.9 -seed 7 in.en > out.de`,
		Notes: `Each line of the files, or of standard input, becomes one line of standard output. A blank line becomes an empty one. A line is
translated as soon as it is read, so tfm translate works in a pipe; on a terminal it prompts for sentences. The
translation of a line does not depend on other lines or on -batch.

With -nbest each line becomes up to N lines, best first, of three fields separated by tabs: the line's number from 0, the
score (the log-probability divided by the length penalty) and the translation.

` + settings.PenaltyNote + `

With -sample each token is drawn from the model's distribution, after division of the logits by the temperature and restriction to -top-k
and -top-p. The draws for a line depend on -seed and on the line's number, not on other lines.

Invalid UTF-8 is replaced by U+FFFD and a line over 1 MB is truncated, each with a warning.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			search := settings.SearchFlags(f, decode.DefaultOptions().Beam)
			f.IntVar(&search.NBest, "nbest", 0, "list the N best translations of each line with their scores; limit -beam, or 64 with -sample")
			f.Group("Input")
			batch := f.Int("batch", 256, "limit of the lines that are translated together")
			maxLen := f.Int("max-len", 0, "limit of source tokens; a longer line is truncated with a warning; 0 is the model's limit")
			f.Group("Sampling")
			f.BoolVar(&search.Sample, "sample", false, "draw translations at random, without a beam")
			f.Float64Var(&search.Temperature, "temperature", search.Temperature, "divisor of the logits; below 1 favours probable tokens")
			f.IntVar(&search.TopK, "top-k", search.TopK, "draw from the N most probable tokens; 0 is all")
			f.Float64Var(&search.TopP, "top-p", search.TopP, "draw from the most probable tokens with this total probability; 1 is all")
			f.Uint64Var(&search.Seed, "seed", search.Seed, "random seed of the draws")
			f.Group("Machine")
			int8 := f.Bool("int8", false, "round the weights to 8 bits: faster, and a few translations differ")
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(ctx context.Context, args []string) error {
				if *batch < 1 || *batch > 1<<20 {
					return cli.Usagef("-batch %d: must be 1 to %d", *batch, 1<<20)
				}
				if *maxLen < 0 {
					return cli.Usagef("-max-len %d: must be at least 0", *maxLen)
				}
				if err := sampleOrSearch(*search, f.Given()); err != nil {
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
				t, err := translate.Open(*path, translate.Options{Threads: threads, Int8: *int8})
				if err != nil {
					return err
				}
				defer t.Close()
				settings.UseModelPenalty(search, f.Given(), t.DefaultOptions())
				warnings := sourceWarnings{remedy: trainLonger}
				if *maxLen > 0 && *maxLen < t.MaxSource() {
					warnings.remedy = "give a larger -max-len"
				}
				warnings.Show = func(s string) { fmt.Fprintf(os.Stderr, "tfm: %s\n", s) }
				defer warnings.Summarize()
				o := translate.LineOptions{Request: translate.Request{Decode: *search, MaxSource: *maxLen}, Batch: *batch, Warn: warnings.Add}
				prompt, end := newPrompt(args)
				return filter(os.Stdout, t.Lines(ctx, inputLines(args, text.RepairLines), o), search.NBest > 0, prompt, end)
			}
		},
	}
}

// modelFlag declares -model of a command that translates.
func modelFlag(f *cli.Flags) *string {
	return f.String("model", settings.DefaultModel, "model `file`")
}

// checkModel reports a missing model file, or a folder of checkpoints in its place, and how to get
// one.
func checkModel(path string) error {
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
		dir := strings.TrimSuffix(path, ".safetensors") + ".ckpt"
		if checkpoints, err := train.Checkpoints(dir); err == nil && len(checkpoints) > 0 {
			return fmt.Errorf("%s does not exist, because its run has not ended: resume it with 'tfm train … -resume', or use -model %s", path, cli.ShellWord(checkpoints[len(checkpoints)-1]))
		}
	case err == nil && info.IsDir():
		if checkpoints, err := train.Checkpoints(path); err == nil && len(checkpoints) > 0 {
			return fmt.Errorf("%s is a folder of checkpoints: use one, such as -model %s", path, cli.ShellWord(checkpoints[len(checkpoints)-1]))
		}
	}
	if missing {
		return fmt.Errorf("%s does not exist: make it with 'tfm train -o %s', or name a model with -model", path, cli.ShellWord(path))
	}
	return nil
}

// sourceWarnings shows warnings about the lines of a source. Of truncated lines it shows the first,
// with a remedy, and at the end their number.
type sourceWarnings struct {
	text.Warnings
	remedy    string // in addition to shorter sentences
	truncated int
}

// trainLonger is the remedy for sentences that exceed the limit of the model.
const trainLonger = "train a model with a larger -max-len"

func (w *sourceWarnings) Add(warning text.Warning) {
	if warning.Kind != translate.TruncatedLine {
		w.Warnings.Add(warning)
		return
	}
	if w.truncated++; w.truncated == 1 {
		w.Show(fmt.Sprintf("%s; put shorter sentences on separate lines, or %s", warning.Message, w.remedy))
	}
}

func (w *sourceWarnings) Summarize() {
	w.Warnings.Summarize()
	if w.truncated > 1 {
		w.Show(format.Thousands(w.truncated) + " lines were truncated")
	}
}

// inputLines reads the lines of files, or of standard input without files.
func inputLines(files []string, read func(r io.Reader, name string) iter.Seq2[text.Line, error]) iter.Seq2[text.Line, error] {
	if len(files) == 0 {
		return read(os.Stdin, "standard input")
	}
	return func(yield func(text.Line, error) bool) {
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				yield(text.Line{}, err)
				return
			}
			for l, err := range read(f, name) {
				if !yield(l, err) || err != nil {
					f.Close()
					return
				}
			}
			f.Close()
		}
	}
}

// newPrompt returns functions that print a prompt for a line, and the end of the last prompt. They
// print nothing unless standard input is a terminal.
func newPrompt(files []string) (prompt, end func()) {
	if len(files) > 0 || !terminal.IsTerminal(os.Stdin) {
		return func() {}, func() {}
	}
	fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	return func() { fmt.Fprint(os.Stderr, "> ") }, func() { fmt.Fprintln(os.Stderr) }
}

// filter writes each translated line, or with lists each of its translations, as soon as it is
// translated.
func filter(out io.Writer, answers iter.Seq2[[]translate.Line, error], lists bool, prompt, end func()) error {
	defer end()
	w := bufio.NewWriter(out)
	number := 0
	prompt()
	for lines, err := range answers {
		for _, l := range lines {
			if lists {
				writeList(w, number, l.Translations)
			} else {
				w.WriteString(l.Best() + "\n")
			}
			number++
		}
		if e := w.Flush(); e != nil {
			return e
		}
		if err != nil {
			return err
		}
		prompt()
	}
	return nil
}

// writeList writes the translations of a line, or one empty translation of a blank line.
func writeList(w io.Writer, number int, list []translate.Translation) {
	if len(list) == 0 {
		list = []translate.Translation{{}}
	}
	for _, h := range list {
		fmt.Fprintf(w, "%d\t%.6f\t%s\n", number, h.Score, h.Text)
	}
}

// sampleOrSearch reports a flag of beam search given for sampling, or the reverse.
func sampleOrSearch(s decode.Options, given map[string]string) error {
	if _, beam := given["beam"]; beam && s.Sample {
		return cli.Usagef("either -beam or -sample")
	}
	for _, name := range []string{"temperature", "top-k", "top-p", "seed"} {
		if _, ok := given[name]; ok && !s.Sample {
			return cli.Usagef("-%s needs -sample", name)
		}
	}
	return nil
}
