package layer

import "tfm/mat"

// Grains: the rows or columns that a worker computes at a time. Workers divide outputs, never the
// terms of a sum, so that results do not depend on their number.
const (
	rowGrain    = 16
	columnGrain = 64 // columns, for sums over all rows of a matrix
	lossGrain   = 4  // rows of logits
)

// AddRows adds every row of m [n × d] to sum [d], row by row in order.
func AddRows(pool *mat.Pool, sum []float32, m mat.Matrix) {
	mat.Each(pool, m.Cols, columnGrain, addRowsCols{sum, m})
}

type addRowsCols struct {
	sum []float32
	m   mat.Matrix
}

func (t *addRowsCols) Range(lo, hi int) {
	mat.AddRows(t.sum[lo:hi], t.m.ColRange(lo, hi))
}
