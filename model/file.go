package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tfm/internal/strict"
	"tfm/model/safetensors"
)

// The model file is one safetensors file. Its metadata holds
//
//	format      "tfm 1", raised when an older program could misread the file
//	config      the Config as JSON
//	checksum    see package safetensors
//
// and whatever the writer adds (how the model was trained). Its tensors are the parameters by name, F32, and
// the tokenizers, U8, as "tokenizer.joint", or "tokenizer.source" and "tokenizer.target".
const format = "tfm 1"

// File is what a model file holds.
type File struct {
	Model      *Transformer
	Tokenizers map[string][]byte // "joint", or "source" and "target", the bytes of text.Tokenizer.MarshalBinary
	Info       map[string]string // free text beside it, such as how the model was trained
}

const tokenizerPrefix = "tokenizer."

// Save writes the model file at path, atomically: a crash leaves the old file or the new one.
func (f File) Save(path string) error {
	meta, tensors, err := f.Encode()
	if err != nil {
		return err
	}
	return safetensors.Write(path, meta, tensors)
}

// Encode gives the metadata and tensors of the model file, for a checkpoint to add its own. The tensors
// share the model's memory.
func (f File) Encode() (map[string]string, []safetensors.Tensor, error) {
	config, err := json.Marshal(f.Model.Config)
	if err != nil {
		return nil, nil, err
	}
	meta := map[string]string{"format": format, "config": string(config)}
	for k, v := range f.Info {
		if _, taken := meta[k]; !taken {
			meta[k] = v
		}
	}
	var tensors []safetensors.Tensor
	for _, p := range f.Model.Params.List {
		tensors = append(tensors, safetensors.Float32Tensor(p.Name, p.Shape, p.W))
	}
	var names []string
	for name := range f.Tokenizers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		data := f.Tokenizers[name]
		tensors = append(tensors, safetensors.Tensor{Name: tokenizerPrefix + name, DType: "U8", Shape: []int{len(data)}, Data: data})
	}
	return meta, tensors, nil
}

// Load reads the model file at path, whole and verified: every byte takes part in its checksum. A model for
// training is loaded with gradients.
func Load(path string, gradients bool) (File, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return File{}, err
	}
	defer s.Close()
	if err := s.Verify(); errors.Is(err, safetensors.ErrNoChecksum) {
		return File{}, fmt.Errorf("%s: no checksum: not a model that tfm wrote, or damaged", path)
	} else if err != nil {
		return File{}, err
	}
	f, err := decode(s, gradients)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// LoadConfig reads only the configuration, without looking at the weights.
func LoadConfig(path string) (Config, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer s.Close()
	c, err := decodeConfig(s.Metadata())
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// LoadTokenizers reads only the tokenizers, as File has them, without looking at the weights.
func LoadTokenizers(path string) (map[string][]byte, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t, err := decodeTokenizers(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func decodeTokenizers(s *safetensors.File) (map[string][]byte, error) {
	tokenizers := map[string][]byte{}
	for _, t := range s.Tensors() {
		if name, ok := strings.CutPrefix(t.Name, tokenizerPrefix); ok {
			if t.DType != "U8" {
				return nil, fmt.Errorf("tensor %q is of type %s, expected U8", t.Name, t.DType)
			}
			data, err := t.Bytes()
			if err != nil {
				return nil, err
			}
			tokenizers[name] = data
		}
	}
	return tokenizers, nil
}

func decodeConfig(meta map[string]string) (c Config, err error) {
	switch got, ok := meta["format"]; {
	case !ok:
		return c, errors.New("a safetensors file, but not a model of tfm: its metadata has no format")
	case got != format:
		return c, fmt.Errorf("its format is %q, this program reads %q", got, format)
	}
	// A field that is not known could be a reading of the paper that this program does not compute.
	if err := strict.Unmarshal([]byte(meta["config"]), &c); err != nil {
		return c, fmt.Errorf("its configuration: %w", err)
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("its configuration: %w", err)
	}
	return c, nil
}

func decode(s *safetensors.File, gradients bool) (File, error) {
	c, err := decodeConfig(s.Metadata())
	if err != nil {
		return File{}, err
	}
	m, err := New(c)
	if err != nil {
		return File{}, err
	}
	// Every parameter is found before any is allocated: the file must be as large as its configuration says.
	weights := make([]safetensors.Tensor, len(m.Params.List))
	for i, p := range m.Params.List {
		t, ok := s.Tensor(p.Name)
		switch {
		case !ok:
			return File{}, fmt.Errorf("tensor %q is missing", p.Name)
		case t.DType != "F32" && t.DType != "F16" && t.DType != "BF16":
			return File{}, fmt.Errorf("tensor %q is of type %s, expected F32, F16 or BF16", p.Name, t.DType)
		case !slices.Equal(t.Shape, p.Shape):
			return File{}, fmt.Errorf("tensor %q has shape %v, the configuration says %v", p.Name, t.Shape, p.Shape)
		}
		weights[i] = t
	}
	m.Allocate(gradients)
	for i, p := range m.Params.List {
		if err := weights[i].Float32s(p.W); err != nil {
			return File{}, err
		}
	}
	f := File{Model: m, Info: s.Metadata()}
	for _, own := range []string{"format", "config", "checksum"} {
		delete(f.Info, own)
	}
	f.Tokenizers, err = decodeTokenizers(s)
	return f, err
}
