package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"tfm/model"
	"tfm/text/bpe"
)

// tokenizers are those of a model; with a joint vocabulary both sides have the same one.
type tokenizers struct{ src, tgt *bpe.Tokenizer }

func (t tokenizers) joint() bool { return t.src == t.tgt }

// files returns the tokenizers as they lie in a model file.
func (t tokenizers) files() (map[string][]byte, error) {
	src, err := t.src.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if t.joint() {
		return map[string][]byte{"joint": src}, nil
	}
	tgt, err := t.tgt.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"source": src, "target": tgt}, nil
}

// same says whether the tokenizers at path are these.
func (t tokenizers) same(path string) (bool, error) {
	other, err := readTokenizers(path)
	if err != nil {
		return false, err
	}
	a, aErr := t.files()
	b, bErr := other.files()
	return maps.EqualFunc(a, b, bytes.Equal), errors.Join(aErr, bErr)
}

// tokenizersOf reads the tokenizers of a model or a checkpoint; path names it in errors.
func tokenizersOf(path string, files map[string][]byte, c model.Config) (tokenizers, error) {
	var t tokenizers
	var err error
	if joint, ok := files["joint"]; ok {
		t.src, err = bpe.Unmarshal(joint)
		t.tgt = t.src
	} else if files["source"] == nil || files["target"] == nil {
		err = errors.New("there is no tokenizer in it")
	} else if t.src, err = bpe.Unmarshal(files["source"]); err == nil {
		t.tgt, err = bpe.Unmarshal(files["target"])
	}
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	if t.src.Size() != c.SrcVocab || t.tgt.Size() != c.TgtVocab {
		return t, fmt.Errorf("%s: tokenizers of %d and %d pieces, expected %d and %d as the configuration says",
			path, t.src.Size(), t.tgt.Size(), c.SrcVocab, c.TgtVocab)
	}
	return t, nil
}

// readTokenizers reads the tokenizer that `tfm vocab` wrote, or those in a model file.
func readTokenizers(path string) (tokenizers, error) {
	f, err := os.Open(path)
	if err != nil {
		return tokenizers{}, err
	}
	defer f.Close()
	var start [4]byte
	if _, err := io.ReadFull(f, start[:]); err == nil && string(start[:]) == "tfm-" { // as a model's first bytes, a header of 760 MB
		data, err := os.ReadFile(path)
		if err != nil {
			return tokenizers{}, err
		}
		t, err := bpe.Unmarshal(data)
		if err != nil {
			return tokenizers{}, fmt.Errorf("%s: %w", path, err)
		}
		return tokenizers{t, t}, nil
	}
	file, err := model.Load(path, false)
	if err != nil {
		return tokenizers{}, fmt.Errorf("neither a tokenizer nor a model: %w", err)
	}
	return tokenizersOf(path, file.Tokenizers, file.Model.Config)
}
