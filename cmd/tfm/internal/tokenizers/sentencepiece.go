package tokenizers

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/text/sentencepiece"
	"tfm/text/sentencepiece/train"
)

// SentencePiece has the settings of a .model file to train. Their flags have the names of spm_train
// where it has them.
type SentencePiece struct {
	spec                          sentencepiece.TrainerSpec
	normalization                 string
	coverage                      float64
	control, userDefined          string
	maxLength, unk, bos, eos, pad int
	threads                       int

	flags *cli.Flags
}

// sentencePieceGroup is the title of the flags.
const sentencePieceGroup = "For -model-type bpe and unigram"

// AddFlags declares the flags.
func (p *SentencePiece) AddFlags(f *cli.Flags) {
	p.flags, p.spec = f, sentencepiece.NewTrainerSpec()
	f.Group(sentencePieceGroup)
	f.StringVar(&p.normalization, "normalization", "nmt_nfkc", "nmt_nfkc, nmt_nfkc_cf, nfkc, nfkc_cf, identity, or a `file` of rules ending in .tsv")
	f.Float64Var(&p.coverage, "character-coverage", 0.9995, "share of the text whose characters all have a piece")
	f.BoolVar(&p.spec.ByteFallback, "byte-fallback", false, "encode characters without a piece as bytes, which need 256 pieces")
	f.StringVar(&p.spec.RequiredChars, "required-chars", "", "`characters` that have a piece in any case")
	f.StringVar(&p.userDefined, "user-defined-symbols", "", "pieces that are never split, separated by commas")
	f.StringVar(&p.control, "control-symbols", "", "pieces without text, separated by commas")
	f.IntVar(&p.maxLength, "max-piece-length", 16, "limit of the characters of a piece")
	f.BoolVar(&p.spec.SplitDigits, "split-digits", false, "a piece for each digit")
	f.Var((*cli.NotValue)(&p.spec.SplitByNumber), "join-numbers", "pieces can have digits and letters")
	f.Var((*cli.NotValue)(&p.spec.SplitByUnicodeScript), "join-scripts", "pieces can have characters of several scripts")
	f.Var((*cli.NotValue)(&p.spec.SplitByWhitespace), "join-words", "pieces can have spaces inside")
	f.IntVar(&p.unk, "unk-id", 0, "id of the piece for unknown text in the file")
	f.IntVar(&p.bos, "bos-id", 1, "id of the beginning of a sentence in the file; -1 for none")
	f.IntVar(&p.eos, "eos-id", 2, "id of the end of a sentence in the file; -1 for none")
	f.IntVar(&p.pad, "pad-id", -1, "id of padding in the file; -1 for none")
	cli.ThreadsFlag(f, &p.threads)
}

// CheckUnused reports a flag on the command line, for tokenizers of other kinds.
func (p *SentencePiece) CheckUnused() error {
	given := p.flags.Given()
	for _, flag := range p.flags.All() {
		if _, ok := given[flag.Name]; ok && flag.Group == sentencePieceGroup {
			return cli.Usagef("-%s needs -model-type bpe or unigram", flag.Name)
		}
	}
	return nil
}

// Train trains a model of size pieces on files and writes it to out.
func (p *SentencePiece) Train(out string, modelType sentencepiece.ModelType, size int, files []string) error {
	t, err := p.trainer(modelType, size)
	if err != nil {
		return err
	}
	if err := cli.CheckOutput(out, slices.Concat(files, []string{p.normalization})...); err != nil {
		return err
	}
	progress := terminal.NewProgress(os.Stderr)
	defer progress.Clear()
	lines, err := eachLine(progress, files, func(line string) error {
		t.Add(line)
		return nil
	})
	if err != nil {
		return err
	}
	t.Progress = func(at train.Progress) {
		progress.Update(time.Now(), fmt.Sprintf("%s pieces of %s", format.Thousands(at.Pieces), format.Thousands(at.Target)))
	}
	m, err := t.Train()
	if err != nil {
		if setting := new(train.SettingError); errors.As(err, &setting) {
			return usageError(err)
		}
		return err
	}
	note := sampleNote(t.Threshold(), fmt.Sprintf("words exceed %d million characters", train.MaxTableChars>>20))
	return writeTokenizer(progress, out, m, note, len(m.Pieces), lines)
}

// trainer returns a Trainer with the settings.
func (p *SentencePiece) trainer(modelType sentencepiece.ModelType, size int) (*train.Trainer, error) {
	if size < 1 {
		return nil, cli.Usagef("-vocab-size is %d, expected at least 1", size)
	}
	spec := p.spec
	spec.ModelType = modelType
	spec.VocabSize = int32(min(size, 1<<30))
	spec.CharacterCoverage = float32(p.coverage)
	spec.ControlSymbols, spec.UserDefinedSymbols = commaList(p.control), commaList(p.userDefined)
	spec.MaxPieceLength = int32(min(p.maxLength, 1<<30))
	for _, id := range []struct {
		to   *int32
		flag string
		id   int
	}{{&spec.UnknownID, "-unk-id", p.unk}, {&spec.BOSID, "-bos-id", p.bos}, {&spec.EOSID, "-eos-id", p.eos}, {&spec.PadID, "-pad-id", p.pad}} {
		if id.id < -1 || id.id >= size {
			return nil, cli.Usagef("%s is %d, expected -1 to %d", id.flag, id.id, size-1)
		}
		*id.to = int32(id.id)
	}
	normalizer, err := p.normalizer()
	if err != nil {
		return nil, err
	}
	t, err := train.New(spec, normalizer)
	if err != nil {
		return nil, usageError(err)
	}
	t.Threads = p.threads
	return t, nil
}

// flagNames are the flags of the settings with other names in a .model file.
var flagNames = map[string]string{"max_sentencepiece_length": "max-piece-length"}

// usageError returns an error of NewTrainer as wrong usage, of a flag if one setting is the reason.
func usageError(err error) error {
	var setting *train.SettingError
	if !errors.As(err, &setting) {
		return cli.Usagef("%s", err)
	}
	flag := cmp.Or(flagNames[setting.Name], strings.ReplaceAll(setting.Name, "_", "-"))
	if found, ok := strings.CutPrefix(setting.Err.Error(), "found "); ok {
		return cli.Usagef("-%s is %s", flag, found)
	}
	return cli.Usagef("-%s: %s", flag, setting.Err)
}

// commaList splits a list. An empty one has no elements.
func commaList(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" })
}

// normalizer returns the normalization.
func (p *SentencePiece) normalizer() (sentencepiece.NormalizerSpec, error) {
	if filepath.Ext(p.normalization) != ".tsv" {
		n, err := train.NamedNormalizer(p.normalization)
		if err != nil {
			return n, cli.Usagef("-normalization: %s; or a file ending in .tsv", err)
		}
		return n, nil
	}
	n := sentencepiece.NewNormalizerSpec()
	n.Name = "user_defined"
	var err error
	n.PrecompiledCharsmap, err = readFile(p.normalization, train.CompileRules)
	return n, err
}
