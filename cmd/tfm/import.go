package main

import (
	"cmp"
	"context"
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/convert"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/sentencepiece"
	"tfm/text/subword"
	"tfm/text/vocab"
)

func importCommand() cli.Command {
	return cli.Command{
		Name: "import",
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			out := f.String("o", "", "model `file` to write")
			var src, tgt string
			languageFlags(f, &src, &tgt)
			force := f.Bool("force", false, "replace an existing file")
			return func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("found %d arguments, expected one model of another system", len(args))
				}
				if err := checkLanguages(&src, &tgt); err != nil {
					return err
				}
				if err := cli.CheckModelOutput(*out, *force, args[0]); err != nil {
					return err
				}
				return importModel(*out, args[0], src, tgt)
			}
		},
	}
}

// languageFlags declares the languages of a model that does not name them.
func languageFlags(f *cli.Flags, src, tgt *string) {
	f.StringVar(src, "src-lang", "", "source `language`, a BCP 47 tag such as en or zh-Hant; default: that of the model")
	f.StringVar(tgt, "tgt-lang", "", "target `language`; default: that of the model")
}

// checkLanguages replaces the languages of languageFlags by their canonical forms.
func checkLanguages(src, tgt *string) (err error) {
	*src, *tgt, err = model.CanonicalLanguages(*src, *tgt)
	return settings.Error(err)
}

// importModel writes the model of another system at source as the model file out. src and tgt
// replace its languages unless they are "".
func importModel(out, source, src, tgt string) error {
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
	file.SrcLang, file.TgtLang = cmp.Or(src, file.SrcLang), cmp.Or(tgt, file.TgtLang)
	v, err := tokenizers.Of(source, file.Tokenizers, file.Model.Config)
	if err != nil {
		return err
	}
	if file.Info == nil {
		file.Info = map[string]string{}
	}
	if file.Info[training.InfoKey] == "" {
		file.Info[training.InfoKey] = fmt.Sprintf("imported from %s, %s", strings.ToValidUTF8(filepath.Base(source), "?"), describeFormat(kind))
	}
	safetensors.RemoveStale(out) // temporary files of killed runs
	if err := file.Save(out); err != nil {
		return err
	}
	describeImport(p, file, v)
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	p.Field("written", "%s, %.1f MB, %s parameters in float32", out, float64(info.Size())/1e6, format.Thousands(file.Model.Config.CountParams()))
	p.Field("next", "tfm translate -model %s", cli.ShellWord(out))
	return nil
}

// describeFormat names a format of package convert.
func describeFormat(format string) string {
	return cmp.Or(map[string]string{
		"marian-hf": "Hugging Face Marian", "ctranslate2": "CTranslate2", "argos": "Argos Translate", "marian": "Marian", "pytorch": "torch.nn.Transformer",
	}[format], format)
}

// describeImport prints what an imported model is, and what to expect of it.
func describeImport(p *terminal.Progress, file model.File, v vocab.Tokenizers) {
	c := file.Model.Config
	name := func(v encoding.TextMarshaler) string {
		text, _ := v.MarshalText()
		return string(text)
	}
	languages := fmt.Sprintf("%s to %s", cmp.Or(file.SrcLang, "unknown"), cmp.Or(file.TgtLang, "unknown"))
	if file.SrcLang == "" || file.TgtLang == "" {
		languages += "; -src-lang and -tgt-lang record them"
	}
	p.Field("languages", "%s", languages)
	p.Field("model", "%d + %d layers, d_model %d, d_ff %d, %s, %s-norm, %s, sentences of up to %s tokens", c.EncoderLayers, c.DecoderLayers, c.DModel, c.DFF,
		format.Count(c.Heads, "head"), name(c.Norm), name(c.Activation), format.Thousands(c.MaxLen))
	vocabulary := fmt.Sprintf("%s of the source, %s of the target", describeTokenizer(v.Source), describeTokenizer(v.Target))
	if v.Joint() {
		vocabulary = describeTokenizer(v.Source)
	}
	p.Field("vocabulary", "%s", vocabulary)
	if list := targetTokens(v.Source); len(list) > 0 {
		const shown = 8
		more := ""
		if len(list) > shown {
			more = fmt.Sprintf(" and %d more", len(list)-shown)
		}
		p.Field("targets", "the model has several target languages: begin every source sentence with one of %s%s", strings.Join(list[:min(shown, len(list))], " "), more)
	}
	switch t := v.Source.(type) {
	case *subword.Tokenizer:
		p.Field("text", "words with spaces between them, as a tokenizer such as Moses' writes them; so is the translation")
	case *sentencepiece.Tokenizer:
		if t.Model().Trainer.ModelType == sentencepiece.Word {
			p.Field("text", "pieces with spaces between them, because the source has no tokenizer; so is the translation")
		}
	}
	if licence := file.Info["licence"]; licence != "" {
		p.Field("licence", "%s", licence)
	}
}

// describeTokenizer returns the size and the kind of a tokenizer.
func describeTokenizer(t text.Tokenizer) string {
	kind := "byte-level BPE"
	switch t := t.(type) {
	case *sentencepiece.Tokenizer:
		kind = "SentencePiece " + t.Model().Trainer.ModelType.String()
	case *subword.Tokenizer:
		kind = "subword-nmt BPE"
	}
	return fmt.Sprintf("%s pieces (%s)", format.Thousands(t.Size()), kind)
}

// targetTokens returns the pieces that name a target language, such as >>fra<< in OPUS-MT.
func targetTokens(t text.Tokenizer) (list []string) {
	for id := range int32(t.Size()) {
		piece := t.Piece(id)
		if len(piece) > 4 && strings.HasPrefix(piece, ">>") && strings.HasSuffix(piece, "<<") {
			list = append(list, piece)
		}
	}
	return list
}
