package argos

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tfm/lang"
	"tfm/model"
	"tfm/model/convert/ctranslate2"
	"tfm/model/convert/internal/parts"
	"tfm/model/decode"
	"tfm/text/tokenizer/sentencepiece"
	"tfm/text/tokenizer/vocab"
)

// metadata is the part of the file metadata.json of a package that is used.
type metadata struct {
	Type           string   `json:"type"` // "" is translate
	PackageVersion string   `json:"package_version"`
	FromCode       string   `json:"from_code"`
	ToCode         string   `json:"to_code"`
	TargetPrefix   string   `json:"target_prefix"`
	FromCodes      []string `json:"from_codes"`
	ToCodes        []string `json:"to_codes"`
}

const (
	metadataFile = "metadata.json"
	modelFolder  = "model"
	fileEnd      = ".argosmodel"
)

// Read reads the package of Argos Translate at path: a file .argosmodel, a zip archive, or a
// folder that one was unpacked to. A package has metadata.json, a model of CTranslate2 in the
// folder model, and sentencepiece.model or bpe.model. Other files, such as those that split texts
// into sentences, are ignored.
//
// The length penalty is that of Argos Translate, n^0.2. It replaces unknown tokens of a translation
// by source words; tfm suppresses them. Text for a bpe.model is normalized and tokenized by Moses'
// rules, as there. Errors and untrusted files are those of ctranslate2.Read;
// memory is bounded by 32 times the size of the archive.
func Read(path string) (file model.File, err error) {
	isMetadata := func(name string) bool { return name == metadataFile }
	err = parts.Open(path, metadataFile, isMetadata, func(f parts.Folder) error {
		file, err = read(f)
		return err
	}, modelFolder)
	return file, err
}

// read reads the package in f.
func read(f parts.Folder) (model.File, error) {
	var meta metadata
	if err := f.ReadJSON(metadataFile, false, &meta); err != nil {
		return model.File{}, err
	}
	switch {
	case meta.Type != "" && meta.Type != "translate":
		return model.File{}, fmt.Errorf("%s: found a package of type %.40q, expected translate", f.Name(metadataFile), meta.Type)
	case len(meta.FromCodes) > 1 || len(meta.ToCodes) > 1:
		return model.File{}, fmt.Errorf("%s: found several languages on a side, expected one", f.Name(metadataFile))
	}
	if !f.Has("sentencepiece.model") && !f.Has(ctranslate2.CodesFile) {
		return model.File{}, fmt.Errorf("%s: found neither sentencepiece.model nor %s", f.Path, ctranslate2.CodesFile)
	}
	file, err := ctranslate2.ReadPackage(f.In(modelFolder), f, &ctranslate2.Package{From: meta.FromCode, To: meta.ToCode, Prefix: meta.TargetPrefix})
	if err != nil {
		return model.File{}, err
	}
	if file.SrcLang == "" {
		file.SrcLang, _ = lang.Named(meta.FromCode)
	}
	if file.TgtLang == "" {
		file.TgtLang, _ = lang.Named(meta.ToCode)
	}
	file.Info["source"] = fmt.Sprintf("Argos Translate, %.40s to %.40s, version %.40s; %s", meta.FromCode, meta.ToCode, meta.PackageVersion, file.Info["source"])
	return file, setArgosSearch(&file)
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

// Is reports whether path is a package of Argos Translate, or a folder that one was unpacked
// to.
func Is(path string, isDir bool) bool {
	if isDir {
		return parts.IsFile(path, metadataFile) && parts.IsFile(filepath.Join(path, modelFolder), ctranslate2.ModelFile)
	}
	return strings.HasSuffix(path, fileEnd) || parts.IsArchiveWith(path, func(name string) bool { return name == metadataFile })
}
