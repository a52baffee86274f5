package marian

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"tfm/internal/yaml"
	"tfm/model/convert/internal/parts"
	"tfm/text/tokenizer/sentencepiece"
)

// readVocabularies returns the vocabularies of a model in f, and whether they are one.
func readVocabularies(f parts.Folder, listed []string) (src, tgt *parts.Vocabulary, joint bool, err error) {
	if len(listed) == 0 {
		if listed, err = findSentencePiece(f); err != nil {
			return src, tgt, false, err
		}
	}
	var names [2]string
	for i, name := range listed {
		names[i] = baseName(name)
	}
	if src, err = readVocabulary(f, names[0], "source"); err == nil {
		tgt, err = readVocabulary(f, names[1], "target")
	}
	return src, tgt, names[0] == names[1], err
}

// baseName returns the name of a file without its folder on any system.
func baseName(name string) string { return path.Base(strings.ReplaceAll(name, "\\", "/")) }

// findSentencePiece returns the names of the SentencePiece models in f, of the source and the
// target.
func findSentencePiece(f parts.Folder) ([]string, error) {
	var names, src, tgt []string
	for name := range f.Files {
		hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		switch {
		case path.Ext(name) != ".spm":
			continue
		case slices.ContainsFunc([]string{"source", "src"}, hasPrefix):
			src = append(src, name)
		case slices.ContainsFunc([]string{"target", "trg", "tgt"}, hasPrefix):
			tgt = append(tgt, name)
		}
		names = append(names, name)
	}
	switch {
	case len(names) == 1:
		return []string{names[0], names[0]}, nil
	case len(names) == 2 && len(src) == 1 && len(tgt) == 1:
		return []string{src[0], tgt[0]}, nil
	}
	return nil, fmt.Errorf("%s: found %d SentencePiece models, *.spm, expected one, or source.spm and target.spm, or a .decoder.yml beside the model that lists vocabs", f.Path, len(names))
}

// readVocabulary reads the vocabulary of a side: a SentencePiece model, or the tokens in YAML or
// in lines with the SentencePiece model of the side beside them.
func readVocabulary(f parts.Folder, name, side string) (v *parts.Vocabulary, err error) {
	switch path.Ext(name) {
	case ".spm":
		t, err := parts.ReadSentencePiece(f, name)
		if err != nil {
			return nil, err
		}
		return parts.VocabularyOfSentencePiece(f.Name(name), t)
	case ".yml", ".yaml":
		v, err = readYAMLVocabulary(f, name)
	case ".vocab", ".txt":
		data, readErr := f.Read(name)
		if readErr != nil {
			return nil, readErr
		}
		v, err = parts.NewVocabulary(f.Name(name), parts.TokenLines(string(data)))
	default:
		return nil, fmt.Errorf("%s: found a vocabulary of another kind, expected .spm of SentencePiece, .yml or .vocab", f.Name(name))
	}
	if err != nil {
		return nil, err
	}
	unknownText := sentencepiece.NewTrainerSpec().UnknownSurface
	v.UnknownText = &unknownText
	if err := v.Find("</s>", "<unk>"); err != nil {
		return nil, err
	}
	if v.Tokenizer, err = parts.ReadSentencePiece(f, side+".spm"); err != nil {
		return nil, fmt.Errorf("%w (a list of tokens does not split text into pieces)", err)
	}
	return v, nil
}

// readYAMLVocabulary reads tokens with their rows.
func readYAMLVocabulary(f parts.Folder, name string) (*parts.Vocabulary, error) {
	data, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	root, err := parseYAML(f.Name(name), data)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]int32, len(root.Entries))
	for _, e := range root.Entries {
		row, err := strconv.ParseUint(e.Value.Scalar, 10, 31)
		if err != nil {
			return nil, e.Value.Errorf(f.Name(name), "found id %.40q of %.40q, expected a number", e.Value.Scalar, e.Key)
		}
		rows[e.Key] = int32(row)
	}
	return parts.VocabularyOf(f.Name(name), rows)
}

// parseYAML decodes a mapping.
func parseYAML(name string, data []byte) (*yaml.Node, error) {
	root, err := yaml.Parse(name, string(data))
	if err == nil && (root.List != nil || root.Scalar != "") {
		err = root.Errorf(name, "found %.40q, expected a key, a colon and a value", root.Scalar)
	}
	return root, err
}
