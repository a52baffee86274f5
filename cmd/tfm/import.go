package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/convert"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
)

func importCommand(f *cli.Flags) cli.Action {
	var c importer
	f.StringVar(&c.out, "o", "", "model `file` to write")
	f.StringVar(&c.src, "src-lang", "", "source `language`, a BCP 47 tag such as en or zh-Hant; default: that of the model")
	f.StringVar(&c.tgt, "tgt-lang", "", "target `language`; default: that of the model")
	f.BoolVar(&c.float32, "float32", false, "write integers of the source as float32, which trains further, in four times the size")
	f.BoolVar(&c.force, "force", false, "replace an existing file")
	return c.run
}

// importer is the command with its flags.
type importer struct {
	out            string
	src, tgt       string // languages that replace those of the model
	float32, force bool
}

// replaceLanguages replaces the languages of a model by those of the flags. The error is that of a
// language that a model of several does not have.
func (c *importer) replaceLanguages(file *model.File) error {
	file.SrcLang, file.TgtLang = cmp.Or(c.src, file.SrcLang), cmp.Or(c.tgt, file.TgtLang)
	for _, side := range []struct {
		of          model.Languages
		field, want string
	}{{file.Model.Config.SrcLanguages, "src_lang", c.src}, {file.Model.Config.TgtLanguages, "tgt_lang", c.tgt}} {
		if side.of == "" || side.want == "" {
			continue
		}
		if _, err := side.of.Find(side.field, side.want); err != nil {
			return settings.Error(err)
		}
	}
	return nil
}

// run writes the model of another system as a model file.
func (c *importer) run(_ context.Context, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("found %d arguments, expected one model of another system", len(args))
	}
	var err error
	if c.src, c.tgt, err = model.NamedLanguages(c.src, c.tgt); err != nil {
		return settings.Error(err)
	}
	source, out := args[0], c.out
	if err := cli.CheckModelOutput(out, c.force, source); err != nil {
		return err
	}
	kind, err := convert.Detect(source)
	if err != nil {
		return err
	}
	p := terminal.NewProgress(os.Stderr)
	p.Field("found", "%s, %s", source, describeFormat(kind))
	file, err := convert.Read(source)
	if err != nil {
		return err
	}
	if err := c.replaceLanguages(&file); err != nil {
		return err
	}
	v, err := tokenizers.Of(source, file.Tokenizers, file.Model.Config)
	if err != nil {
		return err
	}
	origin := fmt.Sprintf("imported from %s, %s", strings.ToValidUTF8(filepath.Base(source), "?"), describeFormat(kind))
	maps.Copy(file.Info, training.Info(origin))
	// These systems and their corpora have one sentence a line.
	search, err := decode.ParseSettings(file.Decoding)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	search.SplitSentences = true
	file.Decoding = search.String()
	safetensors.RemoveStale(out) // temporary files of killed runs
	form, save := "float32", file.Save
	if file.Steps != nil && !c.float32 {
		// Rounding to int8 again would add an error.
		rounded, err := decode.Quantize(file, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		form, save = "int8, the integers of the source, which only translate (-float32 trains too)", rounded.Save
	}
	if err := save(out); err != nil {
		return err
	}
	describeImport(p, file, v)
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	p.Field("written", "%s, %.1f MB, %s parameters in %s", out, float64(info.Size())/1e6, format.Thousands(file.Model.Config.CountParams()), form)
	p.Field("next", "tfm %s", translator.Command(out, file.Model.Config, file.SrcLang, file.TgtLang))
	return nil
}

// describeFormat names a format of package convert.
func describeFormat(format string) string {
	return cmp.Or(map[string]string{
		"marian-hf": "Hugging Face Marian", "m2m-hf": "Hugging Face M2M-100", "ctranslate2": "CTranslate2", "argos": "Argos Translate", "marian": "Marian", "pytorch": "torch.nn.Transformer",
	}[format], format)
}

// describeImport prints what an imported model is, and what to expect of it.
func describeImport(p *terminal.Progress, file model.File, v vocab.Tokenizers) {
	c := file.Model.Config
	p.Field("languages", "%s", describeLanguages(c, file.SrcLang, file.TgtLang))
	switch t := v.Source.(type) {
	case *subword.Tokenizer:
		if t.Chain() != nil {
			break // raw text
		}
		p.Field("text", "words with spaces between them, as a tokenizer such as Moses' writes them; so is the translation")
	case *sentencepiece.Tokenizer:
		if t.Model().Trainer.ModelType == sentencepiece.Word {
			p.Field("text", "pieces with spaces between them, because the source has no tokenizer; so is the translation")
		}
	}
}

// describeLanguages returns the languages of a model, and the flags that choose them.
func describeLanguages(c model.Config, src, tgt string) string {
	side := func(l model.Languages, known, flag string) string {
		list := l.List()
		if len(list) == 0 {
			return cmp.Or(known, "unknown")
		}
		const shown = 8
		text := l.Codes()
		if len(list) > shown {
			text = model.FormatLanguages(list[:shown]).Codes() + fmt.Sprintf(" and %d more", len(list)-shown)
		}
		return fmt.Sprintf("one of %s (%s)", text, flag)
	}
	text := side(c.SrcLanguages, src, "-from") + " to " + side(c.TgtLanguages, tgt, "-to")
	if c.SrcLanguages == "" && src == "" || c.TgtLanguages == "" && tgt == "" {
		text += "; -src-lang and -tgt-lang record them"
	}
	return text
}
