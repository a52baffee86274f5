package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
)

// A model file for decoding is a model file with matrices in the form that the kernels read. Its
// tensors are
//
//	NAME         I8 [panels, groups, 32, 4], in the form "int8": B in the order of mat.Int8.Packed
//	NAME.scale   F32 [out], in the form "int8"
//	NAME         F32 [panels, depth, columns], in the form "packed …": B in that mat.Layout
//
// for each parameter that is a matrix B [in × out], or a transpose of it: embeddings and the
// output projection, of shape [pieces, d], are stored as B [d × pieces]. Other parameters, the
// tokenizers and the shortlist are those of a plain model file. Matrices come first, so that they
// are aligned. The order of int8 is the same for all kernels. That of packed weights depends on
// them; the form ends with the name of the kernels that it is for.
const (
	formInt8    = "int8"
	formPacked  = "packed "
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

// loadMapped is Load for a file for decoding.
func loadMapped(path string, f Form, p *mat.Pool) (file File, err error) {
	s, err := safetensors.Map(path)
	if err != nil {
		return File{}, err
	}
	defer func() {
		if file.Weights == nil || file.Weights.release == nil {
			s.Close()
		}
	}()
	if err := s.Verify(); err != nil {
		return File{}, verified(path, err)
	}
	if file, err = decodeMapped(s, f, p); err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func decodeMapped(s *safetensors.File, f Form, p *mat.Pool) (File, error) {
	h, err := model.DecodeHeader(s.Metadata())
	if err != nil {
		return File{}, err
	}
	settings, err := ParseSettings(h.Decoding)
	if err != nil {
		return File{}, err
	}
	stored := Float32
	switch {
	case h.Form == formInt8:
		stored = Int8
	case !strings.HasPrefix(h.Form, formPacked):
		return File{}, fmt.Errorf("found weights %.80q, expected %q or %q: written by a newer program, or damaged", h.Form, formInt8, formPacked+"…")
	}
	t, err := model.New(h.Config)
	if err != nil {
		return File{}, err
	}
	w := declare(t, stored)
	if err := w.readMapped(s, p); err != nil {
		return File{}, err
	}
	if f == Int8 && stored != Int8 {
		w.round(p)
	}
	w.SetUnnormedKeys(settings.UnnormedKeys)
	file := File{Header: h, Settings: settings, Weights: w}
	if file.Tokenizers, err = model.Tokenizers(s); err != nil {
		return file, err
	}
	file.Shortlist, err = ReadShortlist(s.Tensors(), h.Config)
	return file, err
}

// readMapped reads the weights of an open file, after it has checked all shapes. w.release closes
// the file if it must stay open.
func (w *Weights) readMapped(s *safetensors.File, p *mat.Pool) error {
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
		mapped, err := m.readMapped(s, w.form, p)
		if err != nil {
			return err
		}
		if mapped {
			w.release = s.Close
		}
	}
	return nil
}

// layout returns the layout of packed weights in a tensor of three sizes, and whether it fits m.
func (m *weightMatrix) layout(shape []int) (l mat.Layout, ok bool) {
	in, out := m.size()
	if len(shape) != 3 || shape[2] == 0 {
		return l, false
	}
	l = mat.Layout{Panels: shape[0], Depth: shape[1], Cols: shape[2]}
	return l, l.Depth >= in && l.Panels == (out-1)/l.Cols+1
}

// checkTensors checks dtypes and shapes of the weights in s, and that none is missing.
func (w *Weights) checkTensors(s *safetensors.File, vectors []*layer.Param) error {
	for _, m := range w.matrices {
		in, out := m.size()
		if w.form == Float32 {
			err := checkTensor(s, m.param.Name, "F32", fmt.Sprintf("[panels depth columns] for a matrix [%d %d]", in, out), func(shape []int) bool {
				_, ok := m.layout(shape)
				return ok
			})
			if err != nil {
				return err
			}
			continue
		}
		shape := mat.LayoutOfInt8(in, out)
		if err := checkShape(s, m.param.Name, "I8", shape[:]...); err != nil {
			return err
		}
		if err := checkShape(s, m.param.Name+scaleSuffix, "F32", out); err != nil {
			return err
		}
	}
	for _, v := range vectors {
		if err := checkShape(s, v.Name, "F32", v.Shape...); err != nil {
			return err
		}
	}
	return nil
}

// checkShape checks the dtype and the shape of a tensor.
func checkShape(s *safetensors.File, name, dtype string, shape ...int) error {
	return checkTensor(s, name, dtype, fmt.Sprint(shape), func(found []int) bool { return slices.Equal(found, shape) })
}

// checkTensor checks the dtype of a tensor and, by fits, the shape.
func checkTensor(s *safetensors.File, name, dtype, shape string, fits func(shape []int) bool) error {
	t, found := s.Tensor(name)
	switch {
	case !found:
		return fmt.Errorf("tensor %q is missing", name)
	case t.DType != dtype || !fits(t.Shape):
		return fmt.Errorf("tensor %q: found %s of shape %.80s, expected %s of shape %s as in the configuration", name, t.DType, fmt.Sprint(t.Shape), dtype, shape)
	}
	return nil
}

// readMapped sets m from a checked file and reports whether it uses the mapped memory.
func (m *weightMatrix) readMapped(s *safetensors.File, f Form, p *mat.Pool) (mapped bool, err error) {
	in, out := m.size()
	t, _ := s.Tensor(m.param.Name)
	if f == Int8 {
		scale, _ := s.Tensor(m.param.Name + scaleSuffix)
		scales := make([]float32, out)
		if err := scale.Float32s(scales); err != nil {
			return false, err
		}
		m.packed, m.int8 = nil, mat.Int8Of(p, t.View8(), scales, in, out)
		return true, nil
	}
	l, _ := m.layout(t.Shape)
	data := t.View32()
	mapped = data != nil && l == mat.LayoutOf(in, out)
	if data == nil {
		data = make([]float32, len(t.Data)/4)
		if err := t.Float32s(data); err != nil {
			return false, err
		}
	}
	m.packed = mat.PackedOf(p, data, in, out, l)
	return mapped, nil
}

// round replaces packed matrices by int8.
func (w *Weights) round(p *mat.Pool) {
	for _, m := range w.matrices {
		in, out := m.size()
		const cols = 256
		m.int8 = mat.NewInt8(in, out)
		columns := mat.New(min(cols, out), in)
		for j := 0; j < out; j += cols {
			part := columns.RowRange(0, min(cols, out-j))
			for i := range part.Rows {
				m.packed.Col(part.Row(i), j+i)
			}
			m.int8.SetCols(p, j, part.T())
		}
		m.packed = nil
	}
	w.form, w.release = Int8, nil
}

// Save writes a file for decoding atomically: after a crash path holds the old file or the new one.
// It replaces Header.Form by that of the weights. Packed weights have the layout of the kernels in
// use.
func (f File) Save(path string) error {
	h := f.Header
	h.Decoding = f.Settings.String()
	if h.Form = formInt8; f.Weights.form == Float32 {
		h.Form = formPacked + mat.Kernel()
	}
	meta, err := h.Encode()
	if err != nil {
		return err
	}
	tensors := append(f.Weights.tensors(), model.TokenizerTensors(f.Tokenizers)...)
	return safetensors.Write(path, meta, append(tensors, f.Shortlist.Tensors()...))
}

// tensors returns the tensors of the weights, matrices first.
func (w *Weights) tensors() []safetensors.Tensor {
	var all []safetensors.Tensor
	for _, m := range w.matrices {
		if m.int8 != nil {
			shape := mat.LayoutOfInt8(m.size())
			all = append(all, safetensors.Int8Tensor(m.param.Name, shape[:], m.int8.Data()))
		} else {
			l := mat.LayoutOf(m.size())
			all = append(all, safetensors.Float32Tensor(m.param.Name, []int{l.Panels, l.Depth, l.Cols}, m.packed.Data()))
		}
	}
	for _, m := range w.matrices {
		if m.int8 != nil {
			scales := m.int8.Scales()
			all = append(all, safetensors.Float32Tensor(m.param.Name+scaleSuffix, []int{len(scales)}, scales))
		}
	}
	for _, v := range w.vectors() {
		all = append(all, safetensors.Float32Tensor(v.Name, v.Shape, v.W))
	}
	return all
}

// verified replaces the error of a file without a checksum.
func verified(path string, err error) error {
	if errors.Is(err, safetensors.ErrNoChecksum) {
		return fmt.Errorf("%s: no checksum: not written by tfm, or damaged", path)
	}
	return err
}
