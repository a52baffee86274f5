//go:build !purego && !noasm

package mat

// smallInPlace computes the product by kernels that read a B with contiguous rows in place. They
// have no epilogue.
func (o *GemmOptions) smallInPlace(c, a, b *Matrix, panels []float32) {
	m, n, k := c.Rows, c.Cols, a.Cols
	s := strip{c: &c.Data[0], a: &a.Data[0], cRow: uintptr(c.RowStride) * size, aRow: uintptr(a.RowStride) * size, aK: uintptr(a.ColStride) * size,
		m: m, n: n, k: k, accumulate: flag(o.Accumulate)}
	const cols = 32 // of C in registers
	switch {
	case panels != nil:
		t := tileFor(avx512, n)
		s.b, s.bK, s.bPanel = &panels[0], uintptr(t.cols)*size, uintptr(t.panelFloats(k))*size
		smallColumns(&s)
	case b.ColStride == 1 || n == 1:
		s.b, s.bK, s.bPanel = &b.Data[0], uintptr(b.RowStride)*size, cols*size
		smallColumns(&s)
	default:
		w := workspaces.Get().(*workspace)
		w.packedB = resized(w.packedB, cols*ceil(k, padB))
		s.bK = cols * size
		for j := 0; j < n; j += cols {
			s.b, s.c, s.n = &w.packedB[0], &c.Data[j], min(cols, n-j)
			transposePanelAVX2(s.b, s.bK, &b.Data[j*b.ColStride], uintptr(b.ColStride)*size, s.n, k)
			smallColumns(&s)
		}
		workspaces.Put(w)
	}
}

// smallColumns computes the columns of s, which it modifies.
func smallColumns(s *strip) {
	if s.n > 16 {
		smallAVX512(s)
	}
	if s.n > 0 {
		small16AVX512(s)
	}
}

// smallAVX512 is the loop in strip's comment, without bias and ReLU, for any number of rows. It
// computes 32 columns at a time while more than 16 are left, and sets n, b and c to the remaining
// ones. It reads no B after the last column.
//
//go:noescape
func smallAVX512(s *strip)

// small16AVX512 computes up to 16 columns in the same way. It does not change s.
//
//go:noescape
func small16AVX512(s *strip)
