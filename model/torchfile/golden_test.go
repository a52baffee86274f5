package torchfile

import (
	"slices"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

// Files that PyTorch wrote, in both layouts, have the tensors that it wrote as safetensors.
func TestGoldens(t *testing.T) {
	want, err := safetensors.Map("testdata/whole.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	checkGolden(t, "testdata/whole-zip.pt", want)
	checkGolden(t, "testdata/whole-legacy.pt", want)
}

func checkGolden(t *testing.T, path string, want *safetensors.File) {
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	others := 0  // of elements in another order
	inDicts := 0 // those of lists are not read
	for _, x := range want.Tensors() {
		if !strings.HasPrefix(x.Name, "list.") && !strings.HasPrefix(x.Name, "optimizer.") {
			inDicts++
		}
	}
	if len(f.Tensors()) != inDicts {
		t.Errorf("%s: found %d tensors, want %d", path, len(f.Tensors()), inDicts)
	}
	for _, x := range f.Tensors() {
		y, ok := want.Tensor(x.Name)
		if !ok || x.DType != y.DType || !slices.Equal(x.Shape, y.Shape) {
			t.Errorf("%s: found %q %s %v, want %s %v", path, x.Name, x.DType, x.Shape, y.DType, y.Shape)
			continue
		}
		n := 1
		for _, dim := range x.Shape {
			n *= dim
		}
		got, wanted := make([]float32, n), make([]float32, n)
		errGot, errWanted := x.Float32s(got), y.Float32s(wanted)
		if _, ok := x.view.count(); !ok {
			checkError(t, x.Name, errGot, "expected rows without gaps")
			others++
			continue
		}
		if (errGot == nil) != (errWanted == nil) || !slices.Equal(got, wanted) {
			t.Errorf("%s: tensor %q: found %v (%v), want %v (%v)", path, x.Name, got, errGot, wanted, errWanted)
		}
	}
	if others != 8 {
		t.Errorf("%s: %d tensors with elements in another order, want 8", path, others)
	}
}

// A tensor of several windows of a reader.
func TestLargeTensor(t *testing.T) {
	data := make([]float32, 210_000)
	for i := range data {
		data[i] = float32(i)
	}
	s := &storage{readerAt(safetensors.Float32Tensor("", []int{len(data)}, data).Data), elementType{"F32", 4}, int64(len(data)), 0}
	v, err := newView(s, s.elem, 7, []int{700, 1, 299}, []int{299, 5, 1})
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 700*299)
	if err := (&Tensor{"w", "F32", v.shape, v}).Float32s(got); err != nil || !slices.Equal(got, data[7:][:len(got)]) {
		t.Errorf("other elements, error %v", err)
	}
}
