// Package golden reads what PyTorch computed for the parts of the Transformer, and holds results
// against it. It imports mat, layer and model/safetensors, and nothing but tests imports it.
//
// The files are in testdata/, beside the script that writes them, whose head says what is in them:
// values that PyTorch computed in float64, rounded once to float32. names.go is the one place that
// knows which of our parameters is which of PyTorch's.
package golden

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model/safetensors"
)

// Settings are what the script says about a case. What a kind of case has no use for is zero.
type Settings struct {
	D, Heads, FF    int
	EncoderLayers   int `json:"encoder_layers"`
	DecoderLayers   int `json:"decoder_layers"`
	Causal, Bias    bool
	Activation      string // relu, gelu, gelu_tanh or silu
	Mask            string // plain, padding, look_ahead or both
	Unbiased        bool   // a norm of (x-mean)/(unbiased deviation + eps)
	NormFirst       bool   `json:"norm_first"`
	FinalNorm       bool   `json:"final_norm"`
	Eps             float64
	Vocab, Steps    int
	Tied            bool
	Smoothing       float64
	SmoothOver      string `json:"smooth_over"` // none, others (the V-1 that are not the target) or all
	Warmup          int
	Factor          float64
	Limit, Rate     float64
	Beta1, Beta2    float64
	Momentum, Decay float64
	Nesterov        bool
}

// Case is an open file.
type Case struct {
	Settings
	Name string

	t       testing.TB
	tensors map[string]safetensors.Tensor
	float32 struct{ Output, Grad float64 }
}

// Folder is where the goldens are, from a package that stands in the root of the module.
const Folder = "../testdata"

// Each runs f as a subtest for every file of a kind, which is what stands in its name before the first dot. There must
// be one.
func Each(t *testing.T, kind string, f func(t *testing.T, c *Case)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(Folder, kind+".*.safetensors"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files of %s in %s, error %v", len(paths), kind, Folder, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".safetensors")
		t.Run(name, func(t *testing.T) { f(t, open(t, path, name)) })
	}
}

// Open opens the file of a case by its name, such as positions.paper.
func Open(t testing.TB, name string) *Case {
	t.Helper()
	return open(t, filepath.Join(Folder, name+".safetensors"), name)
}

func open(t testing.TB, path, name string) *Case {
	t.Helper()
	file, err := safetensors.Open(path)
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
	for _, tensor := range file.Tensors() {
		c.tensors[tensor.Name] = tensor
	}
	return c
}

// tensor returns the tensor of that name, which there must be.
func (c *Case) tensor(name string) safetensors.Tensor {
	c.t.Helper()
	tensor, ok := c.tensors[name]
	if !ok {
		c.t.Fatalf("%s: no tensor %q", c.Name, name)
	}
	return tensor
}

// Matrix returns a tensor with its last size as columns and all others as rows.
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

// Starts says where each sentence begins once there is no padding, from the lengths of that name, and at the end how
// many tokens there are.
func (c *Case) Starts(lengths string) []int32 {
	c.t.Helper()
	starts := []int32{0}
	for _, n := range c.Int32s("lengths/" + lengths) {
		starts = append(starts, starts[len(starts)-1]+n)
	}
	return starts
}

// Ragged returns the rows of a padded [batch, tokens, d] that are no padding, by the lengths of that name.
func (c *Case) Ragged(name, lengths string) mat.Matrix {
	c.t.Helper()
	padded, real := c.Matrix(name), c.Int32s("lengths/"+lengths)
	tokens := padded.Rows / len(real)
	starts := c.Starts(lengths)
	m := mat.New(int(starts[len(real)]), padded.Cols)
	for s, n := range real {
		for i := range int(n) {
			copy(m.Row(int(starts[s])+i), padded.Row(s*tokens+i))
		}
	}
	return m
}

// Int32s returns the numbers of an I32 tensor.
func (c *Case) Int32s(name string) []int32 {
	c.t.Helper()
	tensor := c.tensor(name)
	if tensor.DType != "I32" {
		c.t.Fatalf("%s: %s is %s, expected I32", c.Name, name, tensor.DType)
	}
	ids := make([]int32, len(tensor.Data)/4)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint32(tensor.Data[4*i:]))
	}
	return ids
}

// Float64s returns the numbers of an F64 tensor.
func (c *Case) Float64s(name string) []float64 {
	c.t.Helper()
	tensor := c.tensor(name)
	if tensor.DType != "F64" {
		c.t.Fatalf("%s: %s is %s, expected F64", c.Name, name, tensor.DType)
	}
	x := make([]float64, len(tensor.Data)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(tensor.Data[8*i:]))
	}
	return x
}

// CheckClose fails the test unless got is what PyTorch computed, to within bound times the largest number of it.
func CheckClose(t testing.TB, name string, got, want mat.Matrix, bound float64) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Errorf("%s: %d × %d, want %d × %d", name, got.Rows, got.Cols, want.Rows, want.Cols)
		return
	}
	var largest, worst float64
	var row, col int
	for i := range want.Rows {
		for j := range want.Cols {
			largest = max(largest, math.Abs(float64(want.At(i, j))))
			// A NaN is the worst there is, and stays.
			if off := math.Abs(float64(got.At(i, j)) - float64(want.At(i, j))); !(off <= worst) && worst == worst {
				worst, row, col = off, i, j
			}
		}
	}
	if !(worst <= bound*largest) || largest == 0 {
		t.Errorf("%s: off by %.3g at (%d, %d) where the largest is %.3g: %.3g, allowed %.3g", name, worst, row, col, largest, worst/largest, bound)
	}
}

// roundings of 2^-24 that a result may be off by beyond what PyTorch is off by in float32.
const roundings = 4

// bound is how far a result may be from the golden, as a fraction of the largest number: four times as far as
// PyTorch itself is when it computes in float32, since sums in another order err by another amount of the same
// size, and a few roundings where PyTorch happened to be exact. Issue and DESIGN allow 1e-5 for outputs and 1e-4
// for derivatives.
func bound(t testing.TB, float32Error, allowed float64) float64 {
	t.Helper()
	b := 4*float32Error + roundings*0x1p-24
	if b > allowed {
		t.Errorf("a bound of %.3g: more than %.3g, PyTorch's float32 is off by %.3g", b, allowed, float32Error)
	}
	return b
}

// CheckOutput holds a result against the tensor output/name. Padding is left out if there are lengths of that name.
func (c *Case) CheckOutput(name string, got mat.Matrix) {
	c.t.Helper()
	CheckClose(c.t, "output "+name, got, c.real("output/", name), bound(c.t, c.float32.Output, 1e-5))
}

// CheckGrad holds the derivative with respect to the input of that name against grad/name.
func (c *Case) CheckGrad(name string, got mat.Matrix) {
	c.t.Helper()
	CheckClose(c.t, "derivative of "+name, got, c.real("grad/", name), bound(c.t, c.float32.Grad, 1e-4))
}

// Input returns the input of that name without padding.
func (c *Case) Input(name string) mat.Matrix { return c.real("input/", name) }

// Upstream returns the derivative with respect to the output y, without padding.
func (c *Case) Upstream() mat.Matrix { return c.real("upstream/", "y") }

func (c *Case) real(what, name string) mat.Matrix {
	c.t.Helper()
	if _, padded := c.tensors["lengths/"+name]; padded {
		return c.Ragged(what+name, name)
	}
	return c.Matrix(what + name)
}
