package convert

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text/sentencepiece"
	"tfm/text/subword"
	"tfm/text/vocab"
)

// WriteArgos writes a model as a package of Argos Translate: the file path, if it ends with
// .argosmodel, or translate-FROM_TO-1_0.argosmodel in the folder path, which it creates. The model
// is that of WriteCTranslate2. Argos Translate has one tokenizer for both sides: for separate
// vocabularies of SentencePiece that of the source, in which the pieces that only the target has
// are unused. The error names a setting that CTranslate2 does not have, a missing language, or a
// tokenizer that Argos Translate does not have.
func WriteArgos(path string, f model.File) error {
	if f.SrcLang == "" || f.TgtLang == "" {
		return fmt.Errorf("found languages %q and %q, expected both for a package of Argos Translate", f.SrcLang, f.TgtLang)
	}
	if n := len(f.Model.Config.TgtLanguages.List()); n > 0 {
		return fmt.Errorf("found a token of each of %d target languages at the begin of a source, which Argos Translate does not write", n)
	}
	b, files, err := encodeCTranslate2(f)
	if err != nil {
		return err
	}
	tokenizers, err := vocab.UnmarshalTokenizers(f.Tokenizers)
	if err != nil {
		return err
	}
	from, to := argosCode(f.SrcLang), argosCode(f.TgtLang)
	root := fmt.Sprintf("translate-%s_%s-1_0", from, to)
	entries := fileSet{data: map[string][]byte{}}
	for name, data := range files.data {
		if name != "sentencepiece.model" && name != ct2Codes { // for both sides
			name = argosModel + "/" + name
		}
		entries.data[name] = data
	}
	switch t := tokenizers.Source.(type) {
	case *sentencepiece.Tokenizer:
		if !tokenizers.Joint() {
			entries.add("sentencepiece.model", func() ([]byte, error) { return argosPieces(tokenizers) })
		}
	case *subword.Tokenizer:
	default:
		return fmt.Errorf("found a tokenizer of type %T, expected SentencePiece or subword-nmt for Argos Translate: use a tokenizer of 'tfm vocab -model-type bpe' or 'unigram'", t)
	}
	entries.addJSON(argosFile, argosMetadata{
		PackageVersion: "1.0", ArgosVersion: "1.9", FromCode: from, ToCode: to,
		FromName: languageName(f.SrcLang), ToName: languageName(f.TgtLang),
	})
	if entries.err != nil {
		return entries.err
	}
	if !strings.HasSuffix(path, argosEnd) {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
		path = filepath.Join(path, root+argosEnd)
	}
	return safetensors.WriteAtomic(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, name := range slices.Sorted(maps.Keys(entries.data)) {
			e, err := z.Create(root + "/" + name)
			if err != nil {
				return err
			}
			if _, err := e.Write(entries.data[name]); err != nil {
				return err
			}
		}
		e, err := z.Create(root + "/" + argosModel + "/" + ct2File)
		if err != nil {
			return err
		}
		if err := b.write(e); err != nil {
			return err
		}
		return z.Close()
	})
}

// argosPieces returns the .model file of the source with the pieces of both sides.
func argosPieces(t vocab.Tokenizers) ([]byte, error) {
	src, okSrc := t.Source.(*sentencepiece.Tokenizer)
	tgt, okTgt := t.Target.(*sentencepiece.Tokenizer)
	if !okSrc || !okTgt {
		return nil, fmt.Errorf("found tokenizers of types %T and %T, expected SentencePiece on both sides for Argos Translate", t.Source, t.Target)
	}
	m := *src.Model()
	known, lowest := map[string]bool{}, float32(0)
	for _, p := range m.Pieces {
		known[p.Text] = true
		lowest = min(lowest, p.Score)
	}
	m.Pieces = slices.Clone(m.Pieces)
	for _, p := range tgt.Model().Pieces {
		isText := p.Type == sentencepiece.Normal || p.Type == sentencepiece.UserDefined || p.Type == sentencepiece.Unused
		if isText && !known[p.Text] {
			m.Pieces = append(m.Pieces, unusedPiece(p.Text, m.Trainer.ModelType, lowest))
		} else if p.Type == sentencepiece.Byte && !known[p.Text] {
			return nil, fmt.Errorf("found byte fallback in the target tokenizer only, expected it on both sides for Argos Translate")
		}
	}
	m.Trainer.VocabSize = int32(len(m.Pieces))
	if _, err := sentencepiece.New(&m); err != nil {
		return nil, err
	}
	return m.MarshalBinary()
}

// languageName returns the English name of a language, or the tag of one without a name here.
func languageName(tag string) string {
	names := map[string]string{
		"ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
		"eo": "Esperanto", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "he": "Hebrew",
		"hi": "Hindi", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian",
		"lv": "Latvian", "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "pt-BR": "Portuguese (Brazil)", "ro": "Romanian",
		"ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
		"zh": "Chinese", "zh-Hant": "Chinese (traditional)",
	}
	if name, ok := names[tag]; ok {
		return name
	}
	return tag
}
