//go:build !purego && !noasm

package mat

// smallProduct is a product C = or += A·B of m × n × k > 0, as strip is, with strides that count bytes. If bCol is not 0,
// B's columns are contiguous and begin so far apart, and k is 4 to smallDepth; else its rows begin bK apart.
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

const (
	smallWork  = 1 << 18 // multiply-adds of such a product at most, some microseconds
	smallRows  = 3       // its rows at least: fewer have kernels of their own
	smallCols  = 128     // its columns at most
	smallDepth = 64      // its k at most, if B's columns are transposed on the stack
)

// small computes the product where its kernel is faster than blocks are, and reports whether it did.
func (o *GemmOptions) small(c, a, b *Matrix) bool {
	m, n, k := c.Rows, c.Cols, a.Cols
	work := m * n * k
	if kernel != avx512 || m < smallRows || n > smallCols || work == 0 || work > smallWork || o.Bias != nil || o.Activation != Identity || o.Residual.Data != nil {
		return false
	}
	s := smallProduct{c: &c.Data[0], a: &a.Data[0], b: &b.Data[0], cRow: uintptr(c.RowStride) * size,
		aRow: uintptr(a.RowStride) * size, aK: uintptr(a.ColStride) * size, bK: uintptr(b.RowStride) * size,
		m: m, n: n, k: k, accumulate: flag(o.Accumulate)}
	if b.ColStride != 1 && n > 1 {
		if k < 4 || k > smallDepth || b.ColStride == 0 {
			return false
		}
		s.bCol = uintptr(b.ColStride) * size
	}
	smallAVX512(&s)
	return true
}

// smallAVX512 is the loop above smallProduct, which it changes.
//
//go:noescape
func smallAVX512(s *smallProduct)
