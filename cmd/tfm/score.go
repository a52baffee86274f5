package main

import (
	"context"
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/terminal"
)

func scoreCommand() cli.Command {
	return cli.Command{
		Name:  "score",
		Short: "score a file of translations: BLEU and chrF",
		Usage: "-ref FILE [-ref FILE...] [flags] [HYPOTHESES]",
		Example: `
			tfm score -ref test.de hyp.de
			tfm translate -model en-de.safetensors test.en | tfm score -ref test.de
			tfm score -ref test.1.zh -ref test.2.zh -chrf-words 2 hyp.zh
			tfm score -ref test.de -sentence hyp.de | paste - hyp.de | sort -n | head`,
		Notes: `The hypotheses are the system's output: a file, or standard input. Line n is compared with line n of each reference. All
files may be gzipped.

The scores and signatures are those of sacreBLEU. -lowercase applies to BLEU alone and -chrf-lowercase to chrF, as there.

With -sentence each line of output has the BLEU of that line, with effective order, a tab and its chrF.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			o := scoring.Flags(f)
			sentence := f.Bool("sentence", false, "print the scores of each line")
			return func(_ context.Context, args []string) error {
				if err := o.Check(); err != nil {
					return err
				}
				if len(args) > 1 {
					return cli.Usagef("%d files of hypotheses: expected one, or none for standard input", len(args))
				}
				refs, err := scoring.ReadFiles(o.References)
				if err != nil {
					return err
				}
				hyps, err := readHypotheses(args, refs, o.References[0])
				if err != nil {
					return err
				}
				printTokenizer(o, refs)
				if *sentence {
					fmt.Fprint(os.Stderr, o.SentenceColumns(len(refs)))
					return o.WriteSentences(os.Stdout, hyps, refs)
				}
				return o.WriteCorpus(os.Stdout, hyps, refs)
			}
		},
	}
}

// readHypotheses reads the file in args, or standard input if args is empty.
func readHypotheses(args []string, refs [][]string, firstRef string) ([]string, error) {
	if len(args) == 0 {
		if terminal.IsTerminal(os.Stdin) {
			fmt.Fprintln(os.Stderr, "Reading translations from the terminal, a line each; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
		}
		return scoring.ReadHypotheses(os.Stdin, "standard input", refs, firstRef)
	}
	f, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return scoring.ReadHypotheses(f, args[0], refs, firstRef)
}

// printTokenizer prints the tokenizer that -tokenize auto chooses.
func printTokenizer(o *scoring.Options, refs [][]string) {
	if chosen, t := o.ChooseTokenizer(refs); chosen {
		fmt.Fprintf(os.Stderr, "BLEU: -tokenize %v, chosen from the references\n", t)
	}
}
