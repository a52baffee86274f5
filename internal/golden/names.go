package golden

import (
	"regexp"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// names maps a substring of a parameter's name to PyTorch's; the first match counts. PyTorch's
// in_proj has three blocks of rows, for queries, keys and values: the parameter is blocks
// [from, to) of it, or the whole tensor if to is 0.
var names = []struct {
	ours, theirs string
	from, to     int
}{
	{"self.qkv.", "self_attn.in_proj_", 0, 3},
	{"self.out.", "self_attn.out_proj.", 0, 0},
	{"cross.q.", "multihead_attn.in_proj_", 0, 1},
	{"cross.kv.", "multihead_attn.in_proj_", 1, 3},
	{"cross.out.", "multihead_attn.out_proj.", 0, 0},
	{"ff.inner.", "linear1.", 0, 0},
	{"ff.outer.", "linear2.", 0, 0},
	{".gain", ".weight", 0, 0},
	{"source.embedding", "source.weight", 0, 0},
	{"target.embedding", "target.weight", 0, 0},
	{"embedding", "source.weight", 0, 0}, // tied: source, target and output
}

var layerNumber = regexp.MustCompile(`^(encoder|decoder)\.(\d+)\.`)

// theirs returns PyTorch's name of a parameter of a Transformer, and its blocks [from, to) of rows.
func theirs(name string) (theirName string, from, to int) {
	name = layerNumber.ReplaceAllString(name, "$1.layers.$2.")
	for _, n := range names {
		if strings.Contains(name, n.ours) {
			return strings.Replace(name, n.ours, n.theirs, 1), n.from, n.to
		}
	}
	return name, 0, 0
}

// isTable reports whether a parameter is a matrix [V, d], which PyTorch does not transpose. All
// others map rows: ours are [in, out] for x·W, PyTorch's [out, in] for x·Wᵀ.
func isTable(name string) bool {
	return strings.HasSuffix(name, "embedding") || name == "output.weight"
}

// parameter returns PyTorch's tensor for p in one of the sets param/, grad/, 0/, 1/, … It has no
// data for the bias of a norm in a case without biases: such a bias is 0 in tfm and does not exist
// in PyTorch.
func (c *Case) parameter(set string, p *layer.Param) mat.Matrix {
	c.t.Helper()
	name, from, to := theirs(p.Name)
	// The names in the case of a single layer or stack lack the prefix that all would share.
	candidate := "transformer." + name
	for candidate != "" && c.tensors[set+candidate].Name == "" {
		_, candidate, _ = strings.Cut(candidate, ".")
	}
	if candidate == "" && !c.Bias && strings.Contains(p.Name, "norm") && strings.HasSuffix(p.Name, ".bias") {
		return mat.Matrix{}
	}
	if candidate == "" {
		c.t.Fatalf("%s: no tensor %s%s, which is %s", c.Name, set, name, p.Name)
	}
	m := c.Matrix(set + candidate)
	if len(p.Shape) == 1 { // a row here, [out] in PyTorch
		if to > 0 {
			m = m.ColRange(m.Cols/3*from, m.Cols/3*to)
		}
		return m
	}
	if to > 0 {
		m = m.RowRange(m.Rows/3*from, m.Rows/3*to)
	}
	if isTable(p.Name) {
		return m
	}
	t := mat.New(m.Cols, m.Rows)
	mat.Transpose(nil, t, m)
	return t
}

// view returns the values of a parameter as a matrix: of its shape, or of one row for a vector.
func view(p *layer.Param, values []float32) mat.Matrix {
	if len(p.Shape) == 1 {
		return mat.Of(values, 1, p.Shape[0])
	}
	return mat.Of(values, p.Shape[0], p.Shape[1])
}

// Fill sets all weights of ps to PyTorch's in a set, param/ or 0/. It fails the test if the set has
// other parameters.
func (c *Case) Fill(set string, ps *layer.Params) {
	c.t.Helper()
	theirs := 0
	for name := range c.tensors {
		if strings.HasPrefix(name, set) {
			m := c.Matrix(name)
			theirs += m.Rows * m.Cols
		}
	}
	ours := 0
	for _, p := range ps.List {
		m, w := c.parameter(set, p), view(p, p.W)
		if m.Data == nil {
			clear(p.W)
			continue
		}
		if m.Rows != w.Rows || m.Cols != w.Cols {
			c.t.Fatalf("%s: %s: found %d × %d, expected %v", c.Name, p.Name, m.Rows, m.Cols, p.Shape)
		}
		for i := range m.Rows {
			copy(w.Row(i), m.Row(i))
		}
		ours += p.Size()
	}
	if theirs != ours {
		c.t.Fatalf("%s: found %d weights in %s, expected %d", c.Name, theirs, set, ours)
	}
}

// CheckGrads compares the gradients of ps with PyTorch's.
func (c *Case) CheckGrads(ps *layer.Params) {
	c.t.Helper()
	c.Weights("grad/", ps, func(p *layer.Param, _, want mat.Matrix) {
		CheckClose(c.t, "gradient of "+p.Name, view(p, p.G), want, bound(c.t, c.float32.Grad, 1e-4))
	})
}

// Weights calls f for each parameter of ps, with its weights and PyTorch's in a set; set 3/ has
// those after step 3.
func (c *Case) Weights(set string, ps *layer.Params, f func(p *layer.Param, got, want mat.Matrix)) {
	c.t.Helper()
	for _, p := range ps.List {
		if want := c.parameter(set, p); want.Data != nil {
			f(p, view(p, p.W), want)
		}
	}
}
