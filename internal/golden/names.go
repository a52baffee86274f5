package golden

import (
	"regexp"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// names says how ours become PyTorch's: the first that fits. Queries, keys and values are three blocks of rows of
// one in_proj there; from and to say which of the three ours holds, nothing if it is another parameter.
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
	{"embedding", "source.weight", 0, 0}, // all three in one
}

var layerNumber = regexp.MustCompile(`^(encoder|decoder)\.(\d+)\.`)

// theirs gives PyTorch's name of a parameter in a whole model, and which thirds of its rows ours holds.
func theirs(name string) (string, int, int) {
	name = layerNumber.ReplaceAllString(name, "$1.layers.$2.")
	for _, n := range names {
		if strings.Contains(name, n.ours) {
			return strings.Replace(name, n.ours, n.theirs, 1), n.from, n.to
		}
	}
	return name, 0, 0
}

// isTable tells the matrices [V, d] that are the same way round in both. All others map rows, ours by x·W with
// [in, out] and PyTorch's by x·Wᵀ with [out, in].
func isTable(name string) bool {
	return strings.HasSuffix(name, "embedding") || name == "output.weight"
}

// parameter returns what PyTorch has for p in one of the sets of tensors: param/, grad/, 3/. It has no data for the bias
// of a norm that has none there: without biases ours keeps those of the norms, and they are 0.
func (c *Case) parameter(set string, p *layer.Param) mat.Matrix {
	c.t.Helper()
	name, from, to := theirs(p.Name)
	// A file of a part of the model leaves out what all of its names would begin with.
	full := name
	candidate := "transformer." + name
	for {
		if _, ok := c.tensors[set+candidate]; ok {
			break
		}
		if candidate == "" && !c.Bias && strings.Contains(p.Name, "norm") && strings.HasSuffix(p.Name, ".bias") {
			return mat.Matrix{}
		}
		if candidate == "" {
			c.t.Fatalf("%s: nothing in %s is %s, which PyTorch calls %s", c.Name, set, p.Name, full)
		}
		_, candidate, _ = strings.Cut(candidate, ".")
	}
	m := c.Matrix(set + candidate)
	if len(p.Shape) == 1 { // a row here, [out] there
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

// row views a parameter's numbers as a matrix: of its shape, or of one row.
func row(p *layer.Param, numbers []float32) mat.Matrix {
	if len(p.Shape) == 1 {
		return mat.Of(numbers, 1, p.Shape[0])
	}
	return mat.Of(numbers, p.Shape[0], p.Shape[1])
}

// Fill sets all weights of ps to PyTorch's of a set, param/ or 0/. Together they must be all of the set.
func (c *Case) Fill(set string, ps *layer.Params) {
	c.t.Helper()
	all := 0
	for name := range c.tensors {
		if strings.HasPrefix(name, set) {
			m := c.Matrix(name)
			all += m.Rows * m.Cols
		}
	}
	ours := 0
	for _, p := range ps.List {
		m, w := c.parameter(set, p), row(p, p.W)
		if m.Data == nil {
			clear(p.W)
			continue
		}
		if m.Rows != w.Rows || m.Cols != w.Cols {
			c.t.Fatalf("%s: %s is %v, PyTorch's is %d × %d", c.Name, p.Name, p.Shape, m.Rows, m.Cols)
		}
		for i := range m.Rows {
			copy(w.Row(i), m.Row(i))
		}
		ours += p.Size()
	}
	if all != ours {
		c.t.Fatalf("%s: PyTorch has %d parameters, ours are %d", c.Name, all, ours)
	}
}

// CheckGrads holds the gradients of ps against PyTorch's.
func (c *Case) CheckGrads(ps *layer.Params) {
	c.t.Helper()
	for _, p := range ps.List {
		if want := c.parameter("grad/", p); want.Data != nil {
			CheckClose(c.t, "derivative of "+p.Name, row(p, p.G), want, bound(c.t, c.float32.Grad, 1e-4))
		}
	}
}

// Weights calls f with each parameter of ps and PyTorch's of a set, such as those after step 3.
func (c *Case) Weights(set string, ps *layer.Params, f func(p *layer.Param, got, want mat.Matrix)) {
	c.t.Helper()
	for _, p := range ps.List {
		if want := c.parameter(set, p); want.Data != nil {
			f(p, row(p, p.W), want)
		}
	}
}
