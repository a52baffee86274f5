package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/model"
	"tfm/train"
)

func averageCommand(f *cli.Flags) cli.Action {
	var a average
	f.StringVar(&a.out, "o", "", "model `file` to write")
	f.BoolVar(&a.force, "force", false, "replace an existing model")
	return a.run
}

// average is the command with its flags, and the mean that it writes.
type average struct {
	out   string
	force bool

	mean    model.File
	dropped string // a file with another shortlist than the first
}

func (a *average) run(ctx context.Context, paths []string) error {
	err := cmp.Or(
		cli.UsageIf(len(paths) == 0, "found no files, expected checkpoints or models to average"),
		cli.CheckModelOutput(a.out, a.force, paths...),
	)
	if err != nil {
		return err
	}
	mean, config, err := model.LoadWithoutWeights(paths[0])
	if err != nil {
		return err
	}
	if _, err := tokenizers.Of(paths[0], mean.Tokenizers, config); err != nil {
		return err
	}
	if mean.Model, err = model.New(config); err != nil {
		return err
	}
	a.mean = mean
	for _, path := range paths {
		if err := a.compare(path, paths[0]); err != nil {
			return err
		}
	}
	info := training.Info(meanInfo(paths))
	if source, ok := a.mean.Info[train.SourceKey]; ok {
		info[train.SourceKey] = source
	}
	a.mean.Info = info
	a.mean.Model.AllocWeights()
	p := terminal.NewProgress(os.Stderr)
	err = train.Average(ctx, a.mean.Model, paths, func(done int) {
		p.Update(time.Now(), fmt.Sprintf("%d of %d files", done, len(paths)))
	})
	p.Clear()
	if err != nil {
		return err
	}
	if a.dropped != "" {
		p.Text("the shortlists of %s and %s differ, so the mean has none: learn one with 'tfm shortlist'", paths[0], a.dropped)
	}
	return training.Save(a.mean, a.out)
}

// compare checks that the tokenizers and languages of a file are the mean's. The mean keeps the
// shortlist of the first file if all have it, and the length penalty of the last file, because a
// resumed run can change it.
func (a *average) compare(path, first string) error {
	f, _, err := model.LoadWithoutWeights(path)
	if err != nil {
		return err
	}
	mean := &a.mean
	if !maps.EqualFunc(mean.Tokenizers, f.Tokenizers, bytes.Equal) {
		return fmt.Errorf("%s: its tokenizers differ from those of %s", path, first)
	}
	mean.SrcLang, mean.TgtLang = cmp.Or(mean.SrcLang, f.SrcLang), cmp.Or(mean.TgtLang, f.TgtLang)
	if cmp.Or(f.SrcLang, mean.SrcLang) != mean.SrcLang || cmp.Or(f.TgtLang, mean.TgtLang) != mean.TgtLang {
		return fmt.Errorf("%s: found languages %q to %q, expected %q to %q as in the files before", path, f.SrcLang, f.TgtLang, mean.SrcLang, mean.TgtLang)
	}
	mean.Decoding = f.Decoding
	if a.dropped == "" && !reflect.DeepEqual(f.Shortlist, mean.Shortlist) {
		mean.Shortlist, a.dropped = nil, path
	}
	return nil
}

// meanInfo describes the mean of models in one line.
func meanInfo(paths []string) string {
	const named = 10
	var names []string
	for _, path := range paths[:min(named, len(paths))] {
		names = append(names, strings.ToValidUTF8(filepath.Base(path), "?"))
	}
	if len(paths) > named {
		names = append(names, fmt.Sprintf("and %d more", len(paths)-named))
	}
	return fmt.Sprintf("the mean of %d files: %s", len(paths), strings.Join(names, ", "))
}
