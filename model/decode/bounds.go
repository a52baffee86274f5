package decode

import (
	"math"
	"slices"
	"sync"

	"tfm/mat"
)

// outputBounds is the output projection in int8, with bounds of its error. Greedy search needs only
// the largest logit, so only logits whose upper bounds are not below it are computed in float32.
// With x' and w' for x and w in int8, the float32 logit z = x·w + b and r = x'·w' + b satisfy, by
// Cauchy's inequality,
//
//	|z - r| ≤ |x|·|w - w'| + |x - x'|·|w'| + κ·X·W + 2^-20·|b|
//	X = |x| + |x - x'|, W = |w'| + |w - w'|, κ = (d + 64)·2^-24
//
// The last two terms bound the rounding of all float32 operations, those of the bound included.
// A bias of -Inf is exact.
type outputBounds struct {
	output linear
	errors []float32 // |w - w'| + 2^-20·|b| of each column
	norms  []float32 // |w'| of each column
	kappa  float64
}

// outputBounds returns the bounds. Its first call computes them on the threads of p.
func (w *Weights) outputBounds(p *mat.Pool) *outputBounds {
	w.bounds.mu.Lock()
	defer w.bounds.mu.Unlock()
	if w.bounds.outputBounds == nil {
		w.bounds.outputBounds = newOutputBounds(p, &w.output)
	}
	return w.bounds.outputBounds
}

// lazyBounds are the bounds of Weights that share an output projection, nil before their first use.
type lazyBounds struct {
	mu sync.Mutex
	*outputBounds
}

// reset makes the next use compute the bounds anew.
func (b *lazyBounds) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outputBounds = nil
}

func newOutputBounds(p *mat.Pool, output *linear) *outputBounds {
	d, n := output.size()
	b := &outputBounds{
		output: linear{&weightMatrix{int8: mat.NewInt8(d, n)}, output.bias},
		errors: make([]float32, n), norms: make([]float32, n), kappa: float64(d+64) * 0x1p-24,
	}
	mat.Each(p, (n+boundCols-1)/boundCols, 1, boundColumns{b, output})
	return b
}

// boundCols is the number of columns that are rounded together: a panel of mat.Int8.
const boundCols = 32

// boundColumns is the parallel loop that rounds groups of boundCols columns of w and computes their
// norms.
type boundColumns struct {
	*outputBounds
	from *linear
}

func (t *boundColumns) Range(lo, hi int) {
	ws := boundsWorkspaces.Get().(*boundsWorkspace)
	defer boundsWorkspaces.Put(ws)
	d, n := t.from.size()
	for first := lo * boundCols; first < min(hi*boundCols, n); first += boundCols {
		columns := matrix(&ws.columns, min(boundCols, n-first), d) // transposed
		for i := range columns.Rows {
			t.from.packed.Col(columns.Row(i), first+i)
		}
		t.output.int8.SetCols(nil, first, columns.T())
		rounded := matrix(&ws.x, 1, d).Row(0)
		for i := range columns.Rows {
			j, w := first+i, columns.Row(i)
			t.output.int8.Col(rounded, j)
			t.norms[j] = float32(t.norm(rounded))
			mat.Axpy(-1, rounded, w)
			t.errors[j] = float32(t.norm(w))
			if bias := t.from.biases(); bias != nil && !math.IsInf(float64(bias[j]), -1) {
				t.errors[j] += float32(0x1p-20 * math.Abs(float64(bias[j])))
			}
		}
	}
}

// norm returns an upper bound of |x|, above it by rounding errors only.
func (b *outputBounds) norm(x []float32) float64 {
	return float64(math.Sqrt(float64(mat.Dot(x, x)))*(1+b.kappa)) + 1e-18
}

type boundsWorkspace struct {
	columns, x, logits []float32
	ids                []int32
	list               outputList
}

var boundsWorkspaces = sync.Pool{New: func() any { return new(boundsWorkspace) }}

