package tokenizers

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text/tokenizer/sentencepiece/train"
)

// SentencePiece has the settings of a .model file to train. Their flags have the names of
// spm_train's.
type SentencePiece struct {
	train.Settings
	coverage float64

	flags *cli.Flags
}

// sentencePieceGroup is the title of the flags.
const sentencePieceGroup = "For -model-type unigram"

// AddFlags declares the flags.
func (p *SentencePiece) AddFlags(f *cli.Flags) {
	p.flags = f
	f.Group(sentencePieceGroup)
	f.StringVar(&p.Normalization, "normalization", "nmt_nfkc", "how characters are replaced, as by spm_train").Choices(train.Normalizations...)
	f.Float64Var(&p.coverage, "character-coverage", 0.9995, "share of the text whose characters all have a piece")
	f.BoolVar(&p.ByteFallback, "byte-fallback", false, "encode characters without a piece as bytes, which need 256 pieces")
	cli.ThreadsFlag(f, &p.Threads)
}

// CheckUnused reports a flag on the command line, for tokenizers of other kinds.
func (p *SentencePiece) CheckUnused() error {
	given := p.flags.Given()
	for _, flag := range p.flags.All() {
		if _, ok := given[flag.Name]; ok && flag.Group == sentencePieceGroup {
			return cli.Usagef("-%s needs -model-type unigram", flag.Name)
		}
	}
	return nil
}

// Train trains a model of size pieces on files and writes it to out.
func (p *SentencePiece) Train(out string, size int, files []string) error {
	settings := p.Settings
	settings.Size, settings.Coverage = size, float32(p.coverage)
	err := cmp.Or(
		cli.UsageIf(size < 1, "-vocab-size is %d, expected at least 1", size),
		cli.UsageIf(!(p.coverage >= 0.98 && p.coverage <= 1), "-character-coverage is %v, expected 0.98 to 1", p.coverage),
	)
	if err != nil {
		return err
	}
	t, err := train.New(settings)
	if err != nil {
		return cli.Usagef("-vocab-size: %s", err)
	}
	if err := cli.CheckOutput(out, files...); err != nil {
		return err
	}
	progress := terminal.NewProgress(os.Stderr)
	defer progress.Clear()
	lines, err := eachLine(progress, files, t.Add)
	if err != nil {
		return err
	}
	t.Progress = func(pieces, target int) {
		progress.Update(time.Now(), fmt.Sprintf("%s pieces of %s", format.Thousands(pieces), format.Thousands(target)))
	}
	m, err := t.Train()
	if err != nil {
		return err
	}
	note := sampleNote(t.Threshold(), fmt.Sprintf("words exceed %d million characters", train.MaxTableChars>>20))
	return writeTokenizer(progress, out, m, note, len(m.Pieces), lines)
}
