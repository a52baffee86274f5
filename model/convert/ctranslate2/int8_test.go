package ctranslate2

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
)

// The matrices of an int8 model, read as float32, are quantized to the same integers again, row by
// row, so that tfm's int8 is CTranslate2's.
func TestCTranslate2Int8IsKept(t *testing.T) {
	for _, dir := range []string{"v3-int8", "v6-int8"} {
		checkInt8(t, "../testdata/ctranslate2-"+dir)
	}
}

func checkInt8(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ModelFile))
	if err != nil {
		t.Fatal(err)
	}
	b, err := parseModelFile(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.tensors(dir, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	pool := mat.NewPool(1)
	defer pool.Close()
	compared, rows := 0, 0
	for name, v := range b.vars {
		if v.dtype != "int8" || !strings.HasSuffix(name, "/weight") {
			continue
		}
		out, in := v.shape[0], v.shape[1]
		w := s.Matrix(name, out, in)
		if s.Err != nil {
			t.Fatal(s.Err)
		}
		got := mat.QuantizeInt8(pool, w.T()).Weights() // [out × in]
		for i := range out {
			row, largest := make([]int8, in), 0
			for j := range row {
				row[j] = int8(v.data[i*in+j])
				largest = max(largest, int(row[j]), -int(row[j]))
			}
			rows++
			if largest != 127 {
				continue // before version 5, CTranslate2 truncated the largest one to 126
			}
			if compared++; !slices.Equal(got[i*in:][:in], row) {
				t.Errorf("%s: %s: row %d = %v, want %v", dir, name, i, got[i*in:][:in], row)
			}
		}
	}
	t.Logf("%s: %d of %d rows", dir, compared, rows)
	if compared < rows/2 {
		t.Errorf("%s: compared %d of %d rows, want at least half", dir, compared, rows)
	}
}
