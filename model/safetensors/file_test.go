package safetensors

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are the two ways to open a file.
var readers = map[string]func(path string) (*File, error){"Open": Open, "Map": Map}

// The tensors of both readers have the elements, whole, in parts of any size and order, and after
// Verify, which reads the rest.
func TestReaders(t *testing.T) {
	raw := make([]byte, 3*readChunk+6)
	for i := range raw {
		raw[i] = byte(i * i >> 3)
	}
	var tensors []Tensor
	for _, dtype := range []string{"F32", "F16", "BF16", "F64", "U8", "I32"} {
		size := int(dtypeBits[dtype] / 8)
		n := len(raw) / size
		tensors = append(tensors, Tensor{Name: dtype, DType: dtype, Shape: []int{n, 1}, Data: raw[:n*size]})
	}
	path := write(t, encoded(t, sampleMeta, tensors))
	for name, open := range readers {
		for order := range 3 {
			f, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if order == 1 {
				if err := f.Verify(); err != nil {
					t.Error(err)
				}
			}
			list := f.Tensors()
			if order == 2 {
				slices.Reverse(list)
			}
			for _, got := range list {
				want := tensors[slices.IndexFunc(tensors, func(x Tensor) bool { return x.Name == got.Name })]
				if data, err := got.Bytes(); err != nil || !bytes.Equal(data, want.Data) || (got.Data != nil) != (name == "Map") {
					t.Fatalf("%s of %s: other bytes (%v)", name, got.Name, err)
				}
				n := want.Shape[0]
				x, y := make([]float32, n), make([]float32, n)
				err := errors.Join(got.Part(0, 7).Float32s(x[:7]), got.Part(7, n-7).Float32s(x[7:]))
				if wantErr := want.Float32s(y); wantErr != nil {
					if err == nil || !strings.Contains(err.Error(), wantErr.Error()) {
						t.Errorf("%s of %s: error %v, want %v", name, got.Name, err, wantErr)
					}
				} else if err != nil || !bytes.Equal(bytesOf(x), bytesOf(y)) {
					t.Errorf("%s of %s: other elements (%v)", name, got.Name, err)
				}
			}
			if err := f.Verify(); err != nil {
				t.Errorf("%s, order %d: %v", name, order, err)
			}
		}
	}
}

func TestPartPanics(t *testing.T) {
	x := Float32Tensor("x", []int{2, 3}, make([]float32, 6))
	for _, part := range [][2]int{{-1, 2}, {0, 7}, {6, 1}, {2, -1}} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.HasPrefix(s, "safetensors: elements [") {
					t.Errorf("Part(%d, %d) panics with %q", part[0], part[1], s)
				}
			}()
			x.Part(part[0], part[1])
		}()
	}
}

func TestTruncatedWhileRead(t *testing.T) {
	original := encoded(t, nil, []Tensor{Float32Tensor("w", []int{2, 1}, []float32{1, 2}), {Name: "t", DType: "U8", Shape: []int{3}, Data: []byte("abc")}})
	path := write(t, original)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, int64(len(original)-2)); err != nil {
		t.Fatal(err)
	}
	const want = "the file ends before its size"
	x, _ := f.Tensor("t")
	if _, err := x.Bytes(); err == nil || !strings.Contains(err.Error(), `tensor "t": `+want) {
		t.Errorf("truncated while open: error %v", err)
	}
	if err := f.Verify(); err == nil || !strings.Contains(err.Error(), path+": "+want) {
		t.Errorf("truncated while open: error %v", err)
	}
}

func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := Write(path, nil, sample()); err != nil {
		t.Fatal(err)
	}
	for name, open := range readers {
		f, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Close(), f.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.Verify(); err == nil || !strings.Contains(err.Error(), "file is closed") {
			t.Errorf("%s: error %v of a closed file", name, err)
		}
	}
}

func TestViews(t *testing.T) {
	b := Int8Tensor("b", []int{2, 1}, []int8{-1, 5})
	if got := b.View8(); !slices.Equal(got, []int8{-1, 5}) || b.DType != "I8" || !slices.Equal(b.Shape, []int{2, 1}) {
		t.Errorf("view of I8: %v of %+v", got, b)
	}
	if Float32Tensor("x", []int{3}, []float32{1, 2, 3}).View8() != nil {
		t.Error("view of another dtype is not nil")
	}
}
