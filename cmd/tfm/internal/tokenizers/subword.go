package tokenizers

import (
	"fmt"
	"os"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model/safetensors"
	"tfm/text"
	"tfm/text/subword"
)

// TrainSubword learns codes of subword-nmt, up to a number of merges, from files. It writes them to
// out, and their vocabulary to the file out with the ending .vocab.
func TrainSubword(out string, merges int, files []string) error {
	if merges < 1 {
		return cli.Usagef("-vocab-size is %d, expected at least 1 merge", merges)
	}
	if err := checkSubword(out, files...); err != nil {
		return err
	}
	p := terminal.NewProgress(os.Stderr)
	defer p.Clear()
	var learner subword.Learner
	if _, err := eachLine(p, files, learner.Add); err != nil {
		return err
	}
	const minCount = 2 // as learn_bpe.py
	codes, err := learner.Learn(merges, minCount)
	if err != nil {
		return err
	}
	var counter subword.Counter
	_, err = eachLine(p, files, func(line string) error {
		counter.Add(codes.Segment(line, nil))
		return nil
	})
	if err != nil {
		return err
	}
	vocabulary, err := counter.Vocabulary()
	if err != nil {
		return err
	}
	return writeSubword(p, out, codes, vocabulary)
}

// ExportSubword writes the files of TrainSubword for a tokenizer that Read read from path.
func ExportSubword(out string, t text.Tokenizer, path string) error {
	s, ok := t.(*subword.Tokenizer)
	if !ok {
		return fmt.Errorf("%s: found a tokenizer of another kind, expected one of subword-nmt", path)
	}
	if err := checkSubword(out, path); err != nil {
		return err
	}
	return writeSubword(terminal.NewProgress(os.Stderr), out, s.Codes(), s.Vocabulary())
}

// vocabularyPath returns the path of the vocabulary that belongs to codes.
func vocabularyPath(codes string) string { return codes + ".vocab" }

// checkSubword reports files of writeSubword that are inputs, or not writable.
func checkSubword(out string, inputs ...string) error {
	for _, path := range []string{out, vocabularyPath(out)} {
		if err := cli.CheckOutput(path, inputs...); err != nil {
			return err
		}
	}
	return nil
}

// writeSubword writes codes and a vocabulary.
func writeSubword(p *terminal.Progress, out string, codes *subword.Codes, vocabulary *subword.Vocabulary) error {
	if err := safetensors.WriteAtomic(out, codes.Write); err != nil {
		return err
	}
	if err := safetensors.WriteAtomic(vocabularyPath(out), vocabulary.Write); err != nil {
		return err
	}
	p.Line("%s: %s merges; %s: %s pieces", out, format.Thousands(codes.Len()), vocabularyPath(out), format.Thousands(vocabulary.Len()))
	return nil
}
