package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/translate"
)

func shortlistCommand(f *cli.Flags) cli.Action {
	c := shortlist{ShortlistOptions: translate.DefaultShortlistOptions()}
	c.model.PathFlag(f)
	c.corpus = filter.CorpusFlags(f)
	f.StringVar(&c.out, "o", "", "model `file` to write")
	f.BoolVar(&c.force, "force", false, "replace an existing model")
	f.IntVar(&c.Best, "best", c.Best, "limit of the target pieces of a source piece")
	f.Float64Var(&c.MinProb, "min-prob", c.MinProb, "least probability of a target piece of a source piece")
	f.IntVar(&c.Frequent, "frequent", c.Frequent, "number of the most frequent target pieces, which are in every list")
	cli.ThreadsFlag(f, &c.Threads)
	return c.run
}

// shortlist is the command with its flags.
type shortlist struct {
	translate.ShortlistOptions
	model  translator.Model
	corpus *filter.Corpus
	out    string
	force  bool
}

// check reports wrong usage, and files that cannot be read or written.
func (c *shortlist) check() error {
	if err := cmp.Or(c.corpus.Check(), settings.Error(c.Validate()), c.model.Check()); err != nil {
		return err
	}
	return cmp.Or(
		cli.CheckModelOutput(c.out, c.force, append(c.corpus.Files().Paths(), c.model.Path)...),
		c.corpus.CheckFiles(),
	)
}

// run writes the model with a shortlist learned from the files.
func (c *shortlist) run(ctx context.Context, _ []string) error {
	if err := c.check(); err != nil {
		return err
	}
	path, out := c.model.Path, c.out
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
	c.Progress = func(pass, passes, pairs int) {
		p.Update(time.Now(), fmt.Sprintf("pass %d of %d: %s", pass, passes, format.Count(pairs, "pair")))
	}
	learned, err := translate.LearnShortlist(ctx, t, c.corpus.Files().Pairs(), c.ShortlistOptions)
	p.Clear()
	if err != nil {
		return err
	}
	safetensors.RemoveStale(out) // temporary files of killed runs
	if err := decode.CopyWithShortlist(path, out, learned.Shortlist); err != nil {
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
