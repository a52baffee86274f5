package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/model"
	"tfm/model/convert"
)

func exportCommand(f *cli.Flags) cli.Action {
	var c exporter
	f.StringVar(&c.format, "format", "", "format to write:\n  marian-hf    transformers, MarianMTModel\n  ctranslate2  CTranslate2\n"+
		"  marian       Firefox and Bergamot, in int8, presets student-tiny and student-base\n"+
		"  pytorch      torch.nn.Transformer, with a program that loads it").
		Choices("marian-hf", "ctranslate2", "marian", "pytorch")
	f.StringVar(&c.out, "o", "", "`folder` to write")
	f.BoolVar(&c.force, "force", false, "write into a folder that has files, and replace those of the same names")
	return c.run
}

// exporter is the command with its flags.
type exporter struct {
	format, out string
	force       bool
}

// check reports wrong usage, and outputs that cannot be written.
func (c *exporter) check(args []string) error {
	err := cmp.Or(
		cli.UsageIf(len(args) != 1, "found %d arguments, expected one model", len(args)),
		cli.UsageIf(c.format == "", "-format is missing"),
		cli.UsageIf(c.out == "", "-o is missing"),
	)
	if err != nil {
		return err
	}
	return checkFolder(c.out, c.force, args[0])
}

// checkFolder reports a folder for output that is a file, contains the input, or is not empty and
// not forced.
func checkFolder(dir string, force bool, input string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if parent, err := os.Stat(filepath.Dir(input)); err == nil && os.SameFile(parent, info) {
		return cli.Usagef("-o %s is the folder of the input, %s", dir, input)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !force {
		return fmt.Errorf("%s already exists and is not empty: -force writes into it", dir)
	}
	return nil
}

// run writes the model in the format.
func (c *exporter) run(_ context.Context, args []string) error {
	if err := c.check(args); err != nil {
		return err
	}
	path, dir := args[0], c.out
	file, err := model.Load(path, false)
	if err != nil {
		return err
	}
	v, err := tokenizers.Of(path, file.Tokenizers, file.Model.Config)
	if err != nil {
		return err
	}
	if err := convert.Write(c.format, dir, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	p := terminal.NewProgress(os.Stderr)
	p.Text("%s: %s", dir, describeFormat(c.format))
	if list := file.Model.Config.TgtLanguages.List(); c.format == "ctranslate2" && len(list) > 0 {
		pieces := ""
		for _, id := range list[0].IDs {
			pieces += v.Source.Piece(id) + " "
		}
		p.Text("%s: the caller puts the token of the target language before those of a source, such as %sfor %s", dir, pieces, list[0].Code)
	}
	if file.Shortlist != nil && c.format != "marian" {
		p.Text("%s: not exported: the shortlist", path)
	}
	return nil
}
