// Package tokenizers reads the tokenizers of files: those that `tfm vocab` writes, and of models.
// It imports package model and the text packages.
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

// Of returns the tokenizers of a model or a checkpoint with the configuration c. path names it in
// errors.
func Of(path string, files map[string][]byte, c model.Config) (vocab.Pair, error) {
	p, err := vocab.UnmarshalPair(files)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if p.Source.Size() != c.SrcVocab || p.Target.Size() != c.TgtVocab {
		return p, fmt.Errorf("%s: tokenizers of %d and %d pieces, expected %d and %d as the configuration says",
			path, p.Source.Size(), p.Target.Size(), c.SrcVocab, c.TgtVocab)
	}
	return p, nil
}

// Read reads the tokenizer that `tfm vocab` wrote, or those of a model or a checkpoint, without its
// weights.
func Read(path string) (vocab.Pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return vocab.Pair{}, err
	}
	defer f.Close()
	start := make([]byte, vocab.SniffLen)
	n, _ := io.ReadFull(f, start) // what cannot be read is not a model either
	if vocab.IsTokenizer(start[:n]) {
		data, err := os.ReadFile(path)
		if err != nil {
			return vocab.Pair{}, err
		}
		t, err := vocab.Unmarshal(data)
		if err != nil {
			return vocab.Pair{}, fmt.Errorf("%s: %w", path, err)
		}
		return vocab.Pair{Source: t, Target: t}, nil
	}
	h, err := model.LoadHeader(path)
	if err != nil {
		return vocab.Pair{}, fmt.Errorf("neither a tokenizer nor a model: %w", err)
	}
	files, err := model.LoadTokenizers(path) // without the weights
	if err != nil {
		return vocab.Pair{}, err
	}
	return Of(path, files, h.Config)
}

// SampleNote returns a line about tokenizers that were learned from a sample, which
// vocab.Trainer.Threshold says, or "".
func SampleNote(threshold int64) string {
	if threshold <= 1 {
		return ""
	}
	return fmt.Sprintf("learned from a sample, as the different words come to more than %d MiB: those with fewer than %s occurrences were drawn in proportion to them",
		bpe.MaxTableBytes>>20, format.Thousands(int(threshold)))
}

// Same reports whether the tokenizers at path are those of p.
func Same(p vocab.Pair, path string) (bool, error) {
	other, err := Read(path)
	if err != nil {
		return false, err
	}
	return p.Equal(other)
}
