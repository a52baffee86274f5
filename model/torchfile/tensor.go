package torchfile

import (
	"fmt"
	"io"
	"slices"

	"tfm/model/safetensors"
)

// maxDims limits the dimensions of a tensor: PyTorch's own limit.
const maxDims = 64

// Tensor is a named array. Its elements are in the file.
type Tensor struct {
	Name  string
	DType string // by its name in safetensors: "F32", "BF16", "I64", …
	Shape []int  // row-major; [] is a scalar
	view  *view
}

// view is a part of a storage.
type view struct {
	storage *storage
	elem    elementType // that of the storage, if it has one
	offset  int64       // of the first element in the storage, in elements
	shape   []int
	strides []int // in elements
}

// newView returns a view, or an error for elements outside the storage.
func newView(s *storage, elem elementType, offset int64, shape, strides []int) (*view, error) {
	v := &view{s, elem, offset, shape, strides}
	if len(shape) != len(strides) {
		return nil, fmt.Errorf("found %d sizes and %d strides of a tensor", len(shape), len(strides))
	}
	if slices.Contains(shape, 0) {
		return v, nil
	}
	n := s.bytes() / elem.size
	left := n - 1 - offset // elements after the first one
	inside := offset >= 0 && left >= 0
	for i, dim := range shape {
		if dim == 1 || strides[i] == 0 || !inside {
			continue
		}
		if inside = int64(dim-1) <= left/int64(strides[i]); inside {
			left -= int64(dim-1) * int64(strides[i])
		}
	}
	if !inside {
		return nil, fmt.Errorf("found a tensor of shape %s and strides %s at %d, expected it in a storage of %d elements", shapeText(shape), shapeText(strides), offset, n)
	}
	return v, nil
}

// count returns the number of elements, and whether they are in row-major order without gaps, so
// that the storage has them all.
func (v *view) count() (n int64, isContiguous bool) {
	if slices.Contains(v.shape, 0) {
		return 0, true
	}
	n = 1
	for i, dim := range slices.Backward(v.shape) {
		if dim > 1 && int64(v.strides[i]) != n {
			return 0, false
		}
		n *= int64(dim)
	}
	return n, true
}

// shapeText formats a shape for an error message, truncated to 8 dimensions.
func shapeText(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("%v… (%d dimensions)", shape[:8], len(shape))
	}
	return fmt.Sprint(shape)
}

// Float32s copies the elements to dst, in row-major order. The conversions are those of
// [safetensors.Tensor.Float32s]. It returns an error that names the tensor for other types, for
// elements in another order or with gaps, if dst does not have the length of the shape, and if the
// file cannot be read. It needs 1 MB of memory.
func (t *Tensor) Float32s(dst []float32) error {
	n, isContiguous := t.view.count()
	switch {
	case !isContiguous:
		return fmt.Errorf("tensor %.80q: found strides %s of shape %s, expected rows without gaps, as of x.contiguous()", t.Name, shapeText(t.view.strides), shapeText(t.Shape))
	case n != int64(len(dst)):
		return fmt.Errorf("tensor %.80q: found %d elements in shape %s, expected %d", t.Name, n, shapeText(t.Shape), len(dst))
	}
	return t.read(dst, t.view.offset)
}

// read sets dst to the elements of the storage from index at on.
func (t *Tensor) read(dst []float32, at int64) error {
	const windowElements = 1 << 16
	s, size := t.view.storage, t.view.elem.size
	window := make([]byte, size*int64(min(len(dst), windowElements)))
	for len(dst) > 0 {
		n := min(len(dst), windowElements)
		data := window[:int64(n)*size]
		if read, err := s.file.ReadAt(data, s.offset+at*size); read < len(data) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("tensor %.80q: %w", t.Name, err)
		}
		part := safetensors.Tensor{Name: t.Name, DType: t.DType, Shape: []int{n}, Data: data}
		if err := part.Float32s(dst[:n]); err != nil {
			return err
		}
		dst, at = dst[n:], at+int64(n)
	}
	return nil
}
