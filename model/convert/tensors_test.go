package convert

import (
	"errors"
	"strings"
	"testing"

	"tfm/model"
)

// ones adds tensors of the given shapes whose elements are 1.
func ones(t *testing.T, s *tensors, shapes map[string][]int) {
	t.Helper()
	for name, shape := range shapes {
		err := s.add(name, "F32", shape, func(dst []float32) error {
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

func checkError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", what, err, want)
	}
}

func TestTensors(t *testing.T) {
	s := newTensors("dir/model.bin", 100)
	ones(t, s, map[string][]int{"w": {2, 3}, "b": {3}, "scale": {}, "empty": {0, 2}})
	failed := func(what, want string) {
		t.Helper()
		checkError(t, what, s.err, want)
		s.err = nil
	}
	s.add("b", "F32", []int{3}, nil)
	failed("duplicate", `dir/model.bin: tensor "b": found twice`)
	s.add("x", "F32", []int{801}, nil)
	failed("large", "expected at most as many elements as the 100 bytes")
	s.add("x", "F32", []int{1 << 40, 1 << 40}, nil)
	failed("overflow", "found shape [1099511627776 1099511627776]")
	s.add("x", "F32", []int{-1}, nil)
	failed("negative", "found shape [-1]")

	s.values("w", 3, 2)
	failed("values", `tensor "w": found shape [2 3], expected [3 2]`)
	s.values("v", 3)
	failed("values", `tensor "v": missing, expected shape [3]`)
	s.shape("empty", 2)
	failed("shape", `found shape [0 2], expected 2 dimensions of at least 1`)
	if shape := s.shape("b", 2); len(shape) != 2 {
		t.Errorf("shape after an error = %v, want 2 dimensions", shape)
	}
	if w := s.matrix("w", 2, 3); w.Data != nil || s.values("b", 3) != nil {
		t.Errorf("matrix after an error = %v, want none", w)
	}
	failed("shape", `found shape [3], expected 2 dimensions`)
	checkError(t, "unused", s.unused(), `found tensors that a Transformer of this program does not have: "b" F32 [3], "empty" F32 [0 2], "scale" F32 [], "w" F32 [2 3]`)

	if shape := s.shape("w", 2); shape[0] != 2 || !s.has("w") {
		t.Errorf("shape = %v, want [2 3]", shape)
	}
	if w := s.matrix("w", 2, 3); w.At(1, 2) != 1 {
		t.Errorf("matrix = %v, want ones", w)
	}
	if b := s.values("b", 3); b[2] != 1 {
		t.Errorf("values = %v, want ones", b)
	}
	if s.err != nil {
		t.Error(s.err)
	}
	s.skip("scale")
	s.skip("another")
	checkError(t, "unused", s.unused(), `does not have: "empty" F32 [0 2]`)
	s.skip("empty")
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
	_, err = newTensors("model.bin", 1000).newModel(c)
	checkError(t, "newModel", err, "model.bin: found 1000 bytes for a model of")
	c.Heads = 7
	_, err = newTensors("model.bin", 1000).newModel(c)
	checkError(t, "newModel", err, "model.bin: d_model is 512")
	if field := new(model.FieldError); !errors.As(err, &field) {
		t.Errorf("error %v, want a *FieldError", err)
	}
}
