package mat

import (
	"math"
	"sync"
)

// Gemm computes the matrix product C = A·B, or C += A·B, for C [m × n], A [m × k] and B [k × n], each
// row-major or a transpose of a row-major matrix (C must be row-major). It panics if the shapes do
// not fit, and C must not overlap A, B, the bias or the residual. It may be called concurrently for different C, and
// allocates nothing once it has run on problems as large.
//
// Every element of C is one chain of fused multiply-adds over k in ascending order, whatever the shape, the
// strides, the kernel and the number of threads: the same rows give the same bits alone and among others. To first
// order it is off by at most (k+2)·2^-24·(Σ|a||b| + |c| + |bias| + |residual|), before an activation.
func Gemm(p *Pool, c, a, b Matrix, o GemmOptions) {
	b.check("B", reads)
	o.check(c, a, b.Rows, b.Cols)
	if o.small(&c, &a, &b) {
		return
	}
	t := product{c: c, a: a, b: b, o: o}
	t.run(p)
}

// GemmBatch computes a batch of small products, such as those of the heads of attention, each as Gemm does and with
// the same o, whose bias and residual must fit each C. The threads of p share the batch and not one product,
// so that many products too small to be divided still use all threads. It panics as Gemm does, before it computes
// anything; no C may overlap another or any operand.
func GemmBatch(p *Pool, batch []Operands, o GemmOptions) {
	work := 0
	for i := range batch {
		x := &batch[i]
		x.B.check("B", reads)
		o.check(x.C, x.A, x.B.Rows, x.B.Cols)
		work += min(saturatingProduct(x.C.Rows, x.C.Cols, x.A.Cols), math.MaxInt-work)
	}
	Each(p, len(batch), 1+saturatingProduct(len(batch), taskWork, 1)/max(work, 1), batchLoop{batch, o})
}

// Operands are the matrices of a product C = A·B, as in Gemm.
type Operands struct{ C, A, B Matrix }

type batchLoop struct {
	batch []Operands
	o     GemmOptions
}

// Range computes products [lo, hi).
func (l *batchLoop) Range(lo, hi int) {
	t := product{o: l.o}
	for i := lo; i < hi; i++ {
		x := &l.batch[i]
		if t.o.small(&x.C, &x.A, &x.B) {
			continue
		}
		t.c, t.a, t.b = x.C, x.A, x.B
		t.run(nil)
	}
}

// product is a matrix product and its division into tasks, each a block of rows × cols of C over all of k.
type product struct {
	c, a, b    Matrix
	packed     []float32 // B in its place, if not nil
	o          GemmOptions
	rows, cols int
	across     int // blocks side by side
}

func (t *product) run(p *Pool) {
	m, n, k := t.c.Rows, t.c.Cols, t.a.Cols
	if m == 0 || n == 0 {
		return
	}
	tasks := t.divide(p.Threads())
	if tasks == 1 {
		t.block(0, m, 0, n)
		return
	}
	if t.rows < m && t.packsB(t.rows, n) && m*n*k > spareWork && n*k <= shared && kernel != generic {
		w := packs.Get().(*Packed) // once for all rows, by all threads
		defer packs.Put(w)
		w.Set(p, t.b)
		t.packed = w.panels
	}
	Each(p, tasks, 1, *t)
}

// packs hold B for the tasks of one product.
var packs = sync.Pool{New: func() any { return new(Packed) }}

const (
	taskWork  = 1 << 18 // multiply-adds that are worth another thread's attention
	spareWork = 1 << 23 // so many that there may be more tasks than threads
	shared    = 4 << 20 // numbers of a B that is packed once for all tasks
	tall      = 96      // rows of a task that are enough to read all of a B for that is nearby
	enough    = 256     // columns of a task that are enough to read all of A for
)

// Sizes of what stays in caches, and what follows from them for B.
const (
	nearby   = 256 << 10 // numbers of B that stay in the second-level cache
	fewRows  = 64        // so many rows of C or less read B where it is, if its rows are contiguous
	someRows = 128       // the same, if B is nearby
)

// packsB reports whether a block of m rows and n columns of C has its B packed.
func (t *product) packsB(m, n int) bool {
	return t.packed == nil && (t.b.ColStride != 1 && n > 1 || m > fewRows && (m > someRows || n*t.a.Cols > nearby))
}

// divide chooses the blocks for a number of threads and returns how many there are: if there is work enough
// a few more than threads, so that a thread that is kept away holds up nobody. Blocks above one another need the same
// of B, so there are such only if it can be shared or columns do not suffice.
func (t *product) divide(threads int) int {
	m, n, k := t.c.Rows, t.c.Cols, t.a.Cols
	t.rows, t.cols, t.across = m, n, 1
	if threads == 1 {
		return 1
	}
	tile := &tiles[kernel]
	work := max(m, tile.rows) * n * k // fewer rows than a tile has read B just as well
	want := min(threads, work/taskWork)
	if work/spareWork > want {
		want = min(4*threads, work/spareWork)
	}
	if parts := min(want, m/tall) / threads * threads; parts > 0 && n*k <= nearby {
		t.rows = ceil((m+parts-1)/parts, tile.rows)
		return (m + t.rows - 1) / t.rows
	}
	tasks := 1
	for tasks < want {
		rows, cols := t.rows > 4*tile.rows, t.cols > tile.cols
		switch {
		case cols && (t.cols >= 2*enough || !rows):
			t.cols = ceil((t.cols+1)/2, tile.cols)
		case rows:
			t.rows = ceil((t.rows+1)/2, tile.rows)
		default:
			return tasks
		}
		t.across = (n + t.cols - 1) / t.cols
		tasks = (m + t.rows - 1) / t.rows * t.across
	}
	return tasks
}

// Range computes the blocks [lo, hi).
func (t *product) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		i0, j0 := i/t.across*t.rows, i%t.across*t.cols
		t.block(i0, min(i0+t.rows, t.c.Rows), j0, min(j0+t.cols, t.c.Cols))
	}
}

// ceil is the least multiple of q that is not below n.
func ceil(n, q int) int { return (n + q - 1) / q * q }
