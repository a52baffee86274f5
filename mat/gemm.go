package mat

import (
	"fmt"
	"math"
)

// Gemm computes the matrix product C = A·B, or C += A·B with o.Accumulate, for C [m × n], A [m
// × k] and B [k × n], on the threads of p or, if p is nil, on the calling goroutine. A and B are
// row-major or transposes of row-major matrices, C is row-major. It panics if the shapes do not
// match. C must not overlap A, B, the bias or the residual. It may be called concurrently for
// different C. It allocates only scratch memory that later calls reuse.
//
// Every element of C is one chain of fused multiply-adds over k in ascending order, for any shape,
// strides, number of threads and kernel in assembly, so a row has the same bits alone and among
// others. Portable Go, the kernel "generic", has the same order but rounds a product before it adds
// it, unless the compiler fuses the two. The error is at most (k+2)·2^-24·(Σ|a||b| + |c| + |bias| +
// |residual|) to first order, before an activation, and (k+3)·2^-24 times that sum in portable Go.
// If k is 0, the product is 0 and only the epilogue applies.
func Gemm(p *Pool, c, a, b Matrix, o GemmOptions) {
	o.checkOperands(&c, &a, &b)
	t := product{c: c, a: a, b: b, o: o}
	t.multiply(p)
}

// GemmBatch computes many small products, such as those of the heads of attention, each as Gemm
// does and with the same o, whose bias and residual must match every C. The threads of p share the
// batch, not a single product, so products too small to be divided use all threads. It panics as
// Gemm does, with the index of the product, before it computes anything. No C may overlap another C
// or an operand.
func GemmBatch(p *Pool, batch []Operands, o GemmOptions) {
	work := 0
	for i := range batch {
		x := &batch[i]
		if s := o.faultOfOperands(&x.C, &x.A, &x.B); s != "" {
			panic(fmt.Sprintf("mat: product %d of a batch: %s", i, s))
		}
		work += min(saturatingProduct(x.C.Rows, x.C.Cols, x.A.Cols), math.MaxInt-work)
	}
	Each(p, len(batch), 1+saturatingProduct(len(batch), machineLimits.minTaskWork, 1)/max(work, 1), batchLoop{batch, o})
}

// Operands are the matrices of a product C = A·B, as in Gemm.
type Operands struct{ C, A, B Matrix }

type batchLoop struct {
	batch []Operands
	o     GemmOptions
}

// Range computes products [lo, hi).
func (x *batchLoop) Range(lo, hi int) {
	w := workspaces.Get().(*workspace)
	t := product{o: x.o, plan: &w.plan}
	var planned shape // the shape of t.plan: consecutive products often have the same one
	for i := lo; i < hi; i++ {
		t.c, t.a, t.b = x.batch[i].C, x.batch[i].A, x.batch[i].B
		if t.c.Rows == 0 || t.c.Cols == 0 {
			continue
		}
		if q := t.shape(1); q != planned {
			planProduct(t.plan, &q, &machineLimits)
			planned = q
		}
		t.block(w, 0, t.c.Rows, 0, t.c.Cols)
	}
	workspaces.Put(w)
}

// product is a matrix product and its plan.
type product struct {
	c, a, b Matrix
	packed  []float32 // panels of B; nil if B is not packed yet
	o       GemmOptions
	plan    *plan
}

// multiply plans and computes the product.
func (t *product) multiply(p *Pool) {
	if t.c.Rows == 0 || t.c.Cols == 0 {
		return
	}
	w := workspaces.Get().(*workspace)
	q := t.shape(p.Threads())
	t.plan = &w.plan
	planProduct(t.plan, &q, &machineLimits)
	t.run(p, w)
	workspaces.Put(w)
}
