package parts

import (
	"errors"
	"testing"

	"tfm/model"
	"tfm/model/convert/internal/parttest"
)

// ones adds tensors of the given shapes whose elements are 1.
func ones(t *testing.T, s *Tensors, shapes map[string][]int) {
	t.Helper()
	for name, shape := range shapes {
		err := s.Add(name, "F32", shape, func(dst []float32) error {
			for i := range dst {
				dst[i] = 1
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTensors(t *testing.T) {
	s := NewTensors("dir/model.bin", 100)
	ones(t, s, map[string][]int{"w": {2, 3}, "b": {3}, "scale": {}, "empty": {0, 2}})
	failed := func(what, want string) {
		t.Helper()
		parttest.CheckError(t, what, s.Err, want)
		s.Err = nil
	}
	s.Add("b", "F32", []int{3}, nil)
	failed("duplicate", `dir/model.bin: tensor "b": found twice`)
	s.Add("x", "F32", []int{801}, nil)
	failed("large", "expected at most as many elements as the 100 bytes")
	s.Add("x", "F32", []int{1 << 40, 1 << 40}, nil)
	failed("overflow", "found shape [1099511627776 1099511627776]")
	s.Add("x", "F32", []int{-1}, nil)
	failed("negative", "found shape [-1]")

	s.Values("w", 3, 2)
	failed("values", `tensor "w": found shape [2 3], expected [3 2]`)
	s.Values("v", 3)
	failed("values", `tensor "v": missing, expected shape [3]`)
	s.Shape("empty", 2)
	failed("shape", `found shape [0 2], expected 2 dimensions of at least 1`)
	if shape := s.Shape("b", 2); len(shape) != 2 {
		t.Errorf("shape after an error = %v, want 2 dimensions", shape)
	}
	if w := s.Matrix("w", 2, 3); w.Data != nil || s.Values("b", 3) != nil {
		t.Errorf("matrix after an error = %v, want none", w)
	}
	failed("shape", `found shape [3], expected 2 dimensions`)
	parttest.CheckError(t, "unused", s.unused(), `found tensors that a Transformer of this program does not have: "b" F32 [3], "empty" F32 [0 2], "scale" F32 [], "w" F32 [2 3]`)

	if shape := s.Shape("w", 2); shape[0] != 2 || !s.Has("w") {
		t.Errorf("shape = %v, want [2 3]", shape)
	}
	if w := s.Matrix("w", 2, 3); w.At(1, 2) != 1 {
		t.Errorf("matrix = %v, want ones", w)
	}
	if b := s.Values("b", 3); b[2] != 1 {
		t.Errorf("values = %v, want ones", b)
	}
	if s.Err != nil {
		t.Error(s.Err)
	}
	s.Skip("scale")
	s.Skip("another")
	parttest.CheckError(t, "unused", s.unused(), `does not have: "empty" F32 [0 2]`)
	s.Skip("empty")
	if err := s.unused(); err != nil {
		t.Errorf("unused = %v, want nil", err)
	}
}

// A configuration cannot ask for much more memory than the file has.
func TestNewModelBound(t *testing.T) {
	c, err := model.Preset("base")
	if err != nil {
		t.Fatal(err)
	}
	c.SrcVocab, c.TgtVocab = 1000, 1000
	_, err = NewTensors("model.bin", 1000).newModel(c)
	parttest.CheckError(t, "newModel", err, "model.bin: found 1000 bytes for a model of")
	c.Heads = 7
	_, err = NewTensors("model.bin", 1000).newModel(c)
	parttest.CheckError(t, "newModel", err, "model.bin: d_model is 512")
	if field := new(model.FieldError); !errors.As(err, &field) {
		t.Errorf("error %v, want a *FieldError", err)
	}
}
