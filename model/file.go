package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tfm/internal/strict"
	"tfm/lang"
	"tfm/layer"
	"tfm/model/safetensors"
)

// A model file is a safetensors file. Its metadata holds
//
//	format              "tfm 1", incremented when older programs could misread the file
//	config              the Config as JSON
//	src_lang, tgt_lang  the languages, if known
//	decoding            settings of package decode as JSON
//	weights             the form of weights that only decoding can use; see Header.Form
//	checksum            see package safetensors
//
// and free keys of the writer, for example training options. Its tensors are the parameters, F32,
// and the tokenizers, U8, named "tokenizer.joint", or "tokenizer.source" and "tokenizer.target".
// Those of a shortlist, "shortlist.NAME", if the file has one, are I32. Package decode describes
// them and the tensors of files with the key weights.
const format = "tfm 1"

const (
	keyFormat   = "format"
	keyConfig   = "config"
	keySrcLang  = "src_lang"
	keyTgtLang  = "tgt_lang"
	keyDecoding = "decoding"
	keyWeights  = "weights"
	keyChecksum = "checksum"
)

// reservedKeys are the metadata keys that Info cannot hold.
var reservedKeys = []string{keyFormat, keyConfig, keySrcLang, keyTgtLang, keyDecoding, keyWeights, keyChecksum}

// File is the content of a model file.
type File struct {
	Model *Transformer

	// Steps are those of parameters whose columns, or rows of embeddings, are whole multiples
	// of a step, from -128 to 127 times, by name; nil if none are. decode.Quantize keeps the
	// multiples. A file does not have them.
	Steps map[string][]float32

	Tokenizers map[string][]byte    // "joint", or "source" and "target", encoded by package vocab
	Shortlist  []safetensors.Tensor // see decode.Shortlist; nil if the file has none

	SrcLang, TgtLang string            // canonical tags, see CanonicalLanguage; "" if unknown
	Decoding         string            // see decode.Settings; "" if the file has none
	Info             map[string]string // free text, for example training options
}

// Header is the metadata of a model file: everything except weights and tokenizers.
type Header struct {
	Config           Config
	SrcLang, TgtLang string            // as in File
	Decoding         string            // as in File; not checked
	Info             map[string]string // as in File

	// Form is that of the matrices: "" for parameters in float32, or a form of package
	// decode. A model in such a form translates, but neither trains nor is averaged.
	Form string
}

const tokenizerPrefix, shortlistPrefix = "tokenizer.", "shortlist."

// Save writes the model file at path atomically: after a crash path holds the old file or the new.
func (f File) Save(path string) error {
	meta, tensors, err := f.Encode()
	if err != nil {
		return err
	}
	return safetensors.Write(path, meta, tensors)
}

// Encode returns the metadata and tensors of the model file, to which a checkpoint adds its own.
// The tensors alias the model's memory. The error is a *FieldError for an invalid language tag.
func (f File) Encode() (map[string]string, []safetensors.Tensor, error) {
	meta, err := Header{Config: f.Model.Config, SrcLang: f.SrcLang, TgtLang: f.TgtLang, Decoding: f.Decoding, Info: f.Info}.Encode()
	if err != nil {
		return nil, nil, err
	}
	var tensors []safetensors.Tensor
	for _, p := range f.Model.Params.List {
		tensors = append(tensors, safetensors.Float32Tensor(p.Name, p.Shape, p.W))
	}
	tensors = append(tensors, TokenizerTensors(f.Tokenizers)...)
	return meta, append(tensors, f.Shortlist...), nil
}

// TokenizerTensors returns the tensors of tokenizers, see File.
func TokenizerTensors(tokenizers map[string][]byte) []safetensors.Tensor {
	var tensors []safetensors.Tensor
	for _, name := range slices.Sorted(maps.Keys(tokenizers)) {
		data := tokenizers[name]
		tensors = append(tensors, safetensors.Tensor{Name: tokenizerPrefix + name, DType: "U8", Shape: []int{len(data)}, Data: data})
	}
	return tensors
}

