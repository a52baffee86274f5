package torchfile

import (
	"cmp"
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

// newView returns a view, or an error for elements outside the storage or overlapping ones.
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
	inside, apart := offset >= 0 && left >= 0, true
	for i, dim := range shape {
		switch {
		case dim == 1 || !inside || !apart:
		case strides[i] == 0:
			apart = false
		case int64(dim-1) > left/int64(strides[i]):
			inside = false
		default:
			left -= int64(dim-1) * int64(strides[i])
		}
	}
	if !inside {
		return nil, fmt.Errorf("found a tensor of shape %s and strides %s at %d, expected it in a storage of %d elements", shapeText(shape), shapeText(strides), offset, n)
	}
	inner := 0 // distance of the first and the last element of the inner dimensions
	for _, i := range v.byStride() {
		if shape[i] > 1 && inside {
			apart = apart && strides[i] > inner
			inner += (shape[i] - 1) * strides[i]
		}
	}
	if !apart {
		return nil, fmt.Errorf("found a tensor of shape %s and strides %s, expected elements that do not overlap", shapeText(shape), shapeText(strides))
	}
	return v, nil
}

// bytes returns the bytes of the elements.
func (v *view) bytes() int64 {
	if slices.Contains(v.shape, 0) {
		return 0
	}
	n := v.elem.size
	for _, dim := range v.shape {
		n *= int64(dim) // no overflow, because the elements do not overlap
	}
	return n
}

// byStride returns the dimensions in ascending order of strides.
func (v *view) byStride() []int {
	var list []int
	for i := range v.shape {
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(v.strides[a], v.strides[b]) })
	return list
}

// span returns the distance of the first and the last element in the storage plus 1, and whether
// the elements are in row-major order without gaps.
func (v *view) span() (n int, isContiguous bool) {
	n, isContiguous = 1, true
	size := 1
	for i, dim := range slices.Backward(v.shape) {
		if dim > 1 {
			isContiguous = isContiguous && v.strides[i] == size
			n += (dim - 1) * v.strides[i]
		}
		size *= dim
	}
	return n, isContiguous
}

// shapeText formats a shape for an error message, truncated to 8 dimensions.
func shapeText(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("%v… (%d dimensions)", shape[:8], len(shape))
	}
	return fmt.Sprint(shape)
}

// Float32s copies the elements to dst, in row-major order. The conversions are those of
// [safetensors.Tensor.Float32s]. It returns an error that names the tensor for other types, if dst
// does not have the length of the shape, and if the file cannot be read. It needs 1 MB of memory,
// and for elements in another order that of the part of the storage that has them, as float32.
func (t *Tensor) Float32s(dst []float32) error {
	v := t.view
	if n := v.bytes() / v.elem.size; n != int64(len(dst)) {
		return fmt.Errorf("tensor %.80q: found %d elements in shape %s, expected %d", t.Name, n, shapeText(t.Shape), len(dst))
	}
	if len(dst) == 0 {
		return nil
	}
	n, isContiguous := v.span()
	if isContiguous {
		return t.read(dst, v.offset)
	}
	stored := make([]float32, n)
	if err := t.read(stored, v.offset); err != nil {
		return err
	}
	for i := range dst {
		at, rest := 0, i
		for k, dim := range slices.Backward(v.shape) {
			at += rest % dim * v.strides[k]
			rest /= dim
		}
		dst[i] = stored[at]
	}
	return nil
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
