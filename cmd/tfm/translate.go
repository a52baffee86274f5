package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"tfm/model"
)

func translateCommand() command {
	return command{
		name:  "translate",
		short: "translate lines of text",
		usage: "-model M [flags] [FILE...]",
		example: `
			tfm translate -model en-de.safetensors < in.en > out.de
			tail -f log | tfm translate -model en-de.safetensors -beam 1`,
		notes: `Each line of the files, or of standard input, becomes one line on standard output; an empty line stays
empty. Lines that are there together are translated together, and the translations are written as soon as they are
there: what comes a line at a time is answered a line at a time. How many are translated together changes no
translation. On a terminal tfm prompts for a sentence.`,
		setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			path := f.String("model", "", "model `file`")
			search := searchFlags(f, model.DefaultSearch().Beam)
			batch := f.Int("batch", 256, "lines to translate together at most")
			maxLen := f.Int("max-len", 0, "pieces of a source after which it is cut, with a warning; 0 is what the model can take")
			var threads int
			threadsFlag(f, &threads)
			return func(_ context.Context, args []string) error {
				if *path == "" {
					return usagef("-model is missing")
				}
				if *batch < 1 || *batch > 1<<20 {
					return usagef("-batch %d: must be 1 to %d", *batch, 1<<20)
				}
				if *maxLen < 0 {
					return usagef("-max-len %d: must be at least 0", *maxLen)
				}
				if err := checkSearch(*search); err != nil {
					return err
				}
				if err := checkThreads(threads); err != nil {
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
				interactive := len(args) == 0 && isTerminal(os.Stdin)
				if interactive {
					fmt.Fprintln(os.Stderr, "Type a sentence; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
					prompt = func() { fmt.Fprint(os.Stderr, "> ") }
				}
				err = newInput(args, *batch).filter(prompt, func(lines []line) ([]string, error) {
					texts := make([]string, len(lines))
					for i, l := range lines {
						texts[i] = l.text
					}
					return t.translate(texts, func(i, pieces int) {
						fmt.Fprintf(os.Stderr, "tfm: %s:%d: %d pieces, cut to %d\n", lines[i].file, lines[i].number, pieces, t.maxLen)
					}), nil
				})
				if interactive {
					fmt.Fprintln(os.Stderr)
				}
				return err
			}
		},
	}
}
