package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/translate"
)

func shortlistCommand() cli.Command {
	return cli.Command{
		Name: "shortlist",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			path := modelFlag(f)
			files := filter.CorpusFlags(f)
			out := f.String("o", "", "model `file` to write")
			force := f.Bool("force", false, "replace an existing model")
			o := translate.DefaultShortlistOptions()
			f.IntVar(&o.Best, "best", o.Best, "limit of the target pieces of a source piece")
			f.Float64Var(&o.MinProb, "min-prob", o.MinProb, "least probability of a target piece of a source piece")
			f.IntVar(&o.Frequent, "frequent", o.Frequent, "number of the most frequent target pieces, which are in every list")
			cli.ThreadsFlag(f, &o.Threads)
			return func(ctx context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				if err := files.Check(); err != nil {
					return err
				}
				if err := cli.CheckThreads(o.Threads); err != nil {
					return err
				}
				if err := o.Validate(); err != nil {
					return settings.Error(err)
				}
				if err := checkModel(*path); err != nil {
					return err
				}
				if err := cli.CheckModelOutput(*out, *force, append(files.Files(), *path)...); err != nil {
					return err
				}
				return shortlist(ctx, *path, *out, files, o)
			}
		},
	}
}

// shortlist writes the model at path with a shortlist learned from files.
func shortlist(ctx context.Context, path, out string, files *filter.Corpus, o translate.ShortlistOptions) error {
	if err := files.CheckFiles(); err != nil {
		return err
	}
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	h, err := model.LoadHeader(path)
	if err != nil {
		return err
	}
	t, err := tokenizers.Read(path)
	if err != nil {
		return err
	}
	p := terminal.NewProgress(os.Stderr)
	o.Progress = func(pass, passes, pairs int) {
		p.Update(time.Now(), fmt.Sprintf("pass %d of %d: %s", pass, passes, format.Count(pairs, "pair")))
	}
	learned, err := translate.LearnShortlist(ctx, t, files.Pairs(), o)
	p.Clear()
	if err != nil {
		return err
	}
	safetensors.RemoveStale(out) // temporary files of killed runs
	if err := model.CopyWithShortlist(path, out, learned.Shortlist); err != nil {
		return err
	}
	after, err := os.Stat(out)
	if err != nil {
		return err
	}
	mean := float64(learned.Pieces) / float64(learned.Pairs)
	p.Text("%s: learned from %s, without %s that are blank or over 100 tokens", out, format.Count(learned.Pairs, "pair"), format.Thousands(learned.Skipped))
	p.Text("%s: lists of %.0f pieces on average, %.1f %% of %s, with %.2f %% of the target tokens; %.1f MB, %+.1f MB", out,
		mean, 100*mean/float64(h.Config.TgtVocab), format.Thousands(h.Config.TgtVocab), 100*float64(learned.Covered)/float64(learned.Tokens),
		float64(after.Size())/1e6, float64(after.Size()-before.Size())/1e6)
	return nil
}

// shortlistFlag declares -shortlist of a command that translates.
func shortlistFlag(f *cli.Flags) *bool {
	return f.Bool("shortlist", false, "choose among the pieces of the model's shortlist only ('tfm shortlist'): faster, and some translations differ")
}

// useShortlist makes a search use the shortlist of t, the model at path.
func useShortlist(o *decode.Options, t *translate.Translator, path string) error {
	if o.Shortlist = t.Shortlist(); o.Shortlist == nil {
		return fmt.Errorf("%s has no shortlist: learn one with 'tfm shortlist'", path)
	}
	return nil
}
