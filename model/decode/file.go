package decode

import (
	"fmt"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// Load reads a model file of any form on the threads of p. It verifies the checksum, which covers
// every byte. Matrices of a plain file are converted to form f as they are read, so that Load needs
// little more memory than the Weights. Those of a file for decoding are not copied if the kernels
// in use can read them: the file stays mapped into memory, which processes share, until
// Weights.Close. It must not be truncated or overwritten in place until then, because an access to
// missing pages ends the program; replacing it by a rename is safe. A file in int8 stays int8.
//
// Errors name the file and the tensor. Load is safe on untrusted files: before it allocates memory
// for weights, it compares their shapes with the configuration, and with the size of the file.
func Load(path string, f Form, p *mat.Pool) (File, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return File{}, err
	}
	defer s.Close()
	h, err := model.DecodeHeader(s.Metadata())
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	if h.Form != "" {
		return loadMapped(path, f, p)
	}
	r, err := newReader(s, h, f)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := r.read(path, s, p); err != nil { // names the file
		r.file.Weights.Close()
		return File{}, err
	}
	return r.file, nil
}

// reader reads a plain model file.
type reader struct {
	file     File
	matrices map[string]*weightMatrix
	vectors  map[string]*layer.Param
	lists    []safetensors.Tensor // of the shortlist
	wait     func()               // for the positional encodings
	buf      []float32            // a part of a matrix
}

// newReader returns the reader of a file with header h. Its weights are all in s.
func newReader(s *safetensors.File, h model.Header, f Form) (*reader, error) {
	settings, err := ParseSettings(h.Decoding)
	if err != nil {
		return nil, err
	}
	t, err := model.New(h.Config)
	if err != nil {
		return nil, err
	}
	if _, err := model.ParamTensors(s, t.Params.List, ""); err != nil {
		return nil, err
	}
	w := declare(t, f)
	r := &reader{
		file:     File{Header: h, Settings: settings, Weights: w, Tokenizers: map[string][]byte{}},
		matrices: map[string]*weightMatrix{}, vectors: map[string]*layer.Param{},
	}
	w.SetUnnormedKeys(settings.UnnormedKeys)
	for _, m := range w.matrices {
		r.matrices[m.param.Name] = m
	}
	vectors := w.vectors()
	r.wait = w.allocVectors(vectors)
	for _, v := range vectors {
		r.vectors[v.Name] = v
	}
	w.allocMatrices()
	return r, nil
}

// read reads all tensors in the order of the file, so that the checksum needs no second reading,
// and verifies it. Its errors name the file.
func (r *reader) read(path string, s *safetensors.File, p *mat.Pool) error {
	defer r.wait()
	for _, t := range s.Tensors() {
		if err := r.readTensor(t, p); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := s.Verify(); err != nil {
		return verified(path, err)
	}
	var err error
	if r.file.Shortlist, err = ReadShortlist(r.lists, r.file.Header.Config); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r *reader) readTensor(t safetensors.Tensor, p *mat.Pool) error {
	name, isTokenizer, err := model.TokenizerName(t)
	if err != nil {
		return err
	}
	switch m, v := r.matrices[t.Name], r.vectors[t.Name]; {
	case m != nil:
		return m.read(p, func(lo int, dst []float32) error { return t.Part(lo, len(dst)).Float32s(dst) }, &r.buf)
	case v != nil:
		return t.Float32s(v.W)
	case isTokenizer:
		r.file.Tokenizers[name], err = t.Bytes()
	case model.IsShortlistTensor(t.Name):
		t.Data, err = t.Bytes()
		r.lists = append(r.lists, t)
	}
	return err
}
