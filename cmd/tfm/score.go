package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/scoring"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/text"
)

func scoreCommand(f *cli.Flags) cli.Action {
	var c scorer
	f.StringsVar(&c.files, "i", "`files` of translations").Alias("input").More(func(next string) bool { return !strings.HasPrefix(next, "-") })
	c.Options = scoring.Flags(f)
	c.PairedFlag(f)
	f.Group("Output")
	f.BoolVar(&c.sentence, "sentence", false, "print the scores of each line").Alias("sl", "sentence-level")
	return c.run
}

// scorer is the command with its flags.
type scorer struct {
	*scoring.Options
	files    []string // of -i
	sentence bool
}

func (c *scorer) run(_ context.Context, args []string) error {
	if len(c.References) == 0 {
		c.References = args // as sacreBLEU's arguments are
	} else {
		c.files = append(c.files, args...)
	}
	if err := c.Check(); err != nil {
		return err
	}
	files, err := c.checkSystems(c.files)
	if err != nil {
		return err
	}
	if files, err = translator.Inputs(files, c.References...); err != nil {
		return err
	}
	refs, err := scoring.ReadFiles(c.References)
	if err != nil {
		return err
	}
	systems, err := readSystems(files, refs, c.References[0])
	if err != nil {
		return err
	}
	c.PrintTokenizer(refs)
	switch {
	case c.sentence:
		if !c.Bare {
			fmt.Fprint(os.Stderr, c.SentenceColumns(len(refs)))
		}
		return c.WriteSentences(os.Stdout, systems[0].Hypotheses, refs)
	case len(systems) > 1:
		return c.WriteTable(os.Stdout, systems, refs)
	}
	return c.WriteCorpus(os.Stdout, systems[0].Hypotheses, refs)
}

// checkSystems returns the files of different systems. Files of a glob may repeat the baseline.
func (c *scorer) checkSystems(files []string) ([]string, error) {
	var systems []string
	for i, file := range files {
		switch {
		case !slices.Contains(systems, file):
			systems = append(systems, file)
		case c.Compares() && file == files[0]:
			fmt.Fprintf(os.Stderr, "%s is the baseline and is not compared with itself\n", file)
		default:
			return nil, cli.Usagef("%s: found twice, as system %d and %d", file, slices.Index(files, file)+1, i+1)
		}
	}
	found := format.Count(len(systems), "file")
	return systems, cmp.Or(
		cli.UsageIf(c.sentence && len(systems) > 1, "-sentence: found %s of hypotheses, expected one, or none for standard input", found),
		cli.UsageIf(c.Bare && len(systems) > 1, "-b: found %s of hypotheses, expected one, or none for standard input", found),
		cli.UsageIf(c.sentence && c.Tests(), "-sentence excludes -confidence and -paired"),
		cli.UsageIf(c.Compares() && len(systems) < 2, "-paired: found %s of hypotheses, expected at least 2, the first of the baseline", found),
	)
}

// readSystems reads the files, and reports systems whose output is the baseline's.
func readSystems(files []string, refs [][]string, firstRef string) (systems []scoring.System, err error) {
	if slices.Contains(files, text.Stdin) && terminal.IsTerminal(os.Stdin) {
		fmt.Fprintln(os.Stderr, "Reading translations from the terminal, a line each; Ctrl-D (on Windows Ctrl-Z, Enter) ends.")
	}
	for _, file := range files {
		s := scoring.System{Name: file}
		if s.Hypotheses, err = scoring.ReadHypotheses(file, refs, firstRef); err != nil {
			return nil, err
		}
		if len(systems) > 0 && slices.Equal(s.Hypotheses, systems[0].Hypotheses) {
			fmt.Fprintf(os.Stderr, "%s has the translations of %s; p-values of equal systems mean nothing\n", file, files[0])
		}
		systems = append(systems, s)
	}
	return systems, nil
}
