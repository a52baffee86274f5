package safetensors

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInt32Tensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	want := []int32{0, 1, -1, math.MaxInt32, math.MinInt32}
	if err := Write(path, nil, []Tensor{Int32Tensor("a", want), Int32Tensor("empty", nil), Float32Tensor("f", []int{1}, []float32{1})}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string][]int32{"a": want, "empty": {}} {
		x, _ := f.Tensor(name)
		if got, err := x.Int32s(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s = %v, %v, want %v", name, got, err, want)
		}
	}
	x, _ := f.Tensor("f")
	if _, err := x.Int32s(); err == nil || !strings.Contains(err.Error(), `tensor "f": found dtype "F32", expected I32`) {
		t.Errorf("error %v of an F32 tensor", err)
	}
}
