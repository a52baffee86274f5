package mat

// This file lists the kernels of float32 products and the arguments of the three families. Plans
// choose among the kernels; steps call them.

// gemmKernel describes a kernel.
type gemmKernel struct {
	isa        isa
	rows, cols int   // of C in registers; a panel of B has the columns of the kernel of strips
	readsB     readB // how it reads B
	depth      int   // of a block of B
	multiple   int   // of k, without blocks
	canPackB   bool  // rows of B, while it multiplies a strip of all its rows
	packsEdge  bool  // also those of a panel with fewer columns
	lanesA     bool  // it reads A in packed panels of 8 rows: a[l*8+i]

	// The number of k in which a strip prefetches one line of its walks, if it has all rows, if it
	// also packs B, and if it has fewer rows. 0 stands for never.
	walkFull, walkPacking, walkPart int
	walksFast                       bool // with all rows it can prefetch 4 times as much

	// The function, one of these.
	strip   func(*strip)
	columns func(*columnsArgs)
	row     func(*rowArgs)
}

// readB is the way in which a kernel reads B.
type readB uint8

const (
	panelsOfB  readB = iota // whole panels, packed or in place
	edgesOfB                // panels whose last one may have fewer columns
	columnsOfB              // contiguous columns, for few rows of A
	rowsOfB                 // long contiguous rows, for one row of A
)

// The kernels. Their functions are nil on other machines.
var (
	stripsAVX512 = gemmKernel{isa: avx512, rows: 12, cols: 32, depth: 1024, canPackB: true, packsEdge: true,
		walkFull: 4, walkPacking: 4, walkPart: 1, walksFast: true, strip: stripAVX512}
	fewRowsAVX512      = gemmKernel{isa: avx512, rows: 6, cols: 64, depth: 1024, strip: stripFewAVX512}
	smallProductAVX512 = gemmKernel{isa: avx512, rows: 12, cols: 32, readsB: edgesOfB, strip: smallColumns}
	columnsOfAVX512    = gemmKernel{isa: avx512, rows: 8, cols: 16, multiple: 16, readsB: columnsOfB, columns: columnsAVX512}

	stripsAVX2 = gemmKernel{isa: avx2, rows: 6, cols: 16, depth: 256, canPackB: true,
		walkFull: 4, walkPacking: 1, strip: stripAVX2}
	columnsOfAVX2 = gemmKernel{isa: avx2, rows: 8, cols: 12, multiple: 16, readsB: columnsOfB, lanesA: true, columns: columnsAVX2}
	rowOfAVX2     = gemmKernel{isa: avx2, rows: 1, cols: 16, multiple: 8, readsB: rowsOfB, row: rowAVX2}

	stripsNEON = gemmKernel{isa: neon, rows: 6, cols: 16, depth: 256, walkFull: 4, strip: stripNEON}
)

// gemmKernels are the kernels of an instruction set; nil without such a kernel.
type gemmKernels struct{ strips, fewRows, small, columns, row *gemmKernel }

var kernelsOf = [...]gemmKernels{
	generic: {strips: &gemmKernel{rows: 1, cols: 16}},
	avx512:  {&stripsAVX512, &fewRowsAVX512, &smallProductAVX512, &columnsOfAVX512, &rowOfAVX2},
	avx2:    {strips: &stripsAVX2, columns: &columnsOfAVX2, row: &rowOfAVX2},
	neon:    {strips: &stripsNEON},
}

// stripKernel returns the kernel whose panels a packed B of n columns has. AVX-512 uses that of
// AVX2 for a few columns, which would leave half of its own empty.
func stripKernel(set isa, n int) *gemmKernel {
	if set == avx512 && n <= stripsAVX2.cols {
		return &stripsAVX2
	}
	return kernelsOf[set].strips
}

// panelFloats returns the floats of a packed panel of B of depth k.
func (g *gemmKernel) panelFloats(k int) int { return g.cols * ceil(k, padB) }

// strip is the argument of the kernels that read panels of B: C = A·B or C += A·B for m rows, up to
// those of the kernel, and n columns:
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l*aK], b[j/cols*bPanel+l*bK+j%cols], x)
//			}
//			if bias != nil {
//				x += bias[j]
//			}
//			if relu != 0 && x < 0 {
//				x = 0
//			}
//			c[i*cRow+j] = x
//		}
//	}
//
// Strides count bytes. B is read in whole panels; of C, A and bias nothing outside the loops is
// accessed. The kernel prefetches the C of the next panel and, in the last panel, that of the next
// call at c + next, and the lines of the walks, which it modifies.
//
// If pack is not nil, a strip with all rows of the kernel also packs one panel of B, whose rows are
// bK apart, to pack. With AVX-512 the panel may have fewer columns; zeros replace the others.
//
// The kernel for small products has no bias, ReLU, prefetch or limit of rows.
type strip struct {
	c, a, b, bias, pack        *float32
	cRow, aRow, aK, bK, bPanel uintptr
	next                       uintptr
	m, n, k                    int
	accumulate, relu           int
	walks                      [2]walk
}

// columnsArgs is the argument of a kernel for few rows times a B with contiguous columns:
//
//	for i := range m {
//		for j := range n {
//			x := 0, or c[i*cRow+j] if accumulate != 0
//			for l := range k {
//				x = fma(a[i*aRow+l], b[j*bCol+l], x)
//			}
//			if bias != nil {
//				x += bias[j]
//			}
//			if relu != 0 && x < 0 {
//				x = 0
//			}
//			c[i*cRow+j] = x
//		}
//	}
//
// Strides count bytes. m is at most 8, n a multiple of the kernel's columns, k of 16. With fetch
// the kernel prefetches the next columns of B, from memory.
type columnsArgs struct {
	c, a, b, bias    *float32
	cRow, aRow, bCol uintptr
	m, n, k          int
	accumulate, relu int
	fetch            bool
}

// rowArgs is the argument of a kernel for one row times a B with contiguous rows:
//
//	for j := range n {
//		for l := range k {
//			c[j] = fma(a[l], b[l*bRow+j], c[j])
//		}
//	}
//
// bRow counts bytes. n is a multiple of 16, k of 8. With fetch the kernel prefetches B from memory.
type rowArgs struct {
	c, a, b *float32
	bRow    uintptr
	n, k    int
	fetch   bool
}

// prefetchAddress is an address to prefetch. It may be outside every allocation: kernels use it in
// prefetch instructions only, which never fault, and the garbage collector does not follow it.
type prefetchAddress uintptr

// walk is a region of memory that a strip prefetches, row by row: for the given number of panels
// the first walk, then the second. A panel prefetches a line for each 1 or 4 of k, as the kernel
// says, or with fast 4 lines for each 4 of k.
//
//	next += line
//	if left--; left == 0 {
//		next, left = next+jump, lines
//	}
type walk struct {
	next                prefetchAddress
	jump                uintptr
	left, lines, panels int
	fast                int
}
