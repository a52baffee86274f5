package convert

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

var minusInf = float32(math.Inf(-1))

// tensors holds the tensors of a source model by name. A reader takes each of them by name and
// shape; unused reports the others, so that no tensor is dropped silently. Errors name the file and
// the tensor. The first error of a method stays in err: after it, shapes and tensors are zeros.
type tensors struct {
	path   string
	size   int64 // bytes of the files of the model, which bound the memory of the imported one
	byName map[string]*tensor
	err    error

	steps map[string][]float32 // see model.File
}

// tensor is one tensor of a source model.
type tensor struct {
	dtype string
	shape []int                     // row-major; [] is a scalar
	read  func(dst []float32) error // sets dst to all elements as float32
	step  float32                   // elements are multiples of it; 0 for others
	used  bool
}

func newTensors(path string, size int64) *tensors {
	return &tensors{path: path, size: size, byName: map[string]*tensor{}}
}

// add adds a tensor whose elements read returns. It refuses duplicate names, and shapes with
// negative sizes or more elements than the files have bits.
func (s *tensors) add(name, dtype string, shape []int, read func(dst []float32) error) error {
	n, ok := count(shape)
	switch {
	case s.has(name):
		return s.fail(name, "found twice")
	case !ok || int64(n) > 8*s.size:
		return s.fail(name, "found shape %s, expected at most as many elements as the %d bytes of the file have bits", shapeText(shape), s.size)
	}
	s.byName[name] = &tensor{dtype: dtype, shape: slices.Clone(shape), read: read}
	return nil
}

// count returns the number of elements of shape, and whether every dimension is at least 0 and the
// number fits an int.
func count(shape []int) (int, bool) {
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

// shapeText formats a shape for an error message, truncated to 8 dimensions.
func shapeText(shape []int) string {
	if len(shape) > 8 {
		return fmt.Sprintf("%v… (%d dimensions)", shape[:8], len(shape))
	}
	return fmt.Sprint(shape)
}

// fail sets s.err to an error that names the file and the tensor, unless there is an earlier one,
// and returns s.err.
func (s *tensors) fail(name, format string, args ...any) error {
	return s.failFile("tensor %.80q: %s", name, fmt.Sprintf(format, args...))
}

// failFile is fail for an error that no tensor has.
func (s *tensors) failFile(format string, args ...any) error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %s", s.path, fmt.Sprintf(format, args...))
	}
	return s.err
}

// has reports whether the named tensor exists. It does not take it.
func (s *tensors) has(name string) bool {
	_, ok := s.byName[name]
	return ok
}

// shape returns the shape of the named tensor, which must have the given number of dimensions, each
// at least 1. It does not take the tensor.
func (s *tensors) shape(name string, dims int) []int {
	t, ok := s.byName[name]
	switch {
	case !ok:
		s.fail(name, "missing")
	case len(t.shape) != dims || slices.Contains(t.shape, 0):
		s.fail(name, "found shape %s, expected %d dimensions of at least 1", shapeText(t.shape), dims)
	case s.err == nil:
		return t.shape
	}
	return make([]int, dims)
}

// values takes the named tensor and returns its elements, nil after an error. It must have the
// given shape; a shape of one dimension more or less with the same elements, as [1 n] for [n], is
// another shape.
func (s *tensors) values(name string, shape ...int) []float32 {
	t, ok := s.byName[name]
	switch {
	case s.err != nil:
		return nil
	case !ok:
		s.fail(name, "missing, expected shape %v", shape)
		return nil
	case !slices.Equal(t.shape, shape):
		s.fail(name, "found shape %s, expected %v", shapeText(t.shape), shape)
		return nil
	}
	t.used = true
	n, _ := count(shape)
	x := make([]float32, n)
	if err := t.read(x); err != nil {
		s.fail(name, "%v", err)
		return nil
	}
	return x
}

// matrix takes the named tensor of two dimensions.
func (s *tensors) matrix(name string, rows, cols int) mat.Matrix {
	x := s.values(name, rows, cols)
	if x == nil {
		return mat.Matrix{}
	}
	return mat.Of(x, rows, cols)
}

// setSteps sets the steps of columns first to first+n-1 of a parameter that has the given number of
// columns. For embeddings they are rows.
func (s *tensors) setSteps(param string, columns, first, n int, step float32) {
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

// skip takes a tensor, if it exists, whose content the model does not need: its reader states why.
func (s *tensors) skip(name string) {
	if t, ok := s.byName[name]; ok {
		t.used = true
	}
}

// unused returns an error that lists the tensors that were not taken, or nil if all were.
func (s *tensors) unused() error {
	var left []string
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		if t := s.byName[name]; !t.used {
			left = append(left, fmt.Sprintf("%.80q %.20s %s", name, t.dtype, shapeText(t.shape)))
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
	return fmt.Errorf("%s: found tensors that a Transformer of this program does not have: %s%s", s.path, shown, more)
}

// Bounds of an imported model's memory: bytes for each byte of the source, and bytes in addition.
const (
	maxGrowth = 32
	minMemory = 1 << 20
)

// newModel allocates the model of configuration c, whose weights and positions need at most
// maxGrowth times the memory of the source, plus minMemory.
func (s *tensors) newModel(c model.Config) (*model.Transformer, error) {
	m, err := model.New(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	floats := int64(m.Params.Count())
	if c.Positions != model.Learned {
		floats += int64(c.MaxLen) * int64(c.DModel)
	}
	if bytes := 4 * floats; bytes > maxGrowth*s.size+minMemory {
		return nil, fmt.Errorf("%s: found %d bytes for a model of %d, expected at least %d", s.path, s.size, bytes, bytes/maxGrowth)
	}
	m.AllocWeights()
	return m, nil
}
