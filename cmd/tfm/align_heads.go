package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/filter"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

func alignHeadsCommand(f *cli.Flags) cli.Action {
	var c alignHeads
	c.model.PathFlag(f)
	c.model.LanguageFlags(f)
	c.corpus = filter.CorpusFlags(f)
	f.StringVar(&c.out, "o", "", "model `file` to write")
	f.BoolVar(&c.force, "force", false, "replace an existing model")
	cli.ThreadsFlag(f, &c.model.Threads)
	return c.run
}

// alignHeads is the command with its flags.
type alignHeads struct {
	model  translator.Model
	corpus *filter.Corpus
	out    string
	force  bool
}

func (c *alignHeads) run(ctx context.Context, _ []string) error {
	output := cli.CheckModelOutput(c.out, c.force, append(c.corpus.Files().Paths(), c.model.Path)...)
	if err := cmp.Or(c.corpus.Check(), output); err != nil {
		return err
	}
	t, err := c.model.Open()
	if err != nil {
		return err
	}
	defer t.Close()
	var pairs []text.Pair
	for p, err := range c.corpus.Files().Pairs() {
		if err != nil {
			return err
		}
		if pairs = append(pairs, p); len(pairs) == translate.MaxAlignedPairs {
			break
		}
	}
	found, err := t.FindAlignHeads(ctx, pairs)
	if err != nil {
		return fmt.Errorf("%s: %w", c.corpus.Files().Paths()[0], err)
	}
	h, err := model.LoadHeader(c.model.Path)
	if err != nil {
		return err
	}
	settings, err := decode.ParseSettings(h.Decoding)
	if err != nil {
		return fmt.Errorf("%s: %w", c.model.Path, err)
	}
	settings.AlignHeads = found.Heads.String()
	if err := decode.CopyWithSettings(c.model.Path, c.out, settings); err != nil {
		return err
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(found.Links) }
	terminal.NewProgress(os.Stderr).Text("%s: heads %s (layer.head): agree with %.1f%% of %s; all heads of the last layer with %.1f%%",
		c.out, found.Heads, percent(found.Agree), format.Count(found.Links, "statistical link"), percent(found.AgreeLastLayer))
	return nil
}
