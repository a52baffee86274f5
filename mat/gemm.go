package mat

import "fmt"

// Gemm computes the matrix product C = A·B, or C += A·B, for C [m × n], A [m × k] and B [k × n], each
// row-major or a transpose of a row-major matrix (C must be row-major). It panics if the shapes do
// not fit, and C must not overlap A, B, the bias or the residual. It may be called concurrently for different C, and
// allocates nothing once it has run on problems as large.
//
// Every element of C is one chain of fused multiply-adds over k in ascending order, whatever the shape, the
// strides, the kernel and the number of threads: the same rows give the same bits alone and among others.
func Gemm(p *Pool, c, a, b Matrix, o Product) {
	c.check("C")
	a.check("A")
	b.check("B")
	o.check(c)
	if c.Rows != a.Rows || c.Cols != b.Cols || a.Cols != b.Rows || c.ColStride != 1 && c.Cols > 1 || c.RowStride < c.Cols && c.Rows > 1 {
		panic(fmt.Sprintf("mat: Gemm of C %d × %d (strides %d and %d), A %d × %d, B %d × %d",
			c.Rows, c.Cols, c.RowStride, c.ColStride, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	t := product{c: c, a: a, b: b, o: o}
	if tasks := t.divide(p.Threads()); tasks > 1 {
		Each(p, tasks, 1, t)
	} else {
		t.block(0, c.Rows, 0, c.Cols)
	}
}

// product is a matrix product and its division into tasks, each a block of rows × cols of C over all of k.
type product struct {
	c, a, b    Matrix
	o          Product
	rows, cols int
	across     int // blocks side by side
}

// taskWork is how many multiply-adds make a task that is worth another thread's attention.
const taskWork = 1 << 18

// divide chooses the blocks for a number of threads and returns how many there are: a few more than threads,
// so that a thread that is kept away holds up nobody, but not so small that they read their operands too
// often. Blocks near to squares read least.
func (t *product) divide(threads int) int {
	m, n := t.c.Rows, t.c.Cols
	t.rows, t.cols, t.across = m, n, 1
	if threads == 1 {
		return 1
	}
	tasks, tile := 1, &tiles[kernel]
	work := max(m, tile.rows) * n * t.a.Cols // fewer rows than a tile has read B just as well
	for want := min(4*threads, work/taskWork); tasks < want; {
		few := 1 // tiles that are not cut any more
		if tasks >= threads {
			few = 8
		}
		rows, cols := t.rows > few*tile.rows, t.cols > few*tile.cols
		switch {
		case rows && (t.rows >= t.cols || !cols):
			t.rows = ceil((t.rows+1)/2, tile.rows)
		case cols:
			t.cols = ceil((t.cols+1)/2, tile.cols)
		default:
			return tasks
		}
		t.across = (n + t.cols - 1) / t.cols
		tasks = (m + t.rows - 1) / t.rows * t.across
	}
	return tasks
}

// Rows computes the blocks [lo, hi).
func (t *product) Rows(lo, hi int) {
	for i := lo; i < hi; i++ {
		i0, j0 := i/t.across*t.rows, i%t.across*t.cols
		t.block(i0, min(i0+t.rows, t.c.Rows), j0, min(j0+t.cols, t.c.Cols))
	}
}

// ceil is the least multiple of q that is not below n.
func ceil(n, q int) int { return (n + q - 1) / q * q }
