package tokenizers

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"tfm/model"
	"tfm/text/tokenizer/subword"
	"tfm/text/tokenizer/vocab"
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
// without its weights. If path is no file, it may name two files with commas between them: the
// tokenizers of source and target, or the codes and the vocabulary of subword-nmt, which the
// smallest count of a piece may follow.
func Read(path string) (vocab.Tokenizers, error) {
	if fields := strings.Split(path, ","); len(fields) > 1 && len(fields) <= 3 {
		if _, err := os.Stat(path); err != nil {
			if start, _ := readStart(fields[0]); len(fields) == 2 && vocab.IsTokenizer([]byte(start)) {
				return readPair(fields[0], fields[1])
			}
			return readSubword(fields)
		}
	}
	start, err := readStart(path)
	switch {
	case err != nil:
		return vocab.Tokenizers{}, err
	case vocab.IsTokenizer([]byte(start)):
		return readTokenizer(path)
	case strings.HasPrefix(start, "#version:"):
		return vocab.Tokenizers{}, fmt.Errorf("%s: found codes of subword-nmt, expected them with their vocabulary: %s,VOCABULARY", path, path)
	}
	return readModel(path)
}

// readStart returns the first bytes of a file, by which vocab.IsTokenizer tells what it is. Only
// opening it can fail: who reads all of the file reports other errors.
func readStart(path string) (string, error) {
	return readFile(path, func(r io.Reader, _ string) (string, error) {
		start := make([]byte, vocab.SniffLen)
		n, _ := io.ReadFull(r, start)
		return string(start[:n]), nil
	})
}

// readPair reads the tokenizers of the source and of the target.
func readPair(source, target string) (vocab.Tokenizers, error) {
	s, err := readTokenizer(source)
	if err != nil {
		return s, err
	}
	t, err := readTokenizer(target)
	return vocab.Tokenizers{Source: s.Source, Target: t.Target}, err
}

// readTokenizer reads a file of `tfm vocab` or sentencepiece.
func readTokenizer(path string) (vocab.Tokenizers, error) {
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

// readModel reads the tokenizers of a model or checkpoint.
func readModel(path string) (vocab.Tokenizers, error) {
	f, c, err := model.LoadWithoutWeights(path)
	if err != nil {
		return vocab.Tokenizers{}, fmt.Errorf("neither a tokenizer nor a model: %w", err)
	}
	return Of(path, f.Tokenizers, c)
}

// readSubword reads the codes and the vocabulary of subword-nmt, with the pieces of at least the
// count in the third field.
func readSubword(fields []string) (vocab.Tokenizers, error) {
	var threshold int64
	if len(fields) == 3 {
		var err error
		if threshold, err = strconv.ParseInt(fields[2], 10, 64); err != nil || threshold < 1 {
			return vocab.Tokenizers{}, fmt.Errorf("found %q after the vocabulary, expected the smallest count of a piece", fields[2])
		}
	}
	codes, err := readFile(fields[0], subword.ReadCodes)
	if err != nil {
		return vocab.Tokenizers{}, err
	}
	vocabulary, err := readFile(fields[1], func(r io.Reader, name string) (*subword.Vocabulary, error) {
		return subword.ReadVocabulary(r, name, threshold)
	})
	if err != nil {
		return vocab.Tokenizers{}, err
	}
	t := subword.New(codes, vocabulary)
	return vocab.Tokenizers{Source: t, Target: t}, nil
}

// readFile calls read with an open file and its path.
func readFile[T any](path string, read func(r io.Reader, path string) (T, error)) (value T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	return read(f, path)
}

// Same reports whether the tokenizers at path are those of p.
func Same(p vocab.Tokenizers, path string) (bool, error) {
	other, err := Read(path)
	if err != nil {
		return false, err
	}
	return p.Equal(other)
}
