package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text"
	"tfm/text/holdout"
)

func holdOutCommand(f *cli.Flags) cli.Action {
	h := holdingOut{Options: holdout.DefaultOptions()}
	f.Group("Files")
	h.corpus = filter.CorpusFlags(f)
	filter.OutputFlags(f, &h.out, &h.dropped)
	f.Group("Sets")
	f.IntVar(&h.Valid, "valid", h.Valid, "validation pairs")
	f.IntVar(&h.Test, "test", h.Test, "test pairs")
	f.Float64Var(&h.Similarity, "similarity", h.Similarity, "least Jaccard index of sentences that resemble each other; 1: equal sets")
	f.Uint64Var(&h.Seed, "seed", h.Seed, "seed of the choice")
	return h.run
}

// holdingOut is the command with its flags.
type holdingOut struct {
	holdout.Options
	corpus       *filter.Corpus
	out, dropped string
}

// check reports wrong usage.
func (h *holdingOut) check() error {
	err := cmp.Or(
		h.corpus.Check(),
		cli.UsageIf(h.out == "", "-o is missing"),
		settings.Error(h.Validate()),
		h.corpus.CheckFiles(),
	)
	if err != nil {
		return err
	}
	paths, _ := h.outputs()
	return filter.CheckOutputs(h.out, paths, h.corpus.Files().Paths())
}

// setNames are the names of the files of the sets. A set without pairs has no file.
var setNames = map[holdout.Set]string{holdout.Train: "train", holdout.Valid: "valid", holdout.Test: "test"}

// outputs returns the files that the command writes, and the index of the first one of each set.
func (h *holdingOut) outputs() (paths []string, first map[holdout.Set]int) {
	first = map[holdout.Set]int{}
	for _, set := range []holdout.Set{holdout.Train, holdout.Valid, holdout.Test} {
		if set == holdout.Valid && h.Valid == 0 || set == holdout.Test && h.Test == 0 {
			continue
		}
		first[set] = len(paths)
		paths = append(paths, h.corpus.SetOutputs(h.out, setNames[set])...)
	}
	if h.dropped != "" {
		first[holdout.Removed] = len(paths)
		paths = append(paths, h.dropped)
	}
	return paths, first
}

// run writes the sets and prints their sizes.
func (h *holdingOut) run(ctx context.Context, _ []string) error {
	if err := h.check(); err != nil {
		return err
	}
	screen, start := terminal.NewProgress(os.Stderr), time.Now()
	h.Progress = func(reading, n int) {
		screen.Update(time.Now(), fmt.Sprintf("reading %d: %s, %.0f s", reading, format.Count(n, "pair"), time.Since(start).Seconds()))
	}
	paths, first := h.outputs()
	var report *holdout.Report
	err := filter.WriteFiles(h.out, paths, func(files []io.Writer) error {
		var err error
		report, err = holdout.Divide(ctx, h.corpus.Files().Pairs(), h.Options, func(p text.Pair, set holdout.Set, overlap holdout.Overlap) error {
			i, ok := first[set]
			switch {
			case !ok:
				return nil
			case set == holdout.Removed:
				return filter.WriteDropped(files[i], p, overlap.String())
			}
			return filter.WritePair(files[i:][:len(h.corpus.Files().Paths())], p)
		})
		return err
	})
	screen.Clear()
	if err != nil {
		return err
	}
	h.corpus.PrintLanguages(screen)
	all := 0
	for _, n := range report.Pairs {
		all += n
	}
	line := func(name string, n int) { filter.Share(screen, name, n, all) }
	line("pairs", all)
	line("valid", report.Pairs[holdout.Valid])
	line("test", report.Pairs[holdout.Test])
	for o, n := range report.Removed {
		if n > 0 {
			line("  "+holdout.Overlap(o).String(), n)
		}
	}
	line("train", report.Pairs[holdout.Train])
	return nil
}
