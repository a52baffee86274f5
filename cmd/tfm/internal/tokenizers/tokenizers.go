// Package tokenizers reads tokenizers from the files of `tfm vocab` and from models. It imports
// package model and the text packages.
package tokenizers

import (
	"fmt"
	"io"
	"os"

	"tfm/internal/format"
	"tfm/model"
	"tfm/text/bpe"
	"tfm/text/vocab"
)

// Of decodes the tokenizers of a model or checkpoint with the configuration c. Errors begin with
// path.
func Of(path string, files map[string][]byte, c model.Config) (vocab.Tokenizers, error) {
	p, err := vocab.UnmarshalTokenizers(files)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if p.Source.Size() != c.SrcVocab || p.Target.Size() != c.TgtVocab {
		return p, fmt.Errorf("%s: found tokenizers of %d and %d pieces, expected %d and %d from the configuration",
			path, p.Source.Size(), p.Target.Size(), c.SrcVocab, c.TgtVocab)
	}
	return p, nil
}

// Read reads the tokenizer of a file of `tfm vocab`, or the tokenizers of a model or checkpoint
// without its weights.
func Read(path string) (vocab.Tokenizers, error) {
	f, err := os.Open(path)
	if err != nil {
		return vocab.Tokenizers{}, err
	}
	defer f.Close()
	start := make([]byte, vocab.SniffLen)
	n, _ := io.ReadFull(f, start) // LoadHeader reports read errors
	if vocab.IsTokenizer(start[:n]) {
		data, err := os.ReadFile(path)
		if err != nil {
			return vocab.Tokenizers{}, err
		}
		t, err := vocab.Unmarshal(data)
		if err != nil {
			return vocab.Tokenizers{}, fmt.Errorf("%s: %w", path, err)
		}
		return vocab.Tokenizers{Source: t, Target: t}, nil
	}
	h, err := model.LoadHeader(path)
	if err != nil {
		return vocab.Tokenizers{}, fmt.Errorf("neither a tokenizer nor a model: %w", err)
	}
	files, err := model.LoadTokenizers(path)
	if err != nil {
		return vocab.Tokenizers{}, err
	}
	return Of(path, files, h.Config)
}

// SampleNote returns a note on tokenizers trained with this threshold (see bpe.Trainer), or "" if
// the counts were exact.
func SampleNote(threshold int64) string {
	if threshold <= 1 {
		return ""
	}
	return fmt.Sprintf("trained on a sample, because the distinct words exceed %d MiB: words with fewer than %s occurrences are sampled in proportion to them",
		bpe.MaxTableBytes>>20, format.Thousands(int(threshold)))
}

// Same reports whether the tokenizers at path are those of p.
func Same(p vocab.Tokenizers, path string) (bool, error) {
	other, err := Read(path)
	if err != nil {
		return false, err
	}
	return p.Equal(other)
}
