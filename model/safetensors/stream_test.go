package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// streamAndVerify returns the first error of OpenStream or Verify.
func streamAndVerify(path string) error {
	s, err := OpenStream(path)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Verify()
}

// A Stream has the header and the bytes of a File, whether tensors are read whole, in parts or not
// at all.
func TestStreamEqualsFile(t *testing.T) {
	large := make([]float32, 3*streamChunk/4+5)
	for i := range large {
		large[i] = float32(i)
	}
	tensors := append(sample(), Float32Tensor("large", []int{len(large)}, large))
	path := write(t, encoded(t, sampleMeta, tensors))
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for part := range 3 {
		s, err := OpenStream(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := s.Metadata(); got["checksum"] != f.Metadata()["checksum"] || len(got) != len(f.Metadata()) {
			t.Errorf("metadata %q, want %q", got, f.Metadata())
		}
		for i, want := range f.Tensors() {
			listed, found := s.Tensor(want.Name)
			got, err := s.Next()
			if err != nil || got.Name != want.Name || got.DType != want.DType || !slices.Equal(got.Shape, want.Shape) || got.Data != nil ||
				!found || listed.Name != want.Name || s.Tensors()[i].Name != want.Name {
				t.Fatalf("tensor %d is %+v (%v), want %q %s %v without data", i, got, err, want.Name, want.DType, want.Shape)
			}
			if (i+part)%3 == 0 {
				continue // skipped
			}
			data := make([]byte, len(want.Data))
			half := len(data) / 2
			if err := errors.Join(s.Bytes(data[:half]), s.Bytes(data[half:])); err != nil || !bytes.Equal(data, want.Data) {
				t.Fatalf("tensor %q: data differ (%v)", want.Name, err)
			}
			if err := s.Bytes(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s: tensor %q", path, want.Name)) {
				t.Errorf("byte after tensor %q: error %v, want one that names file and tensor", want.Name, err)
			}
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after the last tensor: error %v, want EOF", err)
		}
		if err := s.Verify(); err != nil {
			t.Error(err)
		}
	}
	if _, found := (&Stream{}).Tensor("absent"); found {
		t.Error("found a tensor that does not exist")
	}
}

// Elements are converted as by Tensor.Float32s, in parts of any size.
func TestStreamFloat32s(t *testing.T) {
	bits := make([]byte, 1<<17+6)
	for i := range bits {
		bits[i] = byte(i * i >> 3)
	}
	var tensors []Tensor
	for _, dtype := range []string{"F32", "F16", "BF16", "U8"} {
		size := int(dtypeBits[dtype] / 8)
		n := len(bits) / size
		tensors = append(tensors, Tensor{Name: dtype, DType: dtype, Shape: []int{n}, Data: bits[:n*size]})
	}
	s, err := OpenStream(write(t, encoded(t, nil, tensors)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tensor := range tensors {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, tensor.Shape[0])
		err := errors.Join(s.Float32s(got[:7]), s.Float32s(got[7:]))
		if tensor.DType == "U8" {
			if err == nil || !strings.Contains(err.Error(), `tensor "U8": found dtype "U8", expected F32`) {
				t.Errorf("U8: error %v", err)
			}
			continue
		}
		want := make([]float32, len(got))
		if e := tensor.Float32s(want); e != nil || err != nil || !bytes.Equal(bytesOf(got), bytesOf(want)) {
			t.Errorf("%s: elements differ (%v, %v)", tensor.DType, err, e)
		}
	}
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
}

func TestStreamErrors(t *testing.T) {
	content := encoded(t, nil, []Tensor{{"t", "U8", []int{3}, []byte("abc")}})
	path := write(t, content)
	s, err := OpenStream(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(path, int64(len(content)-2)); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(); err == nil || !strings.Contains(err.Error(), `tensor "t": the file ends before its size`) {
		t.Errorf("truncated while open: error %v", err)
	}
	if _, err := OpenStream(t.TempDir()); err == nil || !strings.Contains(err.Error(), "found a directory") {
		t.Errorf("directory: error %v", err)
	}
	if _, err := OpenStream(path + "-absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: error %v", err)
	}
}

func TestViews(t *testing.T) {
	x, b := Float32Tensor("x", []int{3}, []float32{1, 2, 3}), Int8Tensor("b", []int{2, 1}, []int8{-1, 5})
	if got := x.View32(); littleEndian && !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("view of F32: %v", got)
	}
	if got := b.View8(); !slices.Equal(got, []int8{-1, 5}) || b.DType != "I8" || !slices.Equal(b.Shape, []int{2, 1}) {
		t.Errorf("view of I8: %v of %+v", got, b)
	}
	if x.View8() != nil || b.View32() != nil {
		t.Error("views of other dtypes are not nil")
	}
	if x.Data = x.Data[1:9]; x.View32() != nil {
		t.Error("view of unaligned data is not nil")
	}
}
