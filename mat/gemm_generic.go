package mat

// blockGeneric computes rows [i0, i1) and columns [j0, j1) of C in portable Go. A product is
// rounded before it is added, unless the compiler fuses the two.
func (t *product) blockGeneric(i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		row := t.c.Data[i*t.c.RowStride:][j0:j1]
		if !t.o.Accumulate {
			clear(row)
		}
		for k := range t.a.Cols {
			aik := t.a.At(i, k)
			if t.b.ColStride == 1 {
				for j, bkj := range t.b.Data[k*t.b.RowStride:][j0:j1] {
					row[j] += aik * bkj
				}
			} else {
				for j := range row {
					row[j] += aik * t.b.At(k, j0+j)
				}
			}
		}
	}
	t.o.finishChain(t.c, i0, i1, j0, j1)
}
