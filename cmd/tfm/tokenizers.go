package main

import (
	"fmt"
	"io"
	"os"

	"tfm/internal/format"
	"tfm/model"
	"tfm/text/vocab"
)

// tokenizersOf reads the tokenizers of a model or a checkpoint; path names it in errors.
func tokenizersOf(path string, files map[string][]byte, c model.Config) (vocab.Pair, error) {
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

// readTokenizers reads the tokenizer that `tfm vocab` wrote, or those in a model file.
func readTokenizers(path string) (vocab.Pair, error) {
	f, err := os.Open(path)
	if err != nil {
		return vocab.Pair{}, err
	}
	defer f.Close()
	start := make([]byte, vocab.StartLen)
	n, _ := io.ReadFull(f, start) // what cannot be read is not a model either
	if vocab.Recognised(start[:n]) {
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
	return tokenizersOf(path, files, h.Config)
}

// sampleNote returns a line about a tokenizer that was learned from a sample, "" if it was not.
func sampleNote(threshold int64) string {
	if threshold <= 1 {
		return ""
	}
	return fmt.Sprintf("learned from a sample, as the different words come to more than 16 MiB: those with fewer than %s occurrences were drawn in proportion to them",
		format.Thousands(int(threshold)))
}

// sameTokenizers reports whether the tokenizers at path are those of p.
func sameTokenizers(p vocab.Pair, path string) (bool, error) {
	other, err := readTokenizers(path)
	if err != nil {
		return false, err
	}
	return p.Equal(other)
}