// project sets logits for the decoder's output x. With bounds, elements may be upper bounds of
// logits, which refine replaces; the largest of a row is a logit.
func (s *outputProjection) project(logits, x mat.Matrix, bounds bool) {
	s.logits, s.x = logits, x
	if s.hasBounds = bounds && s.step.weights.form == Float32 && !s.hasLists(); !s.hasBounds {
		s.projectLogits()
		return
	}
	for len(s.refined) < len(s.step.rows) {
		s.refined = append(s.refined, nil)
	}
	b := s.step.weights.outputBounds(s.step.scratch.pool)
	s.step.scratch.rounded.Set(s.step.scratch.pool, s.x)
	b.output.mulRounded(s.step.scratch.pool, s.logits, s.x, &s.step.scratch.rounded)
	s.isWhole, s.allRows = slices.Grow(s.isWhole[:0], len(s.step.rows))[:len(s.step.rows)], s.allRows[:0]
	mat.Each(s.step.scratch.pool, len(s.step.rows), 1, boundRows{s, b})
	for i, isWhole := range s.isWhole {
		if isWhole {
			s.allRows = append(s.allRows, int32(i))
		}
	}
	s.projectAll()
}

// boundRows is the parallel loop over the rows of a step that turns products of int8 into upper
// bounds and refines them, or sets isWhole.
type boundRows struct {
	of     *outputProjection
	bounds *outputBounds
}

func (t *boundRows) Range(lo, hi int) {
	ws := boundsWorkspaces.Get().(*boundsWorkspace)
	defer boundsWorkspaces.Put(ws)
	for i := lo; i < hi; i++ {
		x, logits := t.of.x.Row(i), t.of.logits.Row(i)
		diff := matrix(&ws.x, 1, len(x)).Row(0)
		t.of.step.scratch.rounded.Row(diff, i)
		mat.Axpy(-1, x, diff)
		size, err := t.bounds.norm(x), t.bounds.norm(diff)
		rounding := float64(t.bounds.kappa * (size + err))
		mat.Axpy(float32(max(1, size+rounding)), t.bounds.errors, logits)
		mat.Axpy(float32(err+rounding), t.bounds.norms, logits)
		t.of.isWhole[i] = !t.of.refineLargest(ws, i)
	}
}

// maxRefined limits the bounds of a row that are refined. A row with more of them has a product
// with all columns, as has one with a bound that is not finite.
const maxRefined = 64

// refineLargest refines the largest bound of a row and then all that are not below its logit. It
// returns false if they are more than maxRefined or not finite.
func (s *outputProjection) refineLargest(ws *boundsWorkspace, row int) bool {
	logits := s.logits.Row(row)
	s.refined[row] = s.refined[row][:0]
	if m := float64(mat.Max(logits)); math.IsNaN(m) || math.IsInf(m, 0) {
		return false
	}
	var largest [1]Candidate
	first := topK(largest[:0], logits, nil, nil)[0].Token
	s.refineAll(ws, row, []int32{first})
	logit := logits[first]
	ids := ws.ids[:0]
	defer func() { ws.ids = ids }()
	for lo := 0; lo < len(logits); lo += segmentLen {
		segment := logits[lo:min(lo+segmentLen, len(logits))]
		if mat.Max(segment) < logit {
			continue
		}
		for j, x := range segment {
			if id := int32(lo + j); x >= logit && id != first {
				if len(ids) == maxRefined {
					return false
				}
				ids = append(ids, id)
			}
		}
	}
	s.refineAll(ws, row, ids)
	return true
}

// refineAll refines the bounds of ids.
func (s *outputProjection) refineAll(ws *boundsWorkspace, row int, ids []int32) {
	if len(ids) == 0 {
		return
	}
	l := &ws.list
	l.ids = append(l.ids[:0], ids...)
	l.gather(nil, &s.step.weights.output)
	logits := matrix(&ws.logits, 1, len(ids))
	l.columns.mul(nil, logits, s.x.RowRange(row, row+1), mat.Identity)
	for i, id := range ids {
		s.logits.Row(row)[id] = logits.Data[i]
	}
	s.refined[row] = append(s.refined[row], ids...)
}

// refine returns the logit of an element and whether the step returned a bound of it.
func (s *outputProjection) refine(row int, id int32) (logit float32, wasBound bool) {
	if wasBound = s.hasBounds && !s.isWhole[row] && !slices.Contains(s.refined[row], id); wasBound {
		ws := boundsWorkspaces.Get().(*boundsWorkspace)
		defer boundsWorkspaces.Put(ws)
		s.refineAll(ws, row, []int32{id})
	}
	return s.logits.Row(row)[id], wasBound
}
