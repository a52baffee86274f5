//go:build !purego && !noasm

package mat

// smallProduct is the argument of one call that computes C = A·B or C += A·B for m × n × k > 0.
// Strides count bytes. If bCol is not 0, the columns of B are contiguous, bCol apart, and k is 4 to
// 64; otherwise its rows are contiguous, bK apart.
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l*aK], b[l*bK+j], x) // or b[j*bCol+l]
//			}
//			c[i*cRow+j] = x
//		}
//	}
type smallProduct struct {
	c, a, b                  *float32
	cRow, aRow, aK, bK, bCol uintptr
	m, n, k, accumulate      int
}

// small computes the product if one kernel call is faster than blocks, and reports whether it did.
func (o *GemmOptions) small(c, a, b *Matrix) bool {
	m, n, k := c.Rows, c.Cols, a.Cols
	bCols := b.ColStride != 1 && n > 1
	if kernel != avx512 || o.Bias != nil || o.Activation != Identity || o.Residual.Data != nil || !machineLimits.small(m, n, k, bCols, b.ColStride) {
		return false
	}
	s := smallProduct{c: &c.Data[0], a: &a.Data[0], b: &b.Data[0], cRow: uintptr(c.RowStride) * size,
		aRow: uintptr(a.RowStride) * size, aK: uintptr(a.ColStride) * size, bK: uintptr(b.RowStride) * size,
		m: m, n: n, k: k, accumulate: flag(o.Accumulate)}
	if bCols {
		s.bCol = uintptr(b.ColStride) * size
	}
	smallAVX512(&s)
	return true
}

// smallAVX512 is the loop in smallProduct's comment. It modifies s.
//
//go:noescape
func smallAVX512(s *smallProduct)
