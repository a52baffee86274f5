package decode

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// Multiples of steps become the integers of a file, with the steps as scales. A parameter with a
// column without a step is rounded.
func TestQuantizeKeepsMultiples(t *testing.T) {
	c := toy()
	c.Tie, c.SrcVocab = model.TieNone, 9
	m := newModel(t, c)
	r := rand.New(rand.NewPCG(3, 1))
	f := model.File{Model: m, Steps: map[string][]float32{}}
	integers := map[string][]int8{}
	for _, w := range NewWeights(m, nil).matrices {
		b := w.source()
		steps, q := make([]float32, b.Cols), make([]int8, b.Rows*b.Cols)
		for j := range steps {
			steps[j] = 1 / (50 + 300*r.Float32())
			for l := range b.Rows {
				q[j*b.Rows+l] = int8(r.IntN(255) - 127)
				b.Data[l*b.RowStride+j*b.ColStride] = float32(q[j*b.Rows+l]) * steps[j]
			}
		}
		f.Steps[w.param.Name], integers[w.param.Name] = steps, q
	}
	const rounded = "decoder.1.cross.kv.weight"
	f.Steps[rounded][3] = 0
	path := filepath.Join(t.TempDir(), "m")
	q, err := Quantize(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Save(path); err != nil {
		t.Fatal(err)
	}
	file, err := Load(path, Float32, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Weights.Close()
	for _, w := range file.Weights.matrices {
		name, want := w.param.Name, mat.QuantizeInt8(nil, NewWeights(m, nil).named(w.param.Name).source())
		if name != rounded {
			in, out := w.size()
			want = mat.PackInt8(nil, integers[name], f.Steps[name], in, out)
		}
		if !slices.Equal(w.int8.Weights(), want.Weights()) || !slices.Equal(w.int8.Scales(), want.Scales()) {
			t.Errorf("%s: found other integers or scales", name)
		}
	}
}

// named returns the matrix of a parameter.
func (w *Weights) named(name string) *weightMatrix {
	return w.matrices[slices.IndexFunc(w.matrices, func(m *weightMatrix) bool { return m.param.Name == name })]
}
