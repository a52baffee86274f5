package mat

import "fmt"

// Transpose sets to = fromᵀ, for to [n × m] and from [m × n], both with contiguous rows. They must
// not overlap. It panics if the shapes do not fit, and may be called concurrently for different
// results.
func Transpose(p *Pool, to, from Matrix) {
	to.check("the transpose", writes)
	from.check("the matrix to transpose", readsRows)
	if to.Rows != from.Cols || to.Cols != from.Rows {
		panic(fmt.Sprintf("mat: Transpose of %d × %d to %d × %d", from.Rows, from.Cols, to.Rows, to.Cols))
	}
	Each(p, to.Rows, 16, transposeRows{to, from}) // 16 numbers of a row of from are one cache line
}

type transposeRows struct{ to, from Matrix }

func (t *transposeRows) Range(lo, hi int) {
	for j := range t.from.Rows {
		for i, v := range t.from.Row(j)[lo:hi] {
			t.to.Row(lo + i)[j] = v
		}
	}
}
