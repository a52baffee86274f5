package mat

import (
	"fmt"
	"slices"
	"sync"
)

// Sgemm is the product of the BLAS with its argument list (Dongarra, Du Croz, Hammarling and Duff,
// "A Set of Level 3 Basic Linear Algebra Subprograms", 1990), for row-major matrices:
//
//	C = alpha·op(A)·op(B) + beta·C, with C [m × n], op(A) [m × k] and op(B) [k × n]
//
// op(X) is X for 'N' and its transpose for 'T' or 'C', in either case of the letter; the constants
// of gonum's blas.Transpose fit as they are. Row i of A begins at a[i*lda], with lda at least the
// columns of A as it is stored, and so for B and C. It panics, naming the argument, where a size, a
// leading dimension or a slice does not do. C must not overlap A or B. Sgemm may be called
// concurrently for different C, and allocates nothing once it has run on problems as large.
//
// With alpha = 0 or k = 0 neither A nor B is read and their slices may be nil, with beta = 0 what C
// holds is not read. All else counts: a NaN or an infinity in A or B shows in C even where the
// other factor is 0.
//
// An element of C is one chain of fused multiply-adds that starts from beta·c, rounded, or from 0,
// and takes (alpha·a)·b for each k in ascending order, with alpha·a rounded: the same bits on every
// machine with kernels, for any m and n, any leading dimensions and any number of threads. Its
// error is at most (k+1)·2^-24·(Σ|alpha·a·b| + |beta·c|), to first order, and (k+2)·2^-24 in
// portable Go. With alpha = 1 and beta 0 or 1 a call is Gemm and costs what that does; another
// alpha costs a copy of A, another beta a pass over C.
//
// The work is shared by the threads of DefaultPool; SgemmOn takes a pool. Column-major matrices, as
// in Fortran, are the transposes of row-major ones, and Cᵀ = op(B)ᵀ·op(A)ᵀ: exchange A and B with
// all that is theirs, and m and n.
func Sgemm[T ~byte | ~rune](transA, transB T, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	SgemmOn(DefaultPool(), transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// SgemmOn is Sgemm on the threads of p, or on the calling goroutine alone if p is nil.
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

// scaledA holds the storage of alpha·A.
var scaledA = sync.Pool{New: func() any { return new([]float32) }}

func isTransposed(name string, t rune) bool {
	switch t {
	case 'N', 'n':
		return false
	case 'T', 't', 'C', 'c':
		return true
	}
	panic(fmt.Sprintf("mat: Sgemm with %s = %q, which is none of N, T and C", name, t))
}

func notNegative(name string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("mat: Sgemm with %s = %d", name, n))
	}
}

// blasOperand views x, which holds a rows × cols matrix, or its transpose, in rows of ld numbers,
// as it is stored. If the matrix is not read, its slice may be of any length.
func blasOperand(name, ldName string, transposed bool, rows, cols int, x []float32, ld int, read bool) Matrix {
	if transposed {
		rows, cols = cols, rows
	}
	if ld < max(1, cols) {
		panic(fmt.Sprintf("mat: Sgemm with %s = %d, but %s is stored as %d × %d", ldName, ld, name, rows, cols))
	}
	if read && rows > 0 && cols > 0 && (cols > len(x) || !fits(rows-1, ld, len(x)-cols)) {
		panic(fmt.Sprintf("mat: Sgemm with %d numbers in %s, which is stored as %d × %d with %s = %d", len(x), name, rows, cols, ldName, ld))
	}
	return Matrix{x, rows, cols, ld, 1}
}

// scaleRows is to = s·from, for matrices with contiguous rows, which may be the same one. With s =
// 0 it is to = 0, whatever from holds.
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
	Scale(to, t.s)
}
