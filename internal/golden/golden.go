// Package golden compares results with goldens: values that PyTorch computed for the layers of the
// Transformer in float64, rounded once to float32. It imports mat, layer,
// model/safetensors and internal/ref; only tests import it.
//
// The files are in testdata/. The script there that writes them, gen_golden.py, documents their
// contents. names.go maps the names of parameters to PyTorch's.
package golden

import (
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"tfm/internal/ref"
	"tfm/mat"
	"tfm/model/safetensors"
)

// Settings describe a case. Fields that do not apply to its kind are zero.
type Settings struct {
	D, Heads, FF    int
	EncoderLayers   int `json:"encoder_layers"`
	DecoderLayers   int `json:"decoder_layers"`
	Causal, Bias    bool
	Activation      string // the name of one of mat.Activations
	Mask            string // plain, padding, look_ahead or both
	Unbiased        bool   // a norm of (x-mean)/(unbiased deviation + eps)
	NormFirst       bool   `json:"norm_first"`
	FinalNorm       bool   `json:"final_norm"`
	Eps             float64
	Vocab, Steps    int
	Tied            bool
	Smoothing       float64
	SmoothOver      string `json:"smooth_over"` // none, others (all V but the target) or all
	Warmup          int
	Factor          float64
	Limit, Rate     float64
	Beta1, Beta2    float64
	Momentum, Decay float64
}

// Case is one golden file.
type Case struct {
	Settings
	Name string

	t       testing.TB
	tensors map[string]safetensors.Tensor
	float32 struct{ Output, Grad float64 } // relative errors of PyTorch in float32
}

// Folder is the path of the goldens from a package folder in the root of the module.
const Folder = "../testdata"

// Each runs f as a subtest for every case of a kind, the part of its name before the first dot. It
// fails without a case.
func Each(t *testing.T, kind string, f func(t *testing.T, c *Case)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(Folder, kind+".*.safetensors"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found %d files %s.* in %s (error %v), expected one or more", len(paths), kind, Folder, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".safetensors")
		t.Run(name, func(t *testing.T) { f(t, Open(t, name)) })
	}
}

// Open opens the case of the given name, such as positions.paper.
func Open(t testing.TB, name string) *Case {
	t.Helper()
	path := filepath.Join(Folder, name+".safetensors")
	file, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	c := &Case{Name: name, t: t, tensors: map[string]safetensors.Tensor{}}
	description := struct {
		Settings *Settings
		Float32  *struct{ Output, Grad float64 }
	}{&c.Settings, &c.float32}
	if err := json.Unmarshal([]byte(file.Metadata()["golden"]), &description); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	c.Activation = strings.ReplaceAll(c.Activation, "_", "-")
	for _, tensor := range file.Tensors() {
		c.tensors[tensor.Name] = tensor
	}
	return c
}

// tensor returns the tensor of the given name. It fails the test without one.
func (c *Case) tensor(name string) safetensors.Tensor {
	c.t.Helper()
	tensor, ok := c.tensors[name]
	if !ok {
		c.t.Fatalf("%s: no tensor %q", c.Name, name)
	}
	return tensor
}

// Matrix returns a tensor as a matrix: the last dimension as columns, the others as rows.
func (c *Case) Matrix(name string) mat.Matrix {
	c.t.Helper()
	tensor := c.tensor(name)
	cols := 1
	if n := len(tensor.Shape); n > 0 {
		cols = tensor.Shape[n-1]
	}
	rows := 1
	for _, size := range tensor.Shape[:max(0, len(tensor.Shape)-1)] {
		rows *= size
	}
	m := mat.New(rows, cols)
	if err := tensor.Float32s(m.Data); err != nil {
		c.t.Fatalf("%s: %v", c.Name, err)
	}
	return m
}

// Starts returns the starts of sentences in a ragged batch, followed by the number of tokens, for
// the lengths of the given name.
func (c *Case) Starts(lengths string) []int32 {
	c.t.Helper()
	starts := []int32{0}
	for _, n := range c.Int32s("lengths/" + lengths) {
		starts = append(starts, starts[len(starts)-1]+n)
	}
	return starts
}

// Ragged returns the rows of a padded [batch, tokens, d] without padding, by the lengths of the
// given name.
func (c *Case) Ragged(name, lengths string) mat.Matrix {
	c.t.Helper()
	padded, sizes := c.Matrix(name), c.Int32s("lengths/"+lengths)
	tokens := padded.Rows / len(sizes)
	starts := c.Starts(lengths)
	m := mat.New(int(starts[len(sizes)]), padded.Cols)
	for s, n := range sizes {
		for i := range int(n) {
			copy(m.Row(int(starts[s])+i), padded.Row(s*tokens+i))
		}
	}
	return m
}

// Int32s returns the elements of an I32 tensor.
func (c *Case) Int32s(name string) []int32 {
	c.t.Helper()
	ids, err := c.tensor(name).Int32s()
	if err != nil {
		c.t.Fatalf("%s: %v", c.Name, err)
	}
	return ids
}

// Float64s returns the elements of an F64 tensor.
func (c *Case) Float64s(name string) []float64 {
	c.t.Helper()
	tensor := c.tensor(name)
	if tensor.DType != "F64" {
		c.t.Fatalf("%s: %s: found %s, expected F64", c.Name, name, tensor.DType)
	}
	x := make([]float64, len(tensor.Data)/8)
	if _, err := binary.Decode(tensor.Data, binary.LittleEndian, x); err != nil {
		c.t.Fatalf("%s: %s: %v", c.Name, name, err)
	}
	return x
}

// CheckClose fails the test unless got and want agree to within bound times the largest |want|,
// which must not be 0.
func CheckClose(t testing.TB, name string, got, want mat.Matrix, bound float64) {
	t.Helper()
	ref.CheckClose(t, name, got, ref.FromFloat32(want), bound)
}

// roundings is the error that bound allows in addition to PyTorch's, in units of 2^-24.
const roundings = 4

// bound returns the relative error that a result may have: four times the error of PyTorch in
// float32, because sums in another order have other errors of the same size, and a few roundings,
// because PyTorch's error may be 0 by chance. It fails the test if that exceeds limit.
func bound(t testing.TB, float32Error, limit float64) float64 {
	t.Helper()
	b := 4*float32Error + roundings*0x1p-24
	if b > limit {
		t.Errorf("bound = %.3g, want at most %.3g; PyTorch's error in float32 is %.3g", b, limit, float32Error)
	}
	return b
}

// CheckOutput compares a result with the tensor output/name, without padding.
func (c *Case) CheckOutput(name string, got mat.Matrix) {
	c.t.Helper()
	CheckClose(c.t, "output "+name, got, c.real("output/", name), bound(c.t, c.float32.Output, 1e-5))
}

// CheckGrad compares the gradient of an input with the tensor grad/name, without padding.
func (c *Case) CheckGrad(name string, got mat.Matrix) {
	c.t.Helper()
	CheckClose(c.t, "gradient of "+name, got, c.real("grad/", name), bound(c.t, c.float32.Grad, 1e-4))
}

// Input returns the tensor input/name without padding.
func (c *Case) Input(name string) mat.Matrix { return c.real("input/", name) }

// Upstream returns the gradient of the output y, without padding.
func (c *Case) Upstream() mat.Matrix { return c.real("upstream/", "y") }

// real returns the tensor prefix+name, without padding if there are lengths of the name.
func (c *Case) real(prefix, name string) mat.Matrix {
	c.t.Helper()
	if _, padded := c.tensors["lengths/"+name]; padded {
		return c.Ragged(prefix+name, name)
	}
	return c.Matrix(prefix + name)
}
