package torchfile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/model/safetensors"
)

// Files that PyTorch wrote have the tensors that it wrote as safetensors.
func TestGoldens(t *testing.T) {
	for _, object := range []string{"whole", "small"} {
		want, err := safetensors.Map(filepath.Join("testdata", object+".safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		paths, err := filepath.Glob(filepath.Join("testdata", object+"-*.pt"))
		if err != nil || len(paths) < 2 {
			t.Fatalf("found %q (%v), want both layouts", paths, err)
		}
		for _, path := range paths {
			checkGolden(t, path, want)
		}
	}
}

func checkGolden(t *testing.T, path string, want *safetensors.File) {
	if !Detect(path) {
		t.Errorf("%s: not detected", path)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
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
		if (errGot == nil) != (errWanted == nil) || !slices.Equal(got, wanted) {
			t.Errorf("%s: tensor %q: found %v (%v), want %v (%v)", path, x.Name, got, errGot, wanted, errWanted)
		}
	}
}

// A tensor of several windows of a reader, in several orders of its elements.
func TestLargeViews(t *testing.T) {
	const rows, cols = 700, 300
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = float32(i)
	}
	bytes := safetensors.Float32Tensor("", []int{rows, cols}, data).Data
	s := &storage{readerAt(bytes), elementType{"F32", 4}, rows * cols, 0}
	for _, c := range []struct{ offset, rows, cols, row, col int }{
		{0, rows, cols, cols, 1}, {0, cols, rows, 1, cols}, {7, rows, cols / 3, cols, 2}, {5, 3, rows, 2, cols}, {rows - 1, 1, rows * cols / 1000, 1, 1000}, {0, 2, 2, cols, (rows-1)*cols - 1},
	} {
		v, err := newView(s, s.elem, int64(c.offset), []int{c.rows, c.cols}, []int{c.row, c.col})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		x := &Tensor{"w", "F32", v.shape, v}
		got := make([]float32, c.rows*c.cols)
		if err := x.Float32s(got); err != nil {
			t.Fatal(err)
		}
		for i := range c.rows {
			for k := range c.cols {
				if want := data[c.offset+i*c.row+k*c.col]; got[i*c.cols+k] != want {
					t.Fatalf("%+v: element %d %d is %v, want %v", c, i, k, got[i*c.cols+k], want)
				}
			}
		}
	}
}
