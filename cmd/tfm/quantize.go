package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/mat"
	"tfm/model/decode"
	"tfm/model/safetensors"
)

func quantizeCommand(f *cli.Flags) cli.Action {
	var c quantization
	f.StringVar(&c.out, "o", "", "model `file` to write")
	f.BoolVar(&c.force, "force", false, "replace an existing file")
	cli.ThreadsFlag(f, &c.threads)
	return c.run
}

// quantization is the command with its flags.
type quantization struct {
	out     string
	force   bool
	threads int
}

func (c *quantization) run(_ context.Context, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("found %d files, expected one model", len(args))
	}
	path := args[0]
	if err := cli.CheckModelOutput(c.out, c.force, path); err != nil {
		return err
	}
	p := mat.NewPool(c.threads)
	defer p.Close()
	file, err := decode.Load(path, decode.Int8, p)
	if err != nil {
		return err
	}
	defer file.Weights.Close()
	if _, err := tokenizers.Of(path, file.Tokenizers, file.Header.Config); err != nil {
		return err
	}
	// A checkpoint also has the state of its run.
	file.Header.Info = training.Info(cmp.Or(file.Header.Info[training.InfoKey], strings.ToValidUTF8(filepath.Base(path), "?")))
	safetensors.RemoveStale(c.out) // temporary files of killed runs
	if err := file.Save(c.out); err != nil {
		return err
	}
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	after, err := os.Stat(c.out)
	if err != nil {
		return err
	}
	terminal.NewProgress(os.Stderr).Text("%s: weights in int8; %.1f MB, %.0f %% of %s",
		c.out, float64(after.Size())/1e6, 100*float64(after.Size())/float64(before.Size()), path)
	return nil
}
