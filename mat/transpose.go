package mat

import "fmt"

// Transpose copies the transpose of from [m × n] to to [n × m], both with contiguous rows, on the
// threads of p or, if p is nil, on the calling goroutine. It panics if the shapes do not match. The
// two must not overlap. It may be called concurrently for different results. To transpose an
// operand of a product, use Matrix.T, which copies nothing.
func Transpose(p *Pool, to, from Matrix) {
	to.check("Transpose: to", writes)
	from.check("Transpose: from", readsRows)
	if to.Rows != from.Cols || to.Cols != from.Rows {
		panic(fmt.Sprintf("mat: Transpose of %d × %d to %d × %d", from.Rows, from.Cols, to.Rows, to.Cols))
	}
	if to.overlaps(&from) {
		panic(fmt.Sprintf("mat: Transpose of a %d × %d matrix to memory that it shares", from.Rows, from.Cols))
	}
	Each(p, to.Rows, 16, transposeRows{to, from}) // 16 floats of a row are one cache line
}

type transposeRows struct{ to, from Matrix }

func (t *transposeRows) Range(lo, hi int) {
	for j := range t.from.Rows {
		for i, v := range t.from.Row(j)[lo:hi] {
			t.to.Row(lo + i)[j] = v
		}
	}
}
