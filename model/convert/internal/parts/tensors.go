package parts

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"tfm/mat"
	"tfm/model"
)

var MinusInf = float32(math.Inf(-1))

// Tensors holds the tensors of a source model by name. A reader takes each of them by name and
// shape, which uses it; unused reports the others, so that no tensor is dropped silently. Errors
// name the file and the tensor. The first error of a method stays in Err: after it, shapes and
// tensors are zeros.
type Tensors struct {
	Path   string
	size   int64 // bytes of the files of the model, which bound the memory of the imported one
	ByName map[string]*tensor
	Err    error

	steps map[string][]float32 // see model.File
}

// tensor is one tensor of a source model.
type tensor struct {
	Dtype string
	Shape []int                     // row-major; [] is a scalar
	Read  func(dst []float32) error // sets dst to all elements as float32
	Step  float32                   // elements are multiples of it; 0 for others
	Used  bool
}

func NewTensors(path string, size int64) *Tensors {
	return &Tensors{Path: path, size: size, ByName: map[string]*tensor{}}
}

// Add adds a tensor whose elements read returns. It refuses duplicate names, and shapes with
// negative sizes or more elements than the files have bits.
func (s *Tensors) Add(name, dtype string, shape []int, read func(dst []float32) error) error {
	n, ok := Count(shape)
	switch {
	case s.Has(name):
		return s.Fail(name, "found twice")
	case !ok || int64(n) > 8*s.size:
		return s.Fail(name, "found shape %s, expected at most as many elements as the %d bytes of the file have bits", ShapeText(shape), s.size)
	}
	s.ByName[name] = &tensor{Dtype: dtype, Shape: slices.Clone(shape), Read: read}
	return nil
}

// Count returns the number of elements of shape, and whether every dimension is at least 0 and the
// number fits an int.
func Count(shape []int) (int, bool) {
	n := uint64(1)
	for _, dim := range shape {
		hi, lo := bits.Mul64(n, uint64(dim))
		if dim < 0 || hi != 0 || lo > 1<<62 {
			return 0, false
		}
		n = lo
	}
	return int(n), true
}

// ShapeText formats a shape for an error message, truncated to 8 dimensions.
func ShapeText(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("%v… (%d dimensions)", shape[:8], len(shape))
	}
	return fmt.Sprint(shape)
}

// Fail sets s.Err to an error that names the file and the tensor, unless there is an earlier one,
// and returns s.Err.
func (s *Tensors) Fail(name, format string, args ...any) error {
	return s.FailFile("tensor %.80q: %s", name, fmt.Sprintf(format, args...))
}

// FailFile is Fail for an error that no tensor has.
func (s *Tensors) FailFile(format string, args ...any) error {
	if s.Err == nil {
		s.Err = fmt.Errorf("%s: %s", s.Path, fmt.Sprintf(format, args...))
	}
	return s.Err
}

// Has reports whether the named tensor exists. It does not take it.
func (s *Tensors) Has(name string) bool {
	_, ok := s.ByName[name]
	return ok
}

// Shape returns the shape of the named tensor, which must have the given number of dimensions, each
// at least 1. It does not take the tensor.
func (s *Tensors) Shape(name string, dims int) []int {
	t, ok := s.ByName[name]
	switch {
	case !ok:
		s.Fail(name, "missing")
	case len(t.Shape) != dims || slices.Contains(t.Shape, 0):
		s.Fail(name, "found shape %s, expected %d dimensions of at least 1", ShapeText(t.Shape), dims)
	case s.Err == nil:
		return t.Shape
	}
	return make([]int, dims)
}

// Values takes the named tensor and returns its elements, nil after an error. It must have the
// given shape; a shape of one dimension more or less with the same elements, as [1 n] for [n], is
// another shape.
func (s *Tensors) Values(name string, shape ...int) []float32 {
	t, ok := s.ByName[name]
	switch {
	case s.Err != nil:
		return nil
	case !ok:
		s.Fail(name, "missing, expected shape %v", shape)
		return nil
	case !slices.Equal(t.Shape, shape):
		s.Fail(name, "found shape %s, expected %v", ShapeText(t.Shape), shape)
		return nil
	}
	t.Used = true
	n, _ := Count(shape)
	x := make([]float32, n)
	if err := t.Read(x); err != nil {
		s.Fail(name, "%v", err)
		return nil
	}
	return x
}

// Matrix takes the named tensor of two dimensions.
func (s *Tensors) Matrix(name string, rows, cols int) mat.Matrix {
	x := s.Values(name, rows, cols)
	if x == nil {
		return mat.Matrix{}
	}
	return mat.Of(x, rows, cols)
}

// setSteps sets the steps of columns first to first+n-1 of a parameter that has the given number of
// columns. For embeddings they are rows.
func (s *Tensors) setSteps(param string, columns, first, n int, step float32) {
	if step == 0 {
		return
	}
	if s.steps == nil {
		s.steps = map[string][]float32{}
	}
	if s.steps[param] == nil {
		s.steps[param] = make([]float32, columns)
	}
	for i := range n {
		s.steps[param][first+i] = step
	}
}

// Skip takes a tensor, if it exists, whose content the model does not need: its reader states why.
func (s *Tensors) Skip(name string) {
	if t, ok := s.ByName[name]; ok {
		t.Used = true
	}
}

// unused returns an error that lists the tensors that were not taken, or nil if all were.
func (s *Tensors) unused() error {
	var left []string
	for _, name := range slices.Sorted(maps.Keys(s.ByName)) {
		if t := s.ByName[name]; !t.Used {
			left = append(left, fmt.Sprintf("%.80q %.20s %s", name, t.Dtype, ShapeText(t.Shape)))
		}
	}
	if len(left) == 0 {
		return nil
	}
	const maxShown = 5
	more := ""
	if len(left) > maxShown {
		more = fmt.Sprintf(" and %d more", len(left)-maxShown)
	}
	shown := strings.Join(left[:min(maxShown, len(left))], ", ")
	return fmt.Errorf("%s: found tensors that a Transformer of this program does not have: %s%s", s.Path, shown, more)
}

// Bounds of an imported model's memory: bytes for each byte of the source, and bytes in addition.
const (
	MaxGrowth = 32
	MinMemory = 1 << 20
)

// newModel allocates the model of configuration c, whose weights and positions need at most
// MaxGrowth times the memory of the source, plus MinMemory.
func (s *Tensors) newModel(c model.Config) (*model.Transformer, error) {
	m, err := model.New(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	floats := int64(m.Params.Count())
	if c.Positions != model.Learned {
		floats += int64(c.MaxLen) * int64(c.DModel)
	}
	if bytes := 4 * floats; bytes > MaxGrowth*s.size+MinMemory {
		return nil, fmt.Errorf("%s: found %d bytes for a model of %d, expected at least %d", s.Path, s.size, bytes, bytes/MaxGrowth)
	}
	m.AllocWeights()
	return m, nil
}

// IsClose reports whether no elements of a and b differ by more than tolerance.
func IsClose(a, b mat.Matrix, tolerance float64) bool {
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			if !(math.Abs(float64(x[j])-float64(y[j])) <= tolerance) {
				return false
			}
		}
	}
	return true
}
