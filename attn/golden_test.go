package attn_test

import (
	"strings"
	"testing"

	"tfm/attn"
	"tfm/internal/golden"
	"tfm/internal/ref"
	"tfm/layer"
	"tfm/mat"
)

// filled allocates the parameters that declare declares, with PyTorch's weights.
func filled(c *golden.Case, declare func(*layer.Params)) *layer.Params {
	ps := new(layer.Params)
	declare(ps)
	ps.AllocForTraining()
	c.Fill("param/", ps)
	return ps
}

// maskOf returns the mask of the case.
func maskOf(c *golden.Case) ref.Mask {
	padding := ref.Padding(c.Int32s("input/ids"), 0)
	switch c.Mask {
	case "padding":
		return padding
	case "look_ahead":
		return ref.LookAhead
	case "both":
		return ref.And(padding, ref.LookAhead)
	}
	return nil
}

// The references of one head, forward and backward.
func TestScaledDotProductMatchesPyTorch(t *testing.T) {
	golden.Each(t, "scaled_dot_product", func(t *testing.T, c *golden.Case) {
		q, k, v := ref.FromFloat32(c.Input("q")), ref.FromFloat32(c.Input("k")), ref.FromFloat32(c.Input("v"))
		out, _ := ref.ScaledDotProduct(q, k, v, maskOf(c))
		c.CheckOutput("y", ref.ToFloat32(out))
		dq, dk, dv := ref.ScaledDotProductGrad(ref.FromFloat32(c.Upstream()), q, k, v, maskOf(c))
		c.CheckGrad("q", ref.ToFloat32(dq))
		c.CheckGrad("k", ref.ToFloat32(dk))
		c.CheckGrad("v", ref.ToFloat32(dv))
	})
}

// PyTorch computes on a padded batch with masks, attn on a ragged one: the test compares the rows
// of tokens.
func TestMultiHeadAttentionMatchesPyTorch(t *testing.T) {
	golden.Each(t, "attention", func(t *testing.T, c *golden.Case) {
		if strings.Contains(c.Name, "cross") {
			crossMatchesPyTorch(t, c)
		} else {
			selfMatchesPyTorch(t, c)
		}
	})
}

func sizesOf(c *golden.Case) attn.Sizes {
	s := paperSizes(c.D, c.Heads)
	s.NoBias = !c.Bias
	return s
}

func selfMatchesPyTorch(t *testing.T, c *golden.Case) {
	var l attn.Self
	ps := filled(c, func(ps *layer.Params) { l = sizesOf(c).NewSelf(ps, "self") })
	x, starts := c.Input("x"), c.Starts("x")
	rag := attn.Ragged{QStarts: starts, KStarts: starts, Causal: c.Causal}
	dx := mat.New(x.Rows, c.D)
	var act attn.SelfAct
	var g attn.SelfGrad
	arena(func(a *layer.Arena) { act, g = l.Alloc(a, x.Rows), l.AllocGrad(a, x.Rows) })
	c.CheckOutput("y", l.Forward(nil, &act, x, rag))
	l.Backward(nil, dx, c.Upstream(), &act, &g, layer.Set)
	c.CheckGrad("x", dx)
	c.CheckGrads(ps)

	w := ref.WeightsOf(ps)
	referenceMatchesPyTorch(t, c, rag, func(s int, check func(head int, weights ref.Matrix)) ref.Matrix {
		return w.Self("self", rowsOf(x, starts, s), c.Heads, c.Causal, check)
	})
}

func crossMatchesPyTorch(t *testing.T, c *golden.Case) {
	var l attn.Cross
	ps := filled(c, func(ps *layer.Params) { l = sizesOf(c).NewCross(ps, "cross") })
	x, memory := c.Input("x"), c.Input("memory")
	rag := attn.Ragged{QStarts: c.Starts("x"), KStarts: c.Starts("memory")}
	dx, dmemory := mat.New(x.Rows, c.D), mat.New(memory.Rows, c.D)
	var act attn.CrossAct
	var g attn.CrossGrad
	arena(func(a *layer.Arena) { act, g = l.Alloc(a, x.Rows, memory.Rows), l.AllocGrad(a, x.Rows, memory.Rows) })
	g.Memory = dmemory
	c.CheckOutput("y", l.Forward(nil, &act, x, memory, rag))
	l.Backward(nil, dx, c.Upstream(), &act, &g, layer.Set)
	c.CheckGrad("x", dx)
	c.CheckGrad("memory", dmemory)
	c.CheckGrads(ps)

	w := ref.WeightsOf(ps)
	referenceMatchesPyTorch(t, c, rag, func(s int, check func(head int, weights ref.Matrix)) ref.Matrix {
		return w.Cross("cross", rowsOf(x, rag.QStarts, s), rowsOf(memory, rag.KStarts, s), c.Heads, check)
	})

	all := c.Matrix("output/weights") // [batch, heads, queries, keys]
	for s := range rag.Sentences() {
		for h := range c.Heads {
			got := mat.New(int(rag.QStarts[s+1]-rag.QStarts[s]), int(rag.KStarts[s+1]-rag.KStarts[s]))
			l.Inputs(&act).Weights(got, c.Heads, s, h, rag)
			want := all.RowRange((s*c.Heads+h)*tokens(c, "x"), (s*c.Heads+h+1)*tokens(c, "x"))
			// values up to 1, through about ten roundings
			golden.CheckClose(t, "weights", got, want.Slice(0, got.Rows, 0, got.Cols), 1e-6)
		}
	}
}

// rowsOf returns the rows of sentence s.
func rowsOf(x mat.Matrix, starts []int32, s int) ref.Matrix {
	return ref.FromFloat32(x.RowRange(int(starts[s]), int(starts[s+1])))
}

// referenceMatchesPyTorch compares the results of the reference and its weights with PyTorch's.
// attend returns the result of sentence s and calls check with the weights of each head.
func referenceMatchesPyTorch(t *testing.T, c *golden.Case, r attn.Ragged, attend func(s int, check func(head int, weights ref.Matrix)) ref.Matrix) {
	n, all := tokens(c, "x"), c.Matrix("output/weights")
	var y ref.Matrix
	for s := range r.Sentences() {
		y = append(y, attend(s, func(head int, weights ref.Matrix) {
			want := all.RowRange((s*c.Heads+head)*n, (s*c.Heads+head+1)*n).Slice(0, len(weights), 0, len(weights[0]))
			// float64 arithmetic on values that were rounded to float32 once
			golden.CheckClose(t, "weights of the reference", ref.ToFloat32(weights), want, 1e-6)
		})...)
	}
	c.CheckOutput("y", ref.ToFloat32(y))
}

// tokens returns the length of the padded sentences.
func tokens(c *golden.Case, name string) int {
	longest := int32(0)
	for _, n := range c.Int32s("lengths/" + name) {
		longest = max(longest, n)
	}
	return int(longest)
}
