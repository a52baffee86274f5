package main

import (
	"context"
	"fmt"
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

func quantizeCommand() cli.Command {
	return cli.Command{
		Name: "quantize",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			out := f.String("o", "", "model `file` to write")
			weights := "int8"
			f.StringVar(&weights, "weights", weights, "form of the matrices:\n  int8     rounded to 8 bits\n  float32  not rounded, in the order of this machine's kernels").
				Choices("int8", "float32")
			force := f.Bool("force", false, "replace an existing file")
			var threads int
			cli.ThreadsFlag(f, &threads)
			return func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("found %d files, expected one model", len(args))
				}
				if err := cli.CheckThreads(threads); err != nil {
					return err
				}
				form := decode.Int8
				if weights == "float32" {
					form = decode.Float32
				}
				return quantize(*out, *force, args[0], form, threads)
			}
		},
	}
}

func quantize(out string, force bool, path string, form decode.Form, threads int) error {
	if err := cli.CheckModelOutput(out, force, path); err != nil {
		return err
	}
	p := mat.NewPool(threads)
	defer p.Close()
	file, err := decode.Load(path, form, p)
	if err != nil {
		return err
	}
	defer file.Weights.Close()
	if file.Weights.Form() != form {
		return fmt.Errorf("%s: found weights in %v, which cannot become %v: use the model that it was made from", path, file.Weights.Form(), form)
	}
	if _, err := tokenizers.Of(path, file.Tokenizers, file.Header.Config); err != nil {
		return err
	}
	// A checkpoint also has the state of its run.
	file.Header.Info = map[string]string{training.InfoKey: file.Header.Info[training.InfoKey]}
	if file.Header.Info[training.InfoKey] == "" {
		file.Header.Info[training.InfoKey] = strings.ToValidUTF8(filepath.Base(path), "?")
	}
	safetensors.RemoveStale(out) // temporary files of killed runs
	if err := file.Save(out); err != nil {
		return err
	}
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	after, err := os.Stat(out)
	if err != nil {
		return err
	}
	terminal.NewProgress(os.Stderr).Text("%s: weights in %v; %.1f MB, %.0f %% of %s",
		out, form, float64(after.Size())/1e6, 100*float64(after.Size())/float64(before.Size()), path)
	return nil
}
