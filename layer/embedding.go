package layer

import (
	"math"

	"tfm/mat"
)

// Embedding turns token ids into rows: Dropout(E[id]·sqrt(d) + PE[position]) (sections 3.4, 3.5
// and 5.4). E may be shared with another embedding and with the output projection.
type Embedding struct {
	E         *Param     // [V, d]
	Positions mat.Matrix // PE [positions × d], see Sinusoids; with Learned, its weights
	Learned   *Param     // [positions, d] trained positions (Table 3, row E); nil for sinusoids
	Unscaled  bool       // without the factor sqrt(d)
	ZeroStart bool       // zeros instead of E[id] for the first token of a sentence (Marian)
}

// Scale returns the factor of the embeddings (section 3.4).
func (e Embedding) Scale() float32 {
	if e.Unscaled {
		return 1
	}
	return float32(math.Sqrt(float64(e.E.Shape[1])))
}

// Forward sets y [n × d] for the tokens of a ragged batch: ids [n], and starts [sentences+1], the
// index of each sentence's first token, followed by n. It panics on ids outside
// [0, V) and on sentences longer than Positions.
func (e Embedding) Forward(pool *mat.Pool, y mat.Matrix, ids, starts []int32, drop mat.Dropout) {
	mat.Each(pool, len(starts)-1, 1, embedSentences{e, y, ids, starts, drop})
}

type embedSentences struct {
	Embedding
	y           mat.Matrix
	ids, starts []int32
	drop        mat.Dropout
}

func (t *embedSentences) Range(lo, hi int) {
	table, d := t.E.Weights(), t.y.Cols
	for s := lo; s < hi; s++ {
		first := int(t.starts[s])
		for pos, id := range t.ids[first:t.starts[s+1]] {
			i := first + pos
			y := t.y.Row(i)
			// y = E[id]·sqrt(d) + PE[pos]
			if pos == 0 && t.ZeroStart {
				copy(y, t.Positions.Row(pos))
			} else {
				mat.AxpyTo(y, t.Scale(), table.Row(int(id)), t.Positions.Row(pos))
			}
			if t.drop.Rate > 0 {
				t.drop.Apply(y, y, nil, i*d)
			}
		}
	}
}

// Backward adds to the gradients of E and of learned positions for dy [n × d], which it
// overwrites.
//
//	y_i = mask·(E[id_i]·sqrt(d) + PE[pos_i])   so   dE[id_i] += mask·dy_i·sqrt(d)
//	                                                dPE[pos_i] += mask·dy_i
//
// An id may occur many times, so workers divide the columns and each adds the tokens in order.
// No Accumulator orders Backward: it adds the gradients of a whole batch.
func (e Embedding) Backward(pool *mat.Pool, dy mat.Matrix, ids, starts []int32, drop mat.Dropout) {
	dropout(pool, dy, drop) // mask·dy
	mat.Each(pool, dy.Cols, columnGrain, embedGradCols{e, dy, ids, starts})
	if e.Learned != nil {
		mat.Each(pool, dy.Cols, columnGrain, positionGradCols{e, dy, starts})
	}
}

// embedGradCols adds dy·sqrt(d) to the gradient of E.
type embedGradCols struct {
	Embedding
	dy          mat.Matrix
	ids, starts []int32
}

func (t *embedGradCols) Range(lo, hi int) {
	dE := t.E.Grad()
	for s := range len(t.starts) - 1 {
		first := int(t.starts[s])
		if t.ZeroStart {
			first++
		}
		for i := first; i < int(t.starts[s+1]); i++ {
			mat.Axpy(t.Scale(), t.dy.Row(i)[lo:hi], dE.Row(int(t.ids[i]))[lo:hi])
		}
	}
}

// positionGradCols adds dy to the gradient of the learned positions.
type positionGradCols struct {
	Embedding
	dy     mat.Matrix
	starts []int32
}

func (t *positionGradCols) Range(lo, hi int) {
	dPE := t.Learned.Grad()
	for s := range len(t.starts) - 1 {
		first := int(t.starts[s])
		for i := first; i < int(t.starts[s+1]); i++ {
			mat.Add(dPE.Row(i - first)[lo:hi], t.dy.Row(i)[lo:hi])
		}
	}
}
