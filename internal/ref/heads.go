package ref

import (
	"fmt"

	"tfm/mat"
)

// Projection is x·W + b, with W [in × out] and a b [out] that may be nil.
type Projection struct {
	W mat.Matrix
	B []float32
}

// Apply returns x·W + b [n × out] for x [n × in]. It panics on shapes that do not fit.
func (p Projection) Apply(x mat.Matrix) mat.Matrix {
	if x.Cols != p.W.Rows || p.B != nil && len(p.B) != p.W.Cols {
		panic(fmt.Sprintf("ref: projection of %d × %d by %d × %d with %d biases", x.Rows, x.Cols, p.W.Rows, p.W.Cols, len(p.B)))
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

// Columns views p as the projection to columns [lo, hi) of its output.
func (p Projection) Columns(lo, hi int) Projection {
	view := Projection{W: p.W.ColRange(lo, hi)}
	if p.B != nil {
		view.B = p.B[lo:hi]
	}
	return view
}

// Head is one attention head with its projections (section 3.2.2), W^Q and W^K [d × d_k] and W^V
// [d × d_v].
//
//	head(X, M) = Attention(X·W^Q, M·W^K, M·W^V)
type Head struct{ Q, K, V Projection }

// Attend returns head(x, memory) [n × d_v] for x [n × d] and memory [m × d], and the weights
// [n × m]. In self-attention memory is x; in cross-attention x is from the decoder and memory is
// the encoder's output (section 3.2.3). It panics on shapes that do not fit.
func (h Head) Attend(x, memory mat.Matrix, mask Mask) (out, weights mat.Matrix) {
	q, k, v := h.Q.Apply(x), h.K.Apply(memory), h.V.Apply(memory)
	out, weights = mat.New(q.Rows, v.Cols), mat.New(q.Rows, k.Rows)
	ScaledDotProduct(out, weights, q, k, v, mask)
	return out, weights
}

// MultiHead is multi-head attention (section 3.2.2), with W^O [h·d_v × d].
//
//	MultiHead(X, M) = Concat(head_1, …, head_h)·W^O
//
// Two sizes of heads are common. The paper's heads share d_model, d_k = d/h, so that h heads cost
// as much as one of size d; SplitHeads makes such heads of [d × d] projections. Or every head has
// size d, d_k = d, and W^O maps h·d elements back to d.
type MultiHead struct {
	Heads []Head
	Out   Projection // W^O
}

// SplitHeads views projections q, k and v [d × d] as the paper's h heads: head i has columns
// [i·d/h, (i+1)·d/h). It panics if h does not divide d.
func SplitHeads(q, k, v Projection, h int) []Head {
	for _, p := range []Projection{q, k, v} {
		if h < 1 || p.W.Cols%h != 0 {
			panic(fmt.Sprintf("ref: projection %d × %d, expected columns divisible by %d heads", p.W.Rows, p.W.Cols, h))
		}
	}
	heads := make([]Head, h)
	for i := range heads {
		columns := func(p Projection) Projection { return p.Columns(i*p.W.Cols/h, (i+1)*p.W.Cols/h) }
		heads[i] = Head{columns(q), columns(k), columns(v)}
	}
	return heads
}

// Attend returns MultiHead(x, memory) [n × d] for x [n × d] and memory [m × d], and the weights
// [n × m] of each head. All heads have the same mask. It panics on shapes that do not fit.
func (l MultiHead) Attend(x, memory mat.Matrix, mask Mask) (y mat.Matrix, weights []mat.Matrix) {
	width := 0
	for _, h := range l.Heads {
		width += h.V.W.Cols
	}
	if width != l.Out.W.Rows {
		panic(fmt.Sprintf("ref: %d heads of %d columns in all, and W^O %d × %d", len(l.Heads), width, l.Out.W.Rows, l.Out.W.Cols))
	}
	concat, col := mat.New(x.Rows, width), 0
	for _, h := range l.Heads {
		out, w := h.Attend(x, memory, mask)
		for i := range out.Rows {
			copy(concat.Row(i)[col:], out.Row(i))
		}
		col += out.Cols
		weights = append(weights, w)
	}
	return l.Out.Apply(concat), weights
}
