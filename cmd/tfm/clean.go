package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text"
	"tfm/text/clean"
)

func cleanCommand(f *cli.Flags) cli.Action {
	c := cleaning{Options: clean.DefaultOptions()}
	f.Group("Files")
	c.corpus = filter.CorpusFlags(f)
	filter.OutputFlags(f, &c.out, &c.dropped)
	f.BoolVar(&c.dryRun, "dry-run", false, "count only, on standard output")
	c.faultFlags(f)
	f.Group("Machine")
	cli.ThreadsFlag(f, &c.Threads)
	return c.run
}

// cleaning is the command with its flags.
type cleaning struct {
	clean.Options
	corpus       *filter.Corpus
	out, dropped string
	dryRun       bool
}

// faultFlags declares the flags of the faults in the order of their rules.
func (c *cleaning) faultFlags(f *cli.Flags) {
	flag := func(fault clean.Fault, usage string) *cli.Flag {
		return f.Var((*cli.NotValue)(&c.Keep[fault]), fault.String(), usage).Setting()
	}
	f.Group("Faults of a pair")
	flag(clean.InvalidUTF8, "drop pairs with bytes that are not UTF-8")
	flag(clean.Columns, "drop lines of -tsv that are not source, tab, target; false stops at the first")
	flag(clean.Empty, "drop pairs with a blank side")
	flag(clean.Replacement, "drop pairs with U+FFFD, the trace of a failed conversion")
	flag(clean.Mojibake, "drop pairs with UTF-8 that was decoded as Latin-1 or Windows-1252")
	flag(clean.Control, "drop pairs with control, private or invalid characters")
	flag(clean.Markup, "drop pairs with remains of HTML, wikis or subtitles")
	f.IntVar(&c.MinLen, "shortest", c.MinLen, "least length of a side, in words, or characters of scripts without spaces")
	f.IntVar(&c.MaxLen, "longest", c.MaxLen, "limit of the length of a side")
	f.IntVar(&c.MaxWord, "max-word", c.MaxWord, "limit of the characters of a word").Setting()
	flag(clean.Copy, "drop pairs whose sides have the same words")
	flag(clean.WrongScript, "drop pairs with a side that is mostly in another script than its side of the corpus")
	flag(clean.Repetition, "drop pairs with a phrase or character that one side repeats over and over")
	f.Float64Var(&c.Ratio, "ratio", c.Ratio, "limit of the distance of the ratio of lengths from that of pairs of the same length, in standard deviations; 0 is no limit")
	flag(clean.Numbers, "drop pairs whose sides have different numbers")
	f.Group("Faults among pairs")
	flag(clean.Duplicate, "drop pairs that repeat an earlier one")
	flag(clean.NearDuplicate, "drop pairs that repeat an earlier one up to case, punctuation, white space and the values of numbers")
	f.IntVar(&c.PerSource, "per-source", c.PerSource, "limit of the pairs with one source; 0 is no limit").Setting()
	f.IntVar(&c.PerTarget, "per-target", c.PerTarget, "limit of the pairs with one target; 0 is no limit").Setting()
	f.Float64Var(&c.Misaligned, "misaligned", c.Misaligned, "drop pairs that do not translate each other: "+
		"the estimated share of such pairs among those dropped for this; 0 is none")
}

// check reports wrong usage.
func (c *cleaning) check() error {
	err := cmp.Or(
		c.corpus.Check(),
		settings.Error(c.Validate()),
		cli.UsageIf(c.dryRun != (c.out == ""), "expected one of -o and -dry-run"),
		c.corpus.CheckFiles(),
	)
	if err != nil {
		return err
	}
	return filter.CheckOutputs(c.out, c.outputs(), c.corpus.Files().Paths())
}

// outputs returns the files that the command writes, the dropped pairs last.
func (c *cleaning) outputs() (paths []string) {
	if c.out != "" {
		paths = c.corpus.Outputs(c.out)
	}
	if c.dropped != "" {
		paths = append(paths, c.dropped)
	}
	return paths
}

// run cleans the corpus and prints the table.
func (c *cleaning) run(ctx context.Context, _ []string) error {
	if err := c.check(); err != nil {
		return err
	}
	progress := terminal.NewProgress(os.Stderr)
	c.Options.Progress = cleaningProgress(progress, c.corpus)
	var report *clean.Report
	err := filter.WriteFiles(c.out, c.outputs(), func(files []io.Writer) error {
		var dropped io.Writer
		if c.dropped != "" {
			dropped, files = files[len(files)-1], files[:len(files)-1]
		}
		var err error
		report, err = clean.Clean(ctx, c.corpus.Files().RepairedPairs(), c.Options, func(p *text.RepairedPair, fault clean.Fault) error {
			if p.Columns != 2 && c.Keep[clean.Columns] {
				return fmt.Errorf("%s:%d: found %s, expected 2: source, tab, target", c.corpus.Files().Paths()[0], p.Line, format.Count(p.Columns, "column"))
			}
			if fault == clean.None {
				if len(files) == 0 {
					return nil
				}
				return filter.WritePair(files, p.Pair)
			}
			if dropped == nil {
				return nil
			}
			return filter.WriteDropped(dropped, p.Pair, fault.String())
		})
		return err
	})
	progress.Clear()
	if err != nil {
		return err
	}
	output := os.Stderr
	if c.dryRun { // the table is the result
		output = os.Stdout
	}
	var table strings.Builder
	screen := terminal.New(&table, terminal.Width(output))
	c.corpus.PrintLanguages(screen)
	printCleaned(screen, report)
	_, err = output.WriteString(table.String())
	return err
}

// cleaningProgress returns a function that shows the progress, with the remaining time of a stage.
func cleaningProgress(screen *terminal.Progress, corpus *filter.Corpus) func(clean.Progress) {
	size := filter.TextSize(corpus.Files().Paths())
	stage, start := clean.Stage(""), time.Now()
	return func(p clean.Progress) {
		now := time.Now()
		if p.Stage != stage {
			stage, start = p.Stage, now
		}
		if p.Done < 0 && size > 0 {
			p.Done = float64(p.Bytes) / float64(size)
		}
		state := fmt.Sprintf("%s: %s", p.Stage, format.Count(p.Pairs, "pair"))
		if p.Done > 0 {
			state += ", " + filter.Remaining(now.Sub(start), p.Done)
		}
		screen.Update(now, state)
	}
}

// printCleaned prints the counts by fault.
func printCleaned(screen *terminal.Progress, r *clean.Report) {
	line := func(name string, n int) { filter.Share(screen, name, n, r.Pairs) }
	line("pairs", r.Pairs)
	for i, n := range r.Dropped {
		fault := clean.Fault(i)
		if fault == clean.None || n == 0 {
			continue
		}
		line("  "+fault.Text(), n)
	}
	line("kept", r.Kept())
	for _, fault := range r.Unjudged {
		screen.Text("%s was not judged: the sample of %s pairs is too small or too irregular", fault.Text(), format.Thousands(r.Sampled))
	}
}
