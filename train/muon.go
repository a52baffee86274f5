package train

import (
	"math"
	"sync"

	"tfm/layer"
	"tfm/mat"
)

// Muon is the optimizer of Jordan et al. (2024, "Muon: An optimizer for hidden layers in neural
// networks") for the matrices of linear maps, and Adam for all other weights: embeddings, the
// output, biases and norms. With the gradient g of a matrix [in × out], after clipping:
//
//	m = Momentum·m + (1-Momentum)·g
//	u = Momentum·m + (1-Momentum)·g
//	w = w - rate·Scale·sqrt(max(in, out))·orthogonal(u)
//
// where U·S·Vᵀ is the singular value decomposition of u and
//
//	orthogonal(U·S·Vᵀ) = U·Vᵀ
//
// moves all directions of the matrix by the same amount. The factor sqrt(max(in, out)) makes the
// root mean square of the update rate·Scale for every shape (Liu et al., 2025, "Muon is Scalable
// for LLM Training"). The projections of queries, keys and values are separate matrices, see
// layer.Param.Maps.
type Muon struct {
	*Adam           // M is m of all weights; V is that of the other weights only
	Momentum, Scale float64

	matrices []matrixView
	others   []*layer.Param
	spans    []interval // of others in the weights
	scratch  sync.Pool  // of *orthogonalizer
}

// matrixView is a matrix in the weights, the gradient or the momentum, which have the same layout.
type matrixView struct{ start, rows, cols, stride int }

func (v matrixView) of(x []float32) mat.Matrix {
	return mat.Matrix{Data: x[v.start:], Rows: v.rows, Cols: v.cols, RowStride: v.stride, ColStride: 1}
}

// NewMuon returns an optimizer of the weights of params at step 0. The betas and eps are those of
// Adam.
func NewMuon(params *layer.Params, beta1, beta2, eps, momentum, scale float64) *Muon {
	u := &Muon{Momentum: momentum, Scale: scale}
	start, size, rank, count := 0, 0, 0, 0
	for _, p := range params.List {
		end := start + p.Size()
		if p.Maps == nil {
			u.others, u.spans = append(u.others, p), appendInterval(u.spans, interval{start, end})
			count += p.Size()
		}
		col := start
		for _, cols := range p.Maps {
			rows := p.Shape[0]
			u.matrices = append(u.matrices, matrixView{col, rows, cols, p.Shape[1]})
			size, rank = max(size, rows*cols), max(rank, min(rows, cols))
			col += cols
		}
		start = end
	}
	u.Adam = NewAdam(count, beta1, beta2, eps)
	u.M = make([]float32, params.Count())
	u.scratch.New = func() any { return newOrthogonalizer(size, rank) }
	return u
}

// Moments implements Optimizer.
func (u *Muon) Moments() []Moment {
	return []Moment{{Name: "muon.m.", Values: u.M}, {Name: "muon.v.", Values: u.V, Params: u.others}}
}

// StepAndClear implements Optimizer.
func (u *Muon) StepAndClear(p *mat.Pool, w, g []float32, rate float64, clip float32) {
	u.advance()
	adam := u.kernel(rate, clip)
	v := u.V
	for _, s := range u.spans {
		n := s.hi - s.lo
		mat.Each(p, n, optimizerGrain, adamStep{kernel: adam, w: w[s.lo:s.hi], g: g[s.lo:s.hi], m: u.M[s.lo:s.hi], v: v[:n]})
		v = v[n:]
	}
	mat.Each(p, len(u.matrices), 1, muonStep{u, w, g, rate, clip})
}

type muonStep struct {
	*Muon
	w, g []float32
	rate float64
	clip float32
}

// Range updates matrices [lo, hi).
func (s *muonStep) Range(lo, hi int) {
	scratch := s.scratch.Get().(*orthogonalizer)
	for _, v := range s.matrices[lo:hi] {
		w, g, m, u := v.of(s.w), v.of(s.g), v.of(s.M), scratch.input(v.rows, v.cols)
		momentum := float32(s.Momentum)
		for i := range v.rows {
			gi, mi := g.Row(i), m.Row(i)
			mat.Scal(s.clip*(1-momentum), gi) // (1-Momentum)·g
			mat.AxpyTo(mi, momentum, mi, gi)  // m
			mat.AxpyTo(u.Row(i), momentum, mi, gi)
			clear(gi)
		}
		scratch.add(w, u, -s.rate*s.Scale*math.Sqrt(float64(max(v.rows, v.cols))))
	}
	s.scratch.Put(scratch)
}

