package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/model/decode"
)

func translateCommand() cli.Command {
	return cli.Command{
		Name:  "translate",
		Short: "translate lines of text",
		Usage: "-model M [flags] [FILE...]",
		Example: `
			tfm translate -model en-de.safetensors < in.en > out.de
			tail -f log | tfm translate -model en-de.safetensors -beam 1
			tfm translate -model en-de.safetensors -beam 8 -nbest 8 < in.en > out.lists
			tfm translate -model en-de.safetensors -sample -top-p 0.9 -seed 7 < in.en > out.de`,
		Notes: `Each line of the files, or of standard input, becomes one line on standard output; an empty line stays
empty. Lines that are there together are translated together, and the translations are written as soon as they are
there: what comes a line at a time is answered a line at a time. How many are translated together changes no
translation. On a terminal tfm prompts for a sentence.

With -nbest each line becomes up to so many, the best first, with tabs between the number of the input line (from 0, as in other
systems' lists), the score (the log-probability divided by the length penalty) and the text, which is the rest of
the line. An empty line becomes one with an empty text. The first of a list is the translation without -nbest.

With -sample each piece is drawn from the model's distribution: its logits are divided by the temperature, the -top-k most
probable pieces stay, and of these the fewest that have -top-p of the probability. What is drawn for a sentence depends on
the seed and on how many sentences come before it, not on what they are. With -nbest there are so many draws, which may be equal.`,
		Setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			path := f.String("model", "", "model `file`")
			search := searchFlags(f, decode.DefaultOptions().Beam)
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
			return func(_ context.Context, args []string) error {
				if *path == "" {
					return cli.Usagef("-model is missing")
				}
				if *batch < 1 || *batch > 1<<20 {
					return cli.Usagef("-batch %d: must be 1 to %d", *batch, 1<<20)
				}
				if *maxLen < 0 {
					return cli.Usagef("-max-len %d: must be at least 0", *maxLen)
				}
				if err := sampleOrSearch(*search, cli.Given(f)); err != nil {
					return err
				}
				if err := checkSearch(*search); err != nil {
					return err
				}
				if err := cli.CheckThreads(threads); err != nil {
					return err
				}
				t, err := loadTranslator(*path, threads, *search)
				if err != nil {
					return err
				}
				if *maxLen > 0 {
					t.maxLen = min(t.maxLen, *maxLen)
				}
				prompt := func() {}
				interactive := len(args) == 0 && terminal.IsTerminal(os.Stdin)
				if interactive {
					fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
					prompt = func() { fmt.Fprint(os.Stderr, "> ") }
				}
				answered := 0
				err = newInput(args, *batch).filter(prompt, func(lines []line) ([]string, error) {
					texts := make([]string, len(lines))
					for i, l := range lines {
						texts[i] = l.text
					}
					cut := func(i, pieces int) {
						fmt.Fprintf(os.Stderr, "tfm: %s:%d: %d pieces, cut to %d\n", lines[i].file, lines[i].number, pieces, t.maxLen)
					}
					if search.NBest == 0 {
						return t.translate(texts, cut), nil
					}
					lists := t.lists(texts, answered, cut)
					answered += len(lines)
					return lists, nil
				})
				if interactive {
					fmt.Fprintln(os.Stderr)
				}
				return err
			}
		},
	}
}

// lists translates texts and returns a line for each translation; first is the number of the first text.
func (t *translator) lists(texts []string, first int, cut func(i, pieces int)) []string {
	var out []string
	for i, list := range t.nbest(texts, cut) {
		if len(list) == 0 {
			list = []decode.Hypothesis{{}}
		}
		for _, h := range list {
			out = append(out, fmt.Sprintf("%d\t%.6f\t%s", first+i, h.Score, t.text(h)))
		}
	}
	return out
}

// sampleOrSearch is an error if flags for the one are given with the other.
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
