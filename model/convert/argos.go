package convert

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/model"
	"tfm/model/decode"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// argosMetadata is the part of the file metadata.json of a package that is used.
type argosMetadata struct {
	Type           string   `json:"type"` // "" is translate
	PackageVersion string   `json:"package_version"`
	FromCode       string   `json:"from_code"`
	ToCode         string   `json:"to_code"`
	TargetPrefix   string   `json:"target_prefix"`
	FromCodes      []string `json:"from_codes"`
	ToCodes        []string `json:"to_codes"`
}

const (
	argosFile  = "metadata.json"
	argosModel = "model"
	argosEnd   = ".argosmodel"
)

// ReadArgos reads the package of Argos Translate at path: a file .argosmodel, a zip archive, or a
// folder that one was unpacked to. A package has metadata.json, a model of CTranslate2 in the
// folder model, and sentencepiece.model or bpe.model. Other files, such as those that split texts
// into sentences, are ignored.
//
// The length penalty is that of Argos Translate, n^0.2. It replaces unknown tokens of a translation
// by source words; tfm suppresses them. Text for a bpe.model is normalized and tokenized by Moses'
// rules, as there. Errors and untrusted files are those of ReadCTranslate2;
// memory is bounded by 32 times the size of the archive.
func ReadArgos(path string) (file model.File, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return model.File{}, err
	}
	if info.IsDir() {
		f, err := openFolder(path)
		m, modelErr := openFolder(filepath.Join(path, argosModel))
		if err := cmp.Or(err, modelErr); err != nil {
			return model.File{}, err
		}
		f.size += m.size
		m.size = f.size
		return readArgos(f, m)
	}
	err = openArchive(path, func(f folder) error {
		root, err := f.root(argosFile, func(name string) bool { return name == argosFile })
		if err != nil {
			return err
		}
		file, err = readArgos(root, root.in(argosModel))
		return err
	})
	return file, err
}

// readArgos reads the package in f with the model in m.
func readArgos(f, m folder) (model.File, error) {
	var meta argosMetadata
	if err := f.readJSON(argosFile, false, &meta); err != nil {
		return model.File{}, err
	}
	switch {
	case meta.Type != "" && meta.Type != "translate":
		return model.File{}, fmt.Errorf("%s: found a package of type %.40q, expected translate", f.name(argosFile), meta.Type)
	case len(meta.FromCodes) > 1 || len(meta.ToCodes) > 1:
		return model.File{}, fmt.Errorf("%s: found several languages on a side, expected one", f.name(argosFile))
	}
	if !f.has("sentencepiece.model") && !f.has(ct2Codes) {
		return model.File{}, fmt.Errorf("%s: found neither sentencepiece.model nor %s", f.path, ct2Codes)
	}
	file, err := readCTranslate2(m, f, &ct2Package{meta.FromCode, meta.ToCode, meta.TargetPrefix})
	if err != nil {
		return model.File{}, err
	}
	if file.SrcLang == "" {
		file.SrcLang = languageOfArgos(meta.FromCode)
	}
	if file.TgtLang == "" {
		file.TgtLang = languageOfArgos(meta.ToCode)
	}
	if isImported := file.Info["source"] != ""; isImported {
		file.Info["source"] = fmt.Sprintf("Argos Translate, %.40s to %.40s, version %.40s; %s", meta.FromCode, meta.ToCode, meta.PackageVersion, file.Info["source"])
		if err := setArgosSearch(&file); err != nil {
			return model.File{}, err
		}
	}
	return file, nil
}

// setArgosSearch sets the length penalty of f to Argos Translate's, and suppresses the unknown
// piece of the target too.
func setArgosSearch(f *model.File) error {
	t, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	d, err := decode.ParseSettings(f.Decoding)
	if err != nil {
		return err
	}
	ids, err := decode.ParseSuppressed(d.Suppressed)
	if err != nil {
		return err
	}
	unknown := int32(model.EOS) + 1 // subword-nmt's
	if s, ok := t.Target.(*sentencepiece.Tokenizer); ok {
		for id, p := range s.Model().Pieces {
			if p.Type == sentencepiece.Unknown {
				unknown = s.FromFileID(int32(id))
			}
		}
	}
	ids = append(ids, unknown)
	slices.Sort(ids)
	d.Alpha, d.Suppressed = 0.2, decode.FormatSuppressed(slices.Compact(ids))
	f.Decoding = d.String()
	return nil
}

// argosLanguages are the language codes of Argos Translate that are not those of BCP 47.
var argosLanguages = map[string]string{"zt": "zh-Hant", "pb": "pt-BR"}

// languageOfArgos returns the tag of a code, or "" if it has none.
func languageOfArgos(code string) string {
	if tag, ok := argosLanguages[code]; ok {
		return tag
	}
	return knownLanguage(strings.ReplaceAll(code, "_", "-"))
}
