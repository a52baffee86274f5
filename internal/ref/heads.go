package ref

import (
	"fmt"

	"tfm/mat"
)

// Projection is x·W + b: W [in × out], b [out] or nil.
type Projection struct {
	W mat.Matrix
	B []float32
}

// Apply returns x·W + b [n × out] for x [n × in]. It panics on shapes that do not fit.
func (p Projection) Apply(x mat.Matrix) mat.Matrix {
	if x.Cols != p.W.Rows || p.B != nil && len(p.B) != p.W.Cols {
		panic(fmt.Sprintf("ref: %d × %d does not fit a projection %d × %d with %d biases", x.Rows, x.Cols, p.W.Rows, p.W.Cols, len(p.B)))
	}
	y := mat.New(x.Rows, p.W.Cols)
	for i := range y.Rows {
		for j := range y.Cols {
			var sum float64
			for k := range x.Cols {
				sum += float64(x.At(i, k)) * float64(p.W.At(k, j))
			}
			if p.B != nil {
				sum += float64(p.B[j])
			}
			y.Row(i)[j] = float32(sum)
		}
	}
	return y
}

// Columns is the projection to columns [lo, hi) of p's result: a view.
func (p Projection) Columns(lo, hi int) Projection {
	view := Projection{W: p.W.ColRange(lo, hi)}
	if p.B != nil {
		view.B = p.B[lo:hi]
	}
	return view
}

// Head is one attention head with projections of its own (section 3.2.2): W^Q and W^K [d × d_k] and
// W^V [d × d_v].
//
//	head(X, M) = Attention(X·W^Q, M·W^K, M·W^V)
type Head struct{ Q, K, V Projection }

// Attend returns head(x, memory) [n × d_v] for x [n × d] and memory [m × d], and the weights
// [n × m]. Self-attention is attention with memory = x; in cross-attention x are the decoder's
// tokens and memory the encoder's output (section 3.2.3). It panics on shapes that do not fit.
func (h Head) Attend(x, memory mat.Matrix, mask Mask) (out, weights mat.Matrix) {
	q, k, v := h.Q.Apply(x), h.K.Apply(memory), h.V.Apply(memory)
	out, weights = mat.New(q.Rows, v.Cols), mat.New(q.Rows, k.Rows)
	ScaledDotProduct(out, weights, q, k, v, mask)
	return out, weights
}

// MultiHead is section 3.2.2 written out: the heads' results side by side, mapped by out, W^O
// [h·d_v × d].
//
//	MultiHead(X, M) = Concat(head_1, …, head_h)·W^O
//
// Two ways are in use, and here they differ in nothing but the heads' sizes. The paper's splits
// d_model: d_k = d/h, so h heads cost what one of full size does; SplitHeads cuts such heads out of
// [d × d] projections. Or every head has full size, d_k = d, and W^O maps h·d numbers back to d.
type MultiHead struct {
	Heads []Head
	Out   Projection
}

// SplitHeads cuts projections q, k and v [d × d] into the paper's h heads: head i has columns
// [i·d/h, (i+1)·d/h). It panics if h does not divide d. The heads are views, not copies.
func SplitHeads(q, k, v Projection, h int) []Head {
	for _, p := range []Projection{q, k, v} {
		if h < 1 || p.W.Cols%h != 0 {
			panic(fmt.Sprintf("ref: a projection %d × %d cannot be split into %d heads", p.W.Rows, p.W.Cols, h))
		}
	}
	heads := make([]Head, h)
	for i := range heads {
		of := func(p Projection) Projection { return p.Columns(i*p.W.Cols/h, (i+1)*p.W.Cols/h) }
		heads[i] = Head{of(q), of(k), of(v)}
	}
	return heads
}

// Attend returns MultiHead(x, memory) [n × d] for x [n × d] and memory [m × d], and the weights
// [n × m] of each head. Every head has the same mask. It panics on shapes that do not fit.
func (l MultiHead) Attend(x, memory mat.Matrix, mask Mask) (y mat.Matrix, weights []mat.Matrix) {
	width := 0
	for _, h := range l.Heads {
		width += h.V.W.Cols
	}
	if width != l.Out.W.Rows {
		panic(fmt.Sprintf("ref: %d heads give %d columns, W^O is %d × %d", len(l.Heads), width, l.Out.W.Rows, l.Out.W.Cols))
	}
	joined, at := mat.New(x.Rows, width), 0
	for _, h := range l.Heads {
		out, w := h.Attend(x, memory, mask)
		for i := range out.Rows {
			copy(joined.Row(i)[at:], out.Row(i))
		}
		at += out.Cols
		weights = append(weights, w)
	}
	return l.Out.Apply(joined), weights
}
