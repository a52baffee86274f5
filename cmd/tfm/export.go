package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/model"
	"tfm/model/convert"
)

func exportCommand() cli.Command {
	return cli.Command{
		Name: "export",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			var kind string
			f.StringVar(&kind, "format", "", "format to write:\n  marian-hf    transformers, MarianMTModel\n  ctranslate2  CTranslate2\n  argos        Argos Translate, a file OUT.argosmodel\n"+
				"  pytorch      torch.nn.Transformer, with a program that loads it").Choices("marian-hf", "ctranslate2", "argos", "pytorch")
			out := f.String("o", "", "`folder` to write; or a file .argosmodel")
			var src, tgt string
			languageFlags(f, &src, &tgt)
			force := f.Bool("force", false, "write into a folder that has files, or replace a file")
			return func(_ context.Context, args []string) error {
				switch {
				case len(args) != 1:
					return cli.Usagef("found %d arguments, expected one model", len(args))
				case kind == "":
					return cli.Usagef("-format is missing")
				case *out == "":
					return cli.Usagef("-o is missing")
				}
				if err := checkLanguages(&src, &tgt); err != nil {
					return err
				}
				check := checkFolder
				if kind == "argos" && filepath.Ext(*out) == ".argosmodel" {
					check = cli.CheckModelOutput
				}
				if err := check(*out, *force, args[0]); err != nil {
					return err
				}
				return exportModel(kind, *out, args[0], src, tgt)
			}
		},
	}
}

// checkFolder reports a folder for output that is a file, contains the input, or is not empty and
// not forced.
func checkFolder(dir string, force bool, inputs ...string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	for _, input := range inputs {
		if parent, err := os.Stat(filepath.Dir(input)); err == nil && os.SameFile(parent, info) {
			return cli.Usagef("-o %s is the folder of the input, %s", dir, input)
		}
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

// exportModel writes the model at path to the folder dir. src and tgt replace its languages unless
// they are "".
func exportModel(kind, dir, path, src, tgt string) error {
	file, err := model.Load(path, false)
	if err != nil {
		return err
	}
	if _, err := tokenizers.Of(path, file.Tokenizers, file.Model.Config); err != nil {
		return err
	}
	file.SrcLang, file.TgtLang = cmp.Or(src, file.SrcLang), cmp.Or(tgt, file.TgtLang)
	if err := convert.Write(kind, dir, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	p := terminal.NewProgress(os.Stderr)
	size := int64(0)
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Text("%s: %s, %.1f MB", dir, describeFormat(kind), float64(size)/1e6)
	if file.Shortlist != nil {
		p.Text("%s: not exported: the shortlist", path)
	}
	if file.Decoding.AlignHeads != "" {
		p.Text("%s: not exported: the heads of alignments", path)
	}
	return nil
}