// Encode returns the metadata of a model file. The error is a *FieldError for an invalid language
// tag or Decoding.
func (h Header) Encode() (map[string]string, error) {
	config, err := json.Marshal(h.Config)
	if err != nil {
		return nil, err
	}
	meta := maps.Clone(h.Info)
	if meta == nil {
		meta = map[string]string{}
	}
	for _, key := range reservedKeys {
		delete(meta, key)
	}
	meta[keyFormat], meta[keyConfig] = format, string(config)
	src, tgt, err := CanonicalLanguages(h.SrcLang, h.TgtLang)
	if err != nil {
		return nil, err
	}
	for key, value := range map[string]string{keySrcLang: src, keyTgtLang: tgt, keyDecoding: h.Decoding, keyWeights: h.Form} {
		if value != "" {
			meta[key] = value
		}
	}
	return meta, nil
}

// Load reads the model file at path and verifies its checksum, which covers every byte. If
// gradients is true, Load allocates the model for training.
//
// Load is safe on untrusted files: it allocates at most 32 bytes for each byte of the file, plus at
// most 16 MB to describe 2,000 layers and 256 MB for the table of positions.
func Load(path string, gradients bool) (File, error) {
	return loadPart(path, true, func(s *safetensors.File, h Header) (File, error) { return readFile(s, h, gradients) })
}

// LoadHeader reads the header of the model file at path without its weights. It checks the
// safetensors header against the file's size, and the configuration, but not the checksum, which
// covers the whole file: a damaged character of the metadata can pass unnoticed.
func LoadHeader(path string) (Header, error) {
	return loadPart(path, false, func(_ *safetensors.File, h Header) (Header, error) { return h, nil })
}

// loadPart returns the part of the model file at path that read reads, after it verified the
// checksum if verify is true. Its errors name the file.
func loadPart[T any](path string, verify bool, read func(*safetensors.File, Header) (T, error)) (part T, err error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return part, err
	}
	defer s.Close()
	if verify {
		if err := s.Verify(); errors.Is(err, safetensors.ErrNoChecksum) {
			return part, fmt.Errorf("%s: no checksum: not written by tfm, or damaged", path)
		} else if err != nil {
			return part, err
		}
	}
	h, err := DecodeHeader(s.Metadata())
	if err == nil {
		part, err = read(s, h)
	}
	if err != nil {
		return part, fmt.Errorf("%s: %w", path, err)
	}
	return part, nil
}

// LoadWithoutWeights reads the model file at path except its weights: Model is nil. It has the
// checks of LoadHeader, so it verifies neither the checksum nor the content of the tokenizers.
func LoadWithoutWeights(path string) (f File, c Config, err error) {
	f, err = loadPart(path, false, func(s *safetensors.File, h Header) (File, error) {
		c = h.Config
		return readWithoutWeights(s, h)
	})
	return f, c, err
}

// DecodeHeader returns the header in the metadata of a model file or a checkpoint.
func DecodeHeader(meta map[string]string) (Header, error) {
	h := Header{Info: maps.Clone(meta)}
	switch found, ok := meta[keyFormat]; {
	case !ok:
		return h, fmt.Errorf("no %q in the metadata: a safetensors file, but not a tfm model", keyFormat)
	case found != format:
		return h, fmt.Errorf("found format %.80q, expected %q", found, format)
	}
	// An unknown field could select a reading of the paper that this program does not
	// implement.
	if err := strict.Unmarshal([]byte(meta[keyConfig]), &h.Config); err != nil {
		return h, fmt.Errorf("configuration: %w", err)
	}
	if err := h.Config.Validate(); err != nil {
		return h, fmt.Errorf("configuration: %w", err)
	}
	var err error
	if h.SrcLang, h.TgtLang, err = CanonicalLanguages(meta[keySrcLang], meta[keyTgtLang]); err != nil {
		return h, fmt.Errorf("metadata: %w", err)
	}
	h.Decoding, h.Form = meta[keyDecoding], meta[keyWeights]
	for _, key := range reservedKeys {
		delete(h.Info, key)
	}
	return h, nil
}

// Tokenizers reads the tokenizers of an open model file, see File.
func Tokenizers(s *safetensors.File) (map[string][]byte, error) {
	tokenizers := map[string][]byte{}
	for _, t := range s.Tensors() {
		name, is := strings.CutPrefix(t.Name, tokenizerPrefix)
		switch {
		case !is:
			continue
		case t.DType != "U8":
			return nil, fmt.Errorf("tensor %.80q: found dtype %s, expected U8", t.Name, t.DType)
		}
		data, err := t.Bytes()
		if err != nil {
			return nil, err
		}
		tokenizers[name] = data
	}
	return tokenizers, nil
}

// IsShortlistTensor reports whether a tensor of a model file belongs to File.Shortlist.
func IsShortlistTensor(name string) bool { return strings.HasPrefix(name, shortlistPrefix) }

