package decode

import (
	"errors"
	"fmt"
	"io"
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
	Weights    *Weights
	Tokenizers map[string][]byte // see model.File
	Shortlist  *model.Shortlist  // nil if the file has none
}

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
	s, err := safetensors.OpenStream(path)
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
	if err := r.read(s, p); err != nil { // names the file
		r.file.Weights.Close()
		return File{}, err
	}
	return r.file, nil
}

// verified replaces the error of a file without a checksum.
func verified(path string, err error) error {
	if errors.Is(err, safetensors.ErrNoChecksum) {
		return fmt.Errorf("%s: no checksum: not written by tfm, or damaged", path)
	}
	return err
}

// reader reads a plain model file.
type reader struct {
	file     File
	matrices map[string]*weightMatrix
	vectors  map[string]*layer.Param
	lists    map[string]safetensors.Tensor // of the shortlist
	wait     func()                        // for the positional encodings
	buf      []float32                     // a part of a matrix
}

// newReader returns the reader of a file with header h. Its weights are all in s.
func newReader(s *safetensors.Stream, h model.Header, f Form) (*reader, error) {
	t, err := model.New(h.Config)
	if err != nil {
		return nil, err
	}
	if _, err := model.ParamTensors(s, t.Params.List, ""); err != nil {
		return nil, err
	}
	w := declare(t, f)
	r := &reader{
		file: File{Header: h, Weights: w, Tokenizers: map[string][]byte{}}, matrices: map[string]*weightMatrix{},
		vectors: map[string]*layer.Param{}, lists: map[string]safetensors.Tensor{},
	}
	w.SetUnnormedKeys(h.Decoding.UnnormedKeys)
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

// read reads all tensors in the order of the file, and verifies the checksum. Its errors name the
// file.
func (r *reader) read(s *safetensors.Stream, p *mat.Pool) error {
	defer r.wait()
	for {
		t, err := s.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		name, isTokenizer, err := model.TokenizerName(t)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path(), err)
		}
		switch m, v := r.matrices[t.Name], r.vectors[t.Name]; {
		case m != nil:
			err = m.read(p, s, &r.buf)
		case v != nil:
			err = s.Float32s(v.W)
		case isTokenizer:
			data := make([]byte, s.Left())
			r.file.Tokenizers[name], err = data, s.Bytes(data)
		case model.IsShortlistTensor(t.Name):
			t.Data = make([]byte, s.Left())
			r.lists[t.Name], err = t, s.Bytes(t.Data)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Verify(); err != nil {
		return verified(s.Path(), err)
	}
	find := func(name string) (t safetensors.Tensor, found bool) { t, found = r.lists[name]; return }
	var err error
	if r.file.Shortlist, err = model.ReadShortlist(find, r.file.Header.Config); err != nil {
		return fmt.Errorf("%s: %w", s.Path(), err)
	}
	return nil
}

// elements reads the elements of a tensor, one part after another.
type elements interface {
	Float32s(dst []float32) error
}

// maxPartFloats is the limit of the elements of a part of a matrix that is read at once: 4 MB, the
// size of the matrices of the paper's base model except the embedding.
const maxPartFloats = 1 << 20

// read sets m, which has memory, from the elements of its parameter. A transposed matrix is read in
// parts, its columns. buf is workspace, which calls for other matrices may reuse.
func (m *weightMatrix) read(p *mat.Pool, e elements, buf *[]float32) error {
	rows, cols := m.param.Shape[0], m.param.Shape[1]
	n := rows // of a part
	if m.transposed {
		const panel = 32
		n = min(rows, max(1, maxPartFloats/cols/panel)*panel)
	}
	*buf = slices.Grow((*buf)[:0], n*cols)
	for lo := 0; lo < rows; lo += n {
		part := mat.Of((*buf)[:n*cols], n, cols).RowRange(0, min(n, rows-lo))
		if err := e.Float32s(part.Data); err != nil {
			return err
		}
		if m.transposed {
			part = part.T()
		}
		m.setCols(p, lo, part)
	}
	return nil
}

// setCols sets columns of m, see mat.Packed.SetCols.
func (m *weightMatrix) setCols(p *mat.Pool, j int, b mat.Matrix) {
	if m.int8 != nil {
		m.int8.SetCols(p, j, b)
	} else {
		m.packed.SetCols(p, j, b)
	}
}

// loadMapped is Load for a file for decoding.
func loadMapped(path string, f Form, p *mat.Pool) (File, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return File{}, err
	}
	file, err := readMapped(s, path, f, p)
	if err != nil || file.Weights.release == nil {
		s.Close()
	}
	return file, err
}

func readMapped(s *safetensors.File, path string, f Form, p *mat.Pool) (File, error) {
	if err := s.Verify(); err != nil {
		return File{}, verified(path, err)
	}
	file, err := decodeMapped(s, f, p)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func decodeMapped(s *safetensors.File, f Form, p *mat.Pool) (File, error) {
	h, err := model.DecodeHeader(s.Metadata())
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
	w.SetUnnormedKeys(h.Decoding.UnnormedKeys)
	file := File{Header: h, Weights: w}
	if file.Tokenizers, err = model.Tokenizers(s); err != nil {
		return file, err
	}
	file.Shortlist, err = model.ReadShortlist(s.Tensor, h.Config)
	return file, err
}

// readMapped reads the weights of an open file, after it has checked all shapes. w.release closes
// the file if it must stay open.
func (w *Weights) readMapped(s *safetensors.File, p *mat.Pool) error {
	vectors := w.vectors()
	if err := w.checkMatrices(s); err != nil {
		return err
	}
	if err := checkVectors(s, vectors); err != nil {
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

// checkMatrices checks dtypes and shapes of the matrices in s, and that none is missing.
func (w *Weights) checkMatrices(s *safetensors.File) error {
	for _, m := range w.matrices {
		in, out := m.size()
		name := m.param.Name
		t, found := s.Tensor(name)
		if !found {
			return missing(name)
		}
		if w.form == Float32 {
			if _, ok := m.layout(t.Shape); t.DType != "F32" || !ok {
				return mismatch(t, "F32 of shape [panels depth columns] for a matrix [%d %d]", in, out)
			}
			continue
		}
		if shape := mat.LayoutOfInt8(in, out); t.DType != "I8" || !slices.Equal(t.Shape, shape[:]) {
			return mismatch(t, "I8 of shape %v", shape)
		}
		t, found = s.Tensor(name + scaleSuffix)
		if !found {
			return missing(name + scaleSuffix)
		}
		if t.DType != "F32" || !slices.Equal(t.Shape, []int{out}) {
			return mismatch(t, "F32 of shape [%d]", out)
		}
	}
	return nil
}

func checkVectors(s *safetensors.File, vectors []*layer.Param) error {
	for _, v := range vectors {
		t, found := s.Tensor(v.Name)
		if !found {
			return missing(v.Name)
		}
		if t.DType != "F32" || !slices.Equal(t.Shape, v.Shape) {
			return mismatch(t, "F32 of shape %v", v.Shape)
		}
	}
	return nil
}

func missing(name string) error { return fmt.Errorf("tensor %q is missing", name) }

// mismatch is the error of a tensor with a wrong dtype or shape.
func mismatch(t safetensors.Tensor, expected string, args ...any) error {
	return fmt.Errorf("tensor %q: found %s of shape %.80s, expected "+expected+" as in the configuration",
		append([]any{t.Name, t.DType, fmt.Sprint(t.Shape)}, args...)...)
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
