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

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

func translateCommand() cli.Command {
	return cli.Command{
		Name:  "translate",
		Short: "translate lines of text",
		Usage: "[-model M] [flags] [FILE...]",
		Example: `
			tfm translate -model en-de.safetensors < in.en > out.de
			tail -f log | tfm translate -model en-de.safetensors -beam 1
			tfm translate -model en-de.safetensors -beam 8 -nbest 8 < in.en > out.lists
			tfm translate -model en-de.safetensors -sample -top-p 0.9 -seed 7 < in.en > out.de`,
		Notes: `Each line of the files, or of standard input, becomes one line on standard output; an empty line stays
empty. Lines that are there together are translated together, and the translations are written as soon as they are
there: what comes a line at a time is answered a line at a time. How many are translated together changes no
translation. On a terminal tfm prompts for a sentence.

Bytes that are not UTF-8 become U+FFFD and lines longer than 1 MB are cut, each with a warning; of a kind ten are shown.

With -nbest each line becomes up to so many, the best first, with tabs between the number of the input line (from 0, as in other
systems' lists), the score (the log-probability divided by the length penalty) and the text, which is the rest of
the line. An empty line becomes one with an empty text. The first of a list is the translation without -nbest.

With -sample each piece is drawn from the model's distribution: its logits are divided by the temperature, the -top-k most
probable pieces stay, and of these the fewest that have -top-p of the probability. What is drawn for a sentence depends on
the seed and on how many sentences come before it, not on what they are. With -nbest there are so many draws, which may be equal.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			search := settings.SearchFlags(f, decode.DefaultOptions().Beam)
			f.IntVar(&search.NBest, "nbest", 0, "translations to list for each line, at most as many as the beam, or 64 with -sample; 0 is the best alone, without score")
			f.BoolVar(&search.Sample, "sample", false, "draw translations by chance instead of searching for the most probable")
			f.Float64Var(&search.Temperature, "temperature", search.Temperature, "of the draws: below 1 they are more often what is most probable, above 1 less often")
			f.IntVar(&search.TopK, "top-k", search.TopK, "most probable pieces to draw from; 0 is all")
			f.Float64Var(&search.TopP, "top-p", search.TopP, "draw from the most probable pieces that have this probability together; 1 is all")
			f.Uint64Var(&search.Seed, "seed", search.Seed, "what the draws come from")
			batch := f.Int("batch", 256, "lines to translate together at most")
			maxLen := f.Int("max-len", 0, "pieces of a source after which it is cut, with a warning; 0 is what the model can take")
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
				t, err := translate.Open(*path, translate.Options{Threads: threads, Concurrent: 1})
				if err != nil {
					return err
				}
				defer t.Close()
				warnings := text.Warnings{Show: func(s string) { fmt.Fprintf(os.Stderr, "tfm: %s\n", s) }}
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

// checkModel reports a model file that does not exist, and how to get one.
func checkModel(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist: make it with 'tfm train -o %s', or name a model with -model", path, cli.ShellWord(path))
	}
	return nil
}

// inputLines reads the lines of files, or of standard input if there are none.
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

// newPrompt returns what is shown before a line is waited for, and at the end: nothing unless a
// person types.
func newPrompt(files []string) (prompt, end func()) {
	if len(files) > 0 || !terminal.IsTerminal(os.Stdin) {
		return func() {}, func() {}
	}
	fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	return func() { fmt.Fprint(os.Stderr, "> ") }, func() { fmt.Fprintln(os.Stderr) }
}

// filter writes translations as they come: a line each, or with lists one for each translation of
// it.
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

// writeList writes the translations of a line; of one without a word there is one, the empty text.
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