// shortlistTensors returns copies of the tensors of the shortlist.
func shortlistTensors(s *safetensors.File) (list []safetensors.Tensor, err error) {
	for _, t := range s.Tensors() {
		if IsShortlistTensor(t.Name) {
			data, err := t.Bytes()
			if err != nil {
				return nil, err
			}
			list = append(list, safetensors.Tensor{Name: t.Name, DType: t.DType, Shape: t.Shape, Data: data})
		}
	}
	return list, nil
}

// ParamTensors returns the tensors of a model file or a checkpoint that are named prefix plus the
// names of params, in this order. Each must be F32, F16 or BF16 and have its parameter's shape, so
// that memory allocated for them after this call is bounded by the size of the file. ParamTensors
// reads only the header. The error of a file with other forms of weights says that it cannot train.
func ParamTensors(s *safetensors.File, params []*layer.Param, prefix string) ([]safetensors.Tensor, error) {
	if form := s.Metadata()[keyWeights]; form != "" {
		return nil, fmt.Errorf("found weights %.80q of 'tfm quantize', which can only translate, expected float32: use the model that it was made from", form)
	}
	tensors := make([]safetensors.Tensor, len(params))
	for i, p := range params {
		name := prefix + p.Name
		t, ok := s.Tensor(name)
		switch {
		case !ok:
			return nil, fmt.Errorf("tensor %q is missing", name)
		case t.DType != "F32" && t.DType != "F16" && t.DType != "BF16":
			return nil, fmt.Errorf("tensor %q: found dtype %s, expected F32, F16 or BF16", name, t.DType)
		case !slices.Equal(t.Shape, p.Shape):
			return nil, fmt.Errorf("tensor %q: found shape %.80s, expected %v as in the configuration", name, fmt.Sprint(t.Shape), p.Shape)
		}
		tensors[i] = t
	}
	return tensors, nil
}

func readFile(s *safetensors.File, h Header, gradients bool) (File, error) {
	m, err := New(h.Config)
	if err != nil {
		return File{}, err
	}
	weights, err := ParamTensors(s, m.Params.List, "")
	if err != nil {
		return File{}, err
	}
	if gradients {
		m.AllocForTraining()
	} else {
		m.AllocWeights()
	}
	for i, p := range m.Params.List {
		if err := weights[i].Float32s(p.W); err != nil {
			return File{}, err
		}
	}
	f, err := readWithoutWeights(s, h)
	f.Model = m
	return f, err
}

// CanonicalLanguages returns the canonical tags of a source and a target language. A language may
// be "", unknown. The error is a *FieldError for src_lang or tgt_lang.
func CanonicalLanguages(src, tgt string) (string, string, error) {
	return languagePair(lang.Canonical, src, tgt)
}

// NamedLanguages is CanonicalLanguages for what people name languages by, see lang.Named.
func NamedLanguages(src, tgt string) (string, string, error) {
	return languagePair(lang.Named, src, tgt)
}

func languagePair(tagOf func(string) (string, error), src, tgt string) (string, string, error) {
	for _, side := range []struct {
		field string
		tag   *string
	}{{keySrcLang, &src}, {keyTgtLang, &tgt}} {
		if *side.tag == "" {
			continue
		}
		tag, err := tagOf(*side.tag)
		if err != nil {
			return "", "", &FieldError{side.field, *side.tag, lang.Form}
		}
		*side.tag = tag
	}
	return src, tgt, nil
}

// readWithoutWeights reads an open model file except its weights.
func readWithoutWeights(s *safetensors.File, h Header) (File, error) {
	f := File{SrcLang: h.SrcLang, TgtLang: h.TgtLang, Decoding: h.Decoding, Info: h.Info}
	var err error
	if f.Tokenizers, err = Tokenizers(s); err != nil {
		return f, err
	}
	f.Shortlist, err = shortlistTensors(s)
	return f, err
}

// CopyFile writes a copy of the model file at path, of any form, to out, with the changes that
// change makes to its header and tensors.
func CopyFile(path, out string, change func(*Header, []safetensors.Tensor) ([]safetensors.Tensor, error)) error {
	s, err := safetensors.Map(path)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Verify(); err != nil {
		return err
	}
	h, err := DecodeHeader(s.Metadata())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tensors, err := change(&h, s.Tensors())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	meta, err := h.Encode()
	if err != nil {
		return err
	}
	return safetensors.Write(out, meta, tensors)
}
