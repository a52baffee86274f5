package decode

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// A model file for decoding is a model file with matrices in the form that the kernels read. Its
// tensors are
//
//	NAME         I8 [panels, groups, 32, 4]: B in the order of mat.Int8.Packed
//	NAME.scale   F32 [out]
//
// for each parameter that is a matrix B [in × out], or a transpose of it: embeddings and the
// output projection, of shape [pieces, d], are stored as B [d × pieces]. Other parameters, the
// tokenizers and the shortlist are those of a plain model file. Matrices come first, so that they
// are aligned. The order is the same for all kernels.
const (
	formInt8    = "int8"
	scaleSuffix = ".scale"
)

// File is the content of a model file for decoding.
type File struct {
	Header     model.Header
	Settings   Settings // those of Header.Decoding, which Save replaces
	Weights    *Weights
	Tokenizers map[string][]byte // see model.File
	Shortlist  *Shortlist        // nil if the file has none
}

// Load reads a model file of any form on the threads of p. It verifies the checksum, which covers
// every byte. Matrices of a plain file are converted to form f as they are read, so that Load needs
// little more memory than the Weights. Those of a file for decoding are in int8 and not copied: the
// file stays mapped into memory, which processes share, until Weights.Close. It must not be
// truncated or overwritten in place until then, because an access to missing pages ends the
// program; replacing it by a rename is safe.
//
// Errors name the file and the tensor. Load is safe on untrusted files: before it allocates memory
// for weights, it compares their shapes with the configuration, and with the size of the file.
func Load(path string, f Form, p *mat.Pool) (File, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return File{}, err
	}
	defer s.Close()
	file, err := newFile(s, f)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	if file.Header.Form != "" {
		return loadMapped(path, p)
	}
	if err := file.readPlain(s, p); err != nil {
		file.Weights.Close()
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// loadMapped is Load for a file for decoding.
func loadMapped(path string, p *mat.Pool) (File, error) {
	s, err := safetensors.Map(path)
	if err != nil {
		return File{}, err
	}
	file, err := newFile(s, Int8)
	if err == nil {
		err = file.readMapped(s, p)
	}
	if err != nil {
		s.Close()
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// newFile returns the File of s with weights without memory.
func newFile(s *safetensors.File, f Form) (File, error) {
	h, err := model.DecodeHeader(s.Metadata())
	if err != nil {
		return File{}, err
	}
	if h.Form != "" && h.Form != formInt8 {
		return File{}, fmt.Errorf("found weights %.80q, expected %q: written by another version, or damaged", h.Form, formInt8)
	}
	settings, err := ParseSettings(h.Decoding)
	if err != nil {
		return File{}, err
	}
	t, err := model.New(h.Config)
	if err != nil {
		return File{}, err
	}
	w := declare(t, f)
	w.SetUnnormedKeys(settings.UnnormedKeys)
	return File{Header: h, Settings: settings, Weights: w}, nil
}

// readPlain reads a plain model file: weights in the order of the file, so that the checksum needs
// no second reading of them.
func (f *File) readPlain(s *safetensors.File, p *mat.Pool) error {
	w := f.Weights
	if _, err := model.ParamTensors(s, w.model.Params.List, ""); err != nil {
		return err
	}
	matrices, vectors := map[string]*weightMatrix{}, map[string]*layer.Param{}
	for _, m := range w.matrices {
		matrices[m.param.Name] = m
	}
	list := w.vectors()
	for _, v := range list {
		vectors[v.Name] = v
	}
	wait := w.allocVectors(list)
	defer wait()
	w.allocMatrices()
	var buf []float32
	for _, t := range s.Tensors() {
		var err error
		switch m, v := matrices[t.Name], vectors[t.Name]; {
		case m != nil:
			err = m.read(p, func(lo int, dst []float32) error { return t.Part(lo, len(dst)).Float32s(dst) }, &buf)
		case v != nil:
			err = t.Float32s(v.W)
		}
		if err != nil {
			return err
		}
	}
	if err := verify(s); err != nil {
		return err
	}
	return f.readOthers(s)
}

// readMapped reads a file for decoding, which w.release closes.
func (f *File) readMapped(s *safetensors.File, p *mat.Pool) error {
	w := f.Weights
	if err := verify(s); err != nil {
		return err
	}
	vectors := w.vectors()
	if err := w.checkTensors(s, vectors); err != nil {
		return err
	}
	wait := w.allocVectors(vectors)
	defer wait()
	for _, v := range vectors {
		t, _ := s.Tensor(v.Name)
		if err := t.Float32s(v.W); err != nil {
			return err
		}
	}
	for _, m := range w.matrices {
		in, out := m.size()
		t, _ := s.Tensor(m.param.Name)
		scale, _ := s.Tensor(m.param.Name + scaleSuffix)
		scales := make([]float32, out)
		if err := scale.Float32s(scales); err != nil {
			return err
		}
		m.packed, m.int8 = nil, mat.Int8Of(p, t.View8(), scales, in, out)
	}
	w.release = s.Close
	return f.readOthers(s)
}

// readOthers sets what is no weight.
func (f *File) readOthers(s *safetensors.File) (err error) {
	if f.Tokenizers, err = model.Tokenizers(s); err != nil {
		return err
	}
	f.Shortlist, err = ReadShortlist(s.Tensors(), f.Header.Config)
	return err
}

// checkTensors checks dtypes and shapes of the weights in s, and that none is missing.
func (w *Weights) checkTensors(s *safetensors.File, vectors []*layer.Param) error {
	for _, m := range w.matrices {
		in, out := m.size()
		shape := mat.LayoutOfInt8(in, out)
		if err := checkTensor(s, m.param.Name, "I8", shape[:]...); err != nil {
			return err
		}
		if err := checkTensor(s, m.param.Name+scaleSuffix, "F32", out); err != nil {
			return err
		}
	}
	for _, v := range vectors {
		if err := checkTensor(s, v.Name, "F32", v.Shape...); err != nil {
			return err
		}
	}
	return nil
}

// checkTensor checks the dtype and the shape of a tensor.
func checkTensor(s *safetensors.File, name, dtype string, shape ...int) error {
	t, found := s.Tensor(name)
	switch {
	case !found:
		return fmt.Errorf("tensor %q is missing", name)
	case t.DType != dtype || !slices.Equal(t.Shape, shape):
		return fmt.Errorf("tensor %q: found %s of shape %.80s, expected %s of shape %v as in the configuration", name, t.DType, fmt.Sprint(t.Shape), dtype, shape)
	}
	return nil
}

// verify is s.Verify for a file that must have a checksum. The caller names the file.
func verify(s *safetensors.File) error {
	err := s.Verify()
	if errors.Is(err, safetensors.ErrNoChecksum) {
		return errors.New("no checksum: not written by tfm, or damaged")
	}
	return errors.Unwrap(err)
}

// Save writes a file for decoding atomically: after a crash path holds the old file or the new one.
// The weights must be in int8. It replaces Header.Form.
func (f File) Save(path string) error {
	if f.Weights.form != Int8 {
		return fmt.Errorf("writing %s: found weights in %v, expected %v", path, f.Weights.form, Int8)
	}
	h := f.Header
	h.Decoding, h.Form = f.Settings.String(), formInt8
	meta, err := h.Encode()
	if err != nil {
		return err
	}
	tensors := append(f.Weights.tensors(), model.TokenizerTensors(f.Tokenizers)...)
	return safetensors.Write(path, meta, append(tensors, f.Shortlist.Tensors()...))
}

// tensors returns the tensors of weights in int8, matrices first.
func (w *Weights) tensors() []safetensors.Tensor {
	var all []safetensors.Tensor
	for _, m := range w.matrices {
		shape := mat.LayoutOfInt8(m.size())
		all = append(all, safetensors.Int8Tensor(m.param.Name, shape[:], m.int8.Data()))
	}
	for _, m := range w.matrices {
		scales := m.int8.Scales()
		all = append(all, safetensors.Float32Tensor(m.param.Name+scaleSuffix, []int{len(scales)}, scales))
	}
	for _, v := range w.vectors() {
		all = append(all, safetensors.Float32Tensor(v.Name, v.Shape, v.W))
	}
	return all
}

// Quantize returns the content of f with matrices in int8, on the threads of p. Those of
// model.File.Steps keep their multiples as integers, so that no rounding is added; others are
// rounded as Load rounds them. The error is that of the settings or the shortlist of f.
func Quantize(f model.File, p *mat.Pool) (File, error) {
	settings, err := ParseSettings(f.Decoding)
	if err != nil {
		return File{}, err
	}
	list, err := ReadShortlist(f.Shortlist, f.Model.Config)
	if err != nil {
		return File{}, err
	}
	w := NewWeightsInt8(f.Model, p)
	for _, m := range w.matrices {
		if steps := f.Steps[m.param.Name]; steps != nil {
			m.setMultiples(p, steps)
		}
	}
	w.SetUnnormedKeys(settings.UnnormedKeys)
	h := model.Header{Config: f.Model.Config, SrcLang: f.SrcLang, TgtLang: f.TgtLang, Info: f.Info}
	return File{Header: h, Settings: settings, Weights: w, Tokenizers: f.Tokenizers, Shortlist: list}, nil
}

// setMultiples sets m to the multiples of the steps of its columns, unless a column has none.
func (m *weightMatrix) setMultiples(p *mat.Pool, steps []float32) {
	b := m.source()
	multiples := make([]int8, b.Rows*b.Cols)
	for j, step := range steps {
		if step == 0 {
			return
		}
		for l := range b.Rows {
			multiples[j*b.Rows+l] = int8(math.RoundToEven(float64(b.At(l, j)) / float64(step)))
		}
	}
	m.int8 = mat.PackInt8(p, multiples, steps, b.Rows, b.Cols)
}
