package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/model"
	"tfm/train"
)

func averageCommand() cli.Command {
	return cli.Command{
		Name: "average",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			out := f.String("o", "", "model `file` to write")
			force := f.Bool("force", false, "replace an existing model")
			return func(_ context.Context, args []string) error {
				if len(args) == 0 {
					return cli.Usagef("found no files, expected checkpoints or models to average")
				}
				return average(*out, *force, args)
			}
		},
	}
}

func average(out string, force bool, paths []string) error {
	if err := cli.CheckModelOutput(out, force, paths...); err != nil {
		return err
	}
	files, err := model.LoadTokenizers(paths[0])
	if err != nil {
		return err
	}
	h, err := model.LoadHeader(paths[0])
	if err != nil {
		return err
	}
	if _, err := tokenizers.Of(paths[0], files, h.Config); err != nil {
		return err
	}
	list, err := model.LoadShortlist(paths[0])
	if err != nil {
		return err
	}
	mean := model.File{Tokenizers: files, Shortlist: list, SrcLang: h.SrcLang, TgtLang: h.TgtLang, Info: map[string]string{training.InfoKey: meanInfo(paths)}}
	dropped := "" // a file with another shortlist than the first
	for _, path := range paths {
		if other, err := model.LoadTokenizers(path); err != nil {
			return err
		} else if !maps.EqualFunc(files, other, bytes.Equal) {
			return fmt.Errorf("%s: its tokenizers differ from those of %s", path, paths[0])
		}
		other, err := model.LoadHeader(path)
		if err != nil {
			return err
		}
		mean.SrcLang, mean.TgtLang = cmp.Or(mean.SrcLang, other.SrcLang), cmp.Or(mean.TgtLang, other.TgtLang)
		if cmp.Or(other.SrcLang, mean.SrcLang) != mean.SrcLang || cmp.Or(other.TgtLang, mean.TgtLang) != mean.TgtLang {
			return fmt.Errorf("%s: found languages %q to %q, expected %q to %q as in the files before", path, other.SrcLang, other.TgtLang, mean.SrcLang, mean.TgtLang)
		}
		if other, err := model.LoadShortlist(path); err != nil {
			return err
		} else if !other.Equal(list) {
			mean.Shortlist, dropped = nil, path
		}
		mean.Decoding = other.Decoding // of the newest: a resume can change it
	}
	if mean.Model, err = model.New(h.Config); err != nil {
		return err
	}
	mean.Model.AllocWeights()
	p := terminal.NewProgress(os.Stderr)
	err = train.Average(mean.Model, paths, func(done int) {
		p.Update(time.Now(), fmt.Sprintf("%d of %d files", done, len(paths)))
	})
	p.Clear()
	if err != nil {
		return err
	}
	if dropped != "" {
		p.Text("the shortlists of %s and %s differ, so the mean has none: learn one with 'tfm shortlist'", paths[0], dropped)
	}
	return training.Save(mean, out)
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
