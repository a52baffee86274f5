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
	if apart {
		inner := 0 // distance of the first and the last element of the inner axes
		for _, a := range slices.Backward(v.axes()) {
			apart = apart && a.from > inner
			inner += (a.n - 1) * a.from
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

// axis is a dimension: its size, and the distance of neighbours in the storage and in a row-major
// result, in elements.
type axis struct{ n, from, to int }

// axes returns the dimensions in descending order of strides, so that a loop over them reads the
// storage in its order. It merges those that one loop can read. There is at least one.
func (v *view) axes() []axis {
	var all []axis
	to := 1
	for i, n := range slices.Backward(v.shape) {
		if n > 1 {
			all = append(all, axis{n, v.strides[i], to})
		}
		to *= n
	}
	slices.SortStableFunc(all, func(a, b axis) int { return cmp.Compare(b.from, a.from) })
	merged := []axis{{1, 1, 1}}
	for _, a := range all {
		last := &merged[len(merged)-1]
		switch {
		case last.n == 1:
			*last = a
		case last.from == a.n*a.from && last.to == a.n*a.to:
			*last = axis{last.n * a.n, a.from, a.to}
		default:
			merged = append(merged, a)
		}
	}
	return merged
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
// does not have the length of the shape, and if the file cannot be read. It needs 1 MB of memory.
func (t *Tensor) Float32s(dst []float32) error {
	if n := t.view.bytes() / t.view.elem.size; n != int64(len(dst)) {
		return fmt.Errorf("tensor %.80q: found %d elements in shape %s, expected %d", t.Name, n, shapeText(t.Shape), len(dst))
	}
	if len(dst) == 0 {
		return nil
	}
	axes := t.view.axes()
	n := min(windowElements, t.view.storage.bytes()/t.view.elem.size)
	r := reader{Tensor: t, window: make([]byte, 0, n*t.view.elem.size)}
	if len(axes) > 1 || axes[0].from != 1 {
		r.temp = make([]float32, n)
	}
	return r.read(dst, axes, t.view.offset)
}

// windowElements is the number of elements that a reader holds.
const windowElements = 1 << 16

// reader reads the elements of a tensor in the order of the file.
type reader struct {
	*Tensor
	window []byte    // a part of the storage
	start  int64     // index of its first element
	temp   []float32 // as many, unless the elements are contiguous
}

// read sets dst to the elements from index at on, one axis in another.
func (r *reader) read(dst []float32, axes []axis, at int64) error {
	a := axes[0]
	if len(axes) > 1 {
		for i := range a.n {
			if err := r.read(dst[i*a.to:], axes[1:], at+int64(i*a.from)); err != nil {
				return err
			}
		}
		return nil
	}
	for k := max(1, windowElements/a.from); a.n > 0; a.n -= k {
		k = min(k, a.n)
		span := (k-1)*a.from + 1
		if a.from == 1 && a.to == 1 {
			if err := r.convert(dst[:span], at); err != nil {
				return err
			}
		} else {
			if err := r.convert(r.temp[:span], at); err != nil {
				return err
			}
			for i := range k {
				dst[i*a.to] = r.temp[i*a.from]
			}
		}
		if at += int64(k * a.from); a.n > k {
			dst = dst[k*a.to:]
		}
	}
	return nil
}

// convert sets dst to the elements from index at on, which are at most windowElements.
func (r *reader) convert(dst []float32, at int64) error {
	s, size := r.view.storage, r.view.elem.size
	if at < r.start || (at-r.start+int64(len(dst)))*size > int64(len(r.window)) {
		r.window, r.start = r.window[:min(int64(cap(r.window)), s.bytes()-at*size)], at
		if n, err := s.file.ReadAt(r.window, s.offset+at*size); n < len(r.window) {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("tensor %.80q: %w", r.Name, err)
		}
	}
	data := r.window[(at-r.start)*size:][:int64(len(dst))*size]
	return safetensors.Tensor{Name: r.Name, DType: r.DType, Shape: []int{len(dst)}, Data: data}.Float32s(dst)
}
