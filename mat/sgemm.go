package mat

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Sgemm computes the matrix product of the BLAS, with its argument list (Dongarra, Du Croz,
// Hammarling and Duff, "A Set of Level 3 Basic Linear Algebra Subprograms", 1990), for row-major
// matrices:
//
//	C = alpha·op(A)·op(B) + beta·C, with C [m × n], op(A) [m × k] and op(B) [k × n]
//
// op(X) is X for 'N' and its transpose for 'T' or 'C', upper or lower case; the constants of
// gonum's blas.Transpose are accepted, which are these letters. cblas_sgemm has the same arguments
// after its first, the order, which must be CblasRowMajor: CblasNoTrans (111) is 'N' here,
// CblasTrans (112) 'T'.
//
// Row i of A begins at a[i*lda], where lda is at least 1 and at least the number of columns of A as
// stored; likewise for B and C. Sgemm panics with the name of the argument if a size, a leading
// dimension or a slice is invalid. C must not overlap A or B. It may be called concurrently for
// different C. It allocates only scratch memory that later calls reuse.
//
// With alpha = 0 or k = 0, A and B are not read and may be nil; with m = 0 or n = 0 nothing is
// computed and C may be nil too. The leading dimensions are checked in any case. With beta = 0, C
// is not read. NaN and infinity in A or B propagate to C even where the other factor is 0.
//
// An element of C is one chain of fused multiply-adds that starts from beta·c, rounded, or from 0,
// and adds (alpha·a)·b for each k in ascending order, with alpha·a rounded: the same bits with
// every kernel in assembly, for any m and n, any leading dimensions and any number of threads. The
// error is at most (k+1)·2^-24·(Σ|alpha·a·b| + |beta·c|) to first order, and (k+2)·2^-24
// times that sum in portable Go. With alpha = 1 and beta 0 or 1 the cost is that of Gemm; another
// alpha adds a copy of A, another beta a pass over C.
//
// Sgemm uses the threads of DefaultPool; SgemmOn takes a pool. For column-major matrices, as in
// Fortran, use Cᵀ = op(B)ᵀ·op(A)ᵀ: swap A and B with their arguments, and m and n.
func Sgemm[T ~byte | ~rune](transA, transB T, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	SgemmOn(DefaultPool(), transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// SgemmOn is Sgemm on the threads of p, or on the calling goroutine if p is nil.
func SgemmOn[T ~byte | ~rune](p *Pool, transA, transB T, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	ta, tb := isTransposed("transA", rune(transA)), isTransposed("transB", rune(transB))
	notNegative("m", m)
	notNegative("n", n)
	notNegative("k", k)
	read := m > 0 && n > 0 && k > 0 && alpha != 0
	A := blasOperand("a", "lda", ta, m, k, a, lda, read)
	B := blasOperand("b", "ldb", tb, k, n, b, ldb, read)
	C := blasOperand("c", "ldc", false, m, n, c, ldc, true)
	if m == 0 || n == 0 {
		return
	}
	if read && C.overlaps(&A) {
		panic("mat: Sgemm with a and c in the same memory")
	}
	if read && C.overlaps(&B) {
		panic("mat: Sgemm with b and c in the same memory")
	}
	if beta != 0 && beta != 1 || beta == 0 && !read {
		scaleRows(p, C, C, beta)
	}
	if !read {
		return
	}
	if alpha != 1 {
		s := scaledA.Get().(*[]float32)
		defer scaledA.Put(s)
		*s = slices.Grow((*s)[:0], m*k)[:m*k]
		scaled := Of(*s, A.Rows, A.Cols)
		scaleRows(p, scaled, A, alpha)
		A = scaled
	}
	if ta {
		A = A.T()
	}
	if tb {
		B = B.T()
	}
	Gemm(p, C, A, B, GemmOptions{Accumulate: beta != 0})
}

// scaledA holds memory for alpha·A.
var scaledA = sync.Pool{New: func() any { return new([]float32) }}

func isTransposed(name string, t rune) bool {
	switch t {
	case 'N', 'n':
		return false
	case 'T', 't', 'C', 'c':
		return true
	}
	panic(fmt.Sprintf("mat: Sgemm with %s = %q (%d), expected 'N', 'T' or 'C'", name, t, t))
}

func notNegative(name string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("mat: Sgemm with %s = %d", name, n))
	}
}

// blasOperand returns a view of x as it is stored: a rows × cols matrix, or its transpose, with
// leading dimension ld. The length of x is not checked if read is false.
func blasOperand(name, ldName string, transposed bool, rows, cols int, x []float32, ld int, read bool) Matrix {
	if transposed {
		rows, cols = cols, rows
	}
	if ld < max(1, cols) {
		panic(fmt.Sprintf("mat: Sgemm with %s = %d, expected at least %d: %s is stored as %d × %d", ldName, ld, max(1, cols), name, rows, cols))
	}
	if read && rows > 0 && cols > 0 && (cols > len(x) || !fits(rows-1, ld, len(x)-cols)) {
		needed := cols + min(saturatingProduct(rows-1, ld, 1), math.MaxInt-cols)
		panic(fmt.Sprintf("mat: Sgemm with %d elements in %s, expected at least %d: %s is stored as %d × %d with %s = %d",
			len(x), name, needed, name, rows, cols, ldName, ld))
	}
	return Matrix{x, rows, cols, ld, 1}
}

// scaleRows computes to = s·from for matrices with contiguous rows, which may be the same matrix.
// With s = 0 it clears to without reading from.
func scaleRows(p *Pool, to, from Matrix, s float32) {
	Each(p, to.Rows, 1+run/to.Cols, scaling{to, from, s})
}

type scaling struct {
	to, from Matrix
	s        float32
}

func (t *scaling) Range(lo, hi int) {
	if w := t.to.Cols; t.to.RowStride == w && t.from.RowStride == w { // no gaps
		t.scale(t.to.Data[lo*w:hi*w], t.from.Data[lo*w:hi*w])
		return
	}
	for i := lo; i < hi; i++ {
		t.scale(t.to.Row(i), t.from.Row(i))
	}
}

func (t *scaling) scale(to, from []float32) {
	if t.s == 0 {
		clear(to)
		return
	}
	if &to[0] != &from[0] {
		copy(to, from)
	}
	Scal(t.s, to)
}