// orthogonalPolynomials are the coefficients of polynomials c1·s + c3·s³ + c5·s⁵ whose composition
// maps singular values in [0.01, 1] to [0.73, 1.27], and smaller ones to less. Each polynomial
// deviates least from 1 on the range of the one before it, as in Amsel et al. (2025, "The Polar
// Express: Optimal Matrix Sign Methods and Their Application to the Muon Algorithm").
var orthogonalPolynomials = [...]struct{ c1, c3, c5 float64 }{
	{8.0934, -23.6204, 17.4462},
	{3.6366, -2.7219, 0.5365},
	{2.6613, -1.9772, 0.4526},
}

// orthogonalizer is the workspace of a Newton–Schulz iteration.
type orthogonalizer struct{ x, next, gram, factor []float32 }

// newOrthogonalizer returns a workspace for matrices of up to size elements, whose smaller side is
// up to rank.
func newOrthogonalizer(size, rank int) *orthogonalizer {
	buf := make([]float32, 2*size+2*rank*rank)
	return &orthogonalizer{buf[:size], buf[size : 2*size], buf[2*size : 2*size+rank*rank], buf[2*size+rank*rank:]}
}

// input returns memory for the matrix x of add.
func (o *orthogonalizer) input(rows, cols int) mat.Matrix {
	return mat.Of(o.x[:rows*cols], rows, cols)
}

// add computes w = w + step·orthogonal(x) by polynomials of x: with the Gram matrix G = x·xᵀ,
//
//	x ← c1·x + c3·G·x + c5·G²·x = (c1·I + c3·G + c5·G²)·x
//
// maps each singular value s of x to c1·s + c3·s³ + c5·s⁵ and keeps the singular vectors. If x has
// more rows than columns, G = xᵀ·x is the smaller matrix and
//
//	x ← x·(c1·I + c3·G + c5·G²)
//
// The last product is added to w. x, which is overwritten, must be of o.input. If the squares of
// all elements of x underflow, w does not change.
func (o *orthogonalizer) add(w, x mat.Matrix, step float64) {
	norm := math.Sqrt(float64(mat.Dot(x.Data, x.Data)))
	if norm == 0 {
		return
	}
	mat.Scal(float32(1/norm), x.Data) // so that G neither overflows nor underflows
	n, wide := min(x.Rows, x.Cols), x.Rows <= x.Cols
	next := mat.Of(o.next[:len(x.Data)], x.Rows, x.Cols)
	gram, factor := mat.Of(o.gram[:n*n], n, n), mat.Of(o.factor[:n*n], n, n)
	for i, c := range orthogonalPolynomials {
		last := i == len(orthogonalPolynomials)-1
		if wide {
			mat.Gemm(nil, gram, x, x.T(), mat.GemmOptions{})
		} else {
			mat.Gemm(nil, gram, x.T(), x, mat.GemmOptions{})
		}
		scale := 1.0 // of x
		if i == 0 {
			// The largest singular value is at most the root of the norm of G, which is
			// a closer bound than the norm of x.
			scale = 1 / math.Sqrt(math.Sqrt(float64(mat.Dot(gram.Data, gram.Data))))
		}
		outer := scale
		if last {
			outer *= step
		}
		mat.Gemm(nil, factor, gram, gram, mat.GemmOptions{}) // c1·I + c3·G + c5·G²
		mat.Scal(float32(c.c5*outer*scale*scale*scale*scale), factor.Data)
		mat.Axpy(float32(c.c3*outer*scale*scale), gram.Data, factor.Data)
		for j := range n {
			factor.Row(j)[j] += float32(c.c1 * outer)
		}
		to, mode := next, mat.GemmOptions{}
		if last {
			to, mode.Accumulate = w, true
		}
		if wide {
			mat.Gemm(nil, to, factor, x, mode)
		} else {
			mat.Gemm(nil, to, x, factor, mode)
		}
		x, next = next, x
	}
}
