package main

import (
	"context"
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model"
	"tfm/text"
	"tfm/translate"
)

func alignHeadsCommand() cli.Command {
	return cli.Command{
		Name: "align-heads",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			files := filter.CorpusFlags(f)
			out := f.String("o", "", "model `file` to write")
			force := f.Bool("force", false, "replace an existing model")
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(ctx context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				if err := files.Check(); err != nil {
					return err
				}
				if err := cli.CheckModelOutput(*out, *force, append(files.Files(), *path)...); err != nil {
					return err
				}
				t, err := openModel(*path, translate.Options{Threads: threads})
				if err != nil {
					return err
				}
				defer t.Close()
				var list []text.Pair
				for p, err := range files.Pairs() {
					if err != nil {
						return err
					}
					if list = append(list, p); len(list) == translate.MaxAlignedPairs {
						break
					}
				}
				found, err := t.FindAlignHeads(ctx, list)
				if err != nil {
					return fmt.Errorf("%s: %w", files.Files()[0], err)
				}
				h, err := model.LoadHeader(*path)
				if err != nil {
					return err
				}
				h.Decoding.AlignHeads = found.Heads.String()
				if err := model.CopyWithDecoding(*path, *out, h.Decoding); err != nil {
					return err
				}
				percent := func(n int) float64 { return 100 * float64(n) / float64(found.Links) }
				terminal.NewProgress(os.Stderr).Text("%s: heads %s (layer.head): agree with %.1f%% of %s; all heads of the last layer with %.1f%%",
					*out, found.Heads, percent(found.Agree), format.Count(found.Links, "statistical link"), percent(found.AgreeLastLayer))
				return nil
			}
		},
	}
}
