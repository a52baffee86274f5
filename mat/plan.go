package mat

// This file plans products: the tasks and blocks that they are divided into, the operands that are
// packed, copied, shared between threads or prefetched. A plan depends on the shape of the product,
// the layout of its operands, the kernel, the number of threads and the cache sizes. Plans do not
// affect results, because dividing a chain over k only stores and reloads an element of C. Other
// files execute plans.
//
// The blocking is that of Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008: the kernel computes a strip of C in registers, from rows of A in the L1
// cache and the panels of a block of B in the L2 cache, which serve strip after strip.

// cacheSizes are the cache sizes of one core in bytes.
type cacheSizes struct {
	l1, l2, l3 int
	l1Way      int // one way of L1: addresses this far apart map to the same set
}

// defaultCaches are those of Zen 4, for processors that do not report theirs.
var defaultCaches = cacheSizes{l1: 32 << 10, l2: 1 << 20, l3: 32 << 20, l1Way: 4 << 10}

// limits are the thresholds of plans. Rows, columns and depths (along k) count elements, work
// counts multiply-adds, floats count float32 values. Limits named max are inclusive. The gain of a
// limit is its best on the shapes of mat/README.md and of training, on Zen 4 with AVX-512, against
// products without it.
type limits struct {
	// Sizes of caches.
	l1Floats    int // C of one row of A, or a B that small products transpose: AVX2 10 to 30 %
	l2Floats    int // a B that stays in L2: blocks of B 1 to 4 %
	l3Floats    int // the core's part of L3; a B from beyond is prefetched: 1×32000×512 60 %
	aliasFloats int // rows at a multiple of this distance share sets of L1: copies 5 to 8 %

	// Tasks.
	minTaskWork int // justifies another thread
	minTaskRows int // of a task that packs all of B, although others pack it too: 4 %

	// Operands.
	maxUnpackedRows int // of C, for columns of B in registers 20 to 140 %, B in long rows 200 %
	minPackedCols   int // of C, that justify packing or copying A: 4 to 8 %
	maxPackedRows   int // of A that are packed together: bounds the memory
	narrowCols      int // of a block of B, if C has few rows: the next one is prefetched: 8 %
	streamDepth     int // of a block of an unpacked B from beyond L2: 4×2048×512 60 %
	maxCallFloats   int // of B in one call, which cannot be interrupted: a few microseconds

	// Products without blocks of B.
	maxSmallWork int // bounds a call to 20 µs: 3 to 4 %, attention of short sentences 40 %

	// Bfloat16 and int8.
	maxDepthBF16     int // of a block: 256 loses 1 %
	maxBlockABF16    int // elements of A in a block: 256 KB lose up to 4 %
	maxBlockRowsInt8 int // rows of A that stay in L2 across the panels
}

// newLimits derives the limits from the cache sizes. They were measured on Zen 4, with the default
// caches, and on Emerald Rapids.
func newLimits(c cacheSizes) limits {
	return limits{
		l1Floats:    c.l1 / size,
		l2Floats:    c.l2 / size,
		l3Floats:    c.l3 / 4 / size,
		aliasFloats: c.l1Way / size,

		minTaskWork: 1 << 18,
		minTaskRows: 240,

		maxUnpackedRows: 64,
		minPackedCols:   64,
		maxPackedRows:   1 << 10,
		narrowCols:      128,
		streamDepth:     24,
		maxCallFloats:   128 << 10,

		maxSmallWork: 1 << 20,

		maxDepthBF16:     2048,
		maxBlockABF16:    4 << 20,
		maxBlockRowsInt8: 192,
	}
}

// machineLimits are the limits of this machine. Only tests change them after startup.
var machineLimits = newLimits(caches())

const (
	size = 4  // bytes of a float32
	line = 64 // bytes of a cache line
	padB = 8  // rows of a transposed panel of B that are written together
)

// shape holds the inputs of a plan besides the limits: C [m × n], A [m × k], B [k × n].
type shape struct {
	m, n, k  int
	kernel   isa
	strips   *gemmKernel // for all of C, because B may be packed for it
	threads  int
	packed   bool // B is already packed for all of C
	epilogue bool // besides adding to C
	bFloats  int  // floats of B, for all of C

	aRow, aCol, bCol int // strides of A and B, in floats
}

// plan describes how a product is computed.
type plan struct {
	tasks    grid // each a block of C over all of k for one thread
	spinning bool // tasks are too small to wake parked workers
	block    block
}

// block is the plan of a block of C [m × n] over all of k for one thread: in portable Go, as a
// small product, or in at most one step of few rows, columns or row, and then steps in strips.
type block struct {
	m, n     int
	portable bool
	small    smallStep
	columns  columnsStep
	row      rowStep
	strips   [3]stripsStep
	count    int // of strips
}

// planProduct sets p to the plan of a product with m, n > 0.
func planProduct(p *plan, q *shape, lim *limits) {
	p.tasks, p.spinning = grid{q.m, q.n, q.m, q.n}, false
	if q.threads == 1 {
		planBlock(&p.block, q, lim)
		return
	}
	if p.spinning = q.isSmall(lim); p.spinning {
		p.tasks = planSmallTasks(q, lim)
	} else {
		p.tasks = planTasks(q, lim)
	}
	task := *q
	task.m, task.n = p.tasks.rows, p.tasks.cols
	planBlock(&p.block, &task, lim)
}

// planTasks divides C among threads. With enough work there are a few more tasks than threads, so
// that a delayed thread does not hold up the others. Tasks in the same columns read, and may pack,
// the same part of B, so rows are divided only if they are many or there are too few columns.
func planTasks(q *shape, lim *limits) grid {
	g := grid{q.m, q.n, q.m, q.n}
	// Fewer rows than a strip take as long as a strip, because they read as much of B.
	work := saturatingProduct(max(q.m, q.strips.rows), q.n, q.k)
	tasks := min(q.threads, work/lim.minTaskWork)
	if spare := work / (32 * lim.minTaskWork); spare > tasks {
		tasks = min(4*q.threads, spare)
	}
	if rowBlocks := min(tasks, q.m/lim.minTaskRows) / q.threads * q.threads; rowBlocks > 0 {
		g.rows = ceil(ceilDiv(q.m, rowBlocks), q.strips.rows)
		return g
	}
	g.halve(tasks, q.strips.rows, q.strips.cols, 4*q.strips.rows, 0)
	return g
}

// planSmallTasks divides a small product among threads: its rows, or its columns if those of B are
// transposed, so that each is transposed once.
func planSmallTasks(q *shape, lim *limits) grid {
	g := grid{q.m, q.n, q.m, q.n}
	tasks := max(1, min(q.threads, 4*q.m*q.n*q.k/lim.minTaskWork))
	if q.transposesB() && q.n > packedCols {
		g.cols = ceil(ceilDiv(q.n, tasks), packedCols)
	} else {
		g.rows = ceilDiv(q.m, tasks)
	}
	return g
}

// transposesB reports whether packing B transposes it.
func (q *shape) transposesB() bool { return !q.packed && q.bCol != 1 && q.n > 1 }

// planBlock sets b to the plan of a block of C [m × n] over all of k for one thread.
func planBlock(b *block, q *shape, lim *limits) {
	*b = block{m: q.m, n: q.n}
	switch {
	case q.kernel == generic || q.k == 0:
		b.portable = true
	case q.isSmall(lim):
		b.small = q.smallStep()
	default:
		var cols, depth int // computed by a step for few rows
		if q.bCol == 1 {
			b.row = q.rowStep(lim)
			cols, depth = b.row.cols, b.row.k
		} else {
			b.columns = q.columnsStep(lim)
			cols, depth = b.columns.cols, b.columns.k
		}
		b.addStrips(q, 0, cols, depth, lim)
		b.addStrips(q, cols, q.n, 0, lim)
	}
}

// planBF16 returns the blocks of a product with AMX: all threads convert and pack rows × depth of A
// and depth × cols of B, then multiply them.
func planBF16(m, n, k, threads int, lim *limits) (rows, cols, depth int) {
	depth = ceil(evenly(k, lim.maxDepthBF16), stepBF16)
	rows = ceil(evenly(m, max(1, lim.maxBlockABF16/depth)), stripBF16)
	cols = ceil(evenly(n, max(1, 2*lim.l2Floats*threads/depth)), stripBF16)
	return rows, cols, depth
}

// planTasksBF16 divides such a block of C [m × n] into tasks.
func planTasksBF16(m, n, depth, threads int, lim *limits) grid {
	g := grid{m, n, ceil(m, stripBF16), ceil(n, stripBF16)}
	if threads > 1 {
		g.halve(min(4*threads, saturatingProduct(m, n, depth)/(4*lim.minTaskWork)), stripBF16, stripBF16, stripBF16, 4)
	}
	return g
}

// pairPlan describes how one thread computes a block of C in pairs: in blocks of rows × cols over
// a depth of k.
type pairPlan struct{ rows, cols, depth int }

// planPairs returns the plan of a block of C [m × n] over depth k.
func planPairs(m, n, k int, lim *limits) (p pairPlan) {
	p.depth = ceil(evenly(k, lim.l1Floats/16), stepBF16)
	p.rows = ceil(evenly(m, max(1, lim.l2Floats/p.depth)), stripBF16)
	p.cols = ceil(evenly(n, max(1, lim.l2Floats/4/p.depth)), stripBF16)
	return p
}

// planPairTasks divides a product in pairs among threads.
func planPairTasks(m, n, k, threads int, lim *limits) grid {
	g := grid{m, n, ceil(m, stripBF16), ceil(n, stripBF16)}
	if threads > 1 {
		g.halve(min(2*threads, saturatingProduct(m, n, k)/(4*lim.minTaskWork)), stripBF16, stripBF16, stripBF16, 1)
	}
	return g
}

// planInt8 divides a product with int8 weights, C [m × n] and tiles of tileRows rows, into a few
// more tasks than threads. With many more, reading the operands would dominate.
func planInt8(m, n, k, tileRows, threads int, lim *limits) grid {
	rowBlocks := ceilDiv(m, lim.maxBlockRowsInt8)
	g := grid{m, n, ceil(ceilDiv(m, rowBlocks), tileRows), n}
	if threads > 1 {
		// Few rows take as long as a tile, because they read as much of B. Weights of 512 × 512
		// make two tasks.
		want := min(4*threads, saturatingProduct(max(m, tileRows), n, k)/(3*lim.minTaskWork))
		colBlocks := max(1, ceilDiv(want, ceilDiv(m, g.rows)))
		g.cols = ceil(ceilDiv(n, colBlocks), panelInt8)
	}
	return g
}

// grid divides C [m × n] into blocks of rows × cols; those at the edges may be smaller.
type grid struct{ m, n, rows, cols int }

func (g *grid) count() int { return ceilDiv(g.m, g.rows) * ceilDiv(g.n, g.cols) }

// halve halves the rows or the columns of the blocks, in units of rows and cols, until there are
// want blocks or they have minRows rows and one unit of columns. It halves the rows of a block with
// more than 1/ratio as many rows as columns; with ratio 0 only if it cannot halve the columns.
func (g *grid) halve(want, rows, cols, minRows, ratio int) {
	for g.count() < want {
		byRows, byCols := g.rows > minRows, g.cols > cols
		switch {
		case byRows && (!byCols || ratio*g.rows > g.cols):
			g.rows = ceil(ceilDiv(g.rows, 2), rows)
		case byCols:
			g.cols = ceil(ceilDiv(g.cols, 2), cols)
		default:
			return
		}
	}
}

// bounds returns the rows [i0, i1) and columns [j0, j1) of a task.
func (g *grid) bounds(task int) (i0, i1, j0, j1 int) {
	colBlocks := ceilDiv(g.n, g.cols)
	i0, j0 = task/colBlocks*g.rows, task%colBlocks*g.cols
	return i0, min(i0+g.rows, g.m), j0, min(j0+g.cols, g.n)
}

// stripRows divides rows into strips of tile rows, except that the last two share the remainder
// evenly, because a strip reuses B less the fewer rows it has.
type stripRows struct{ strips, tile, last, last2 int }

func divideRows(n, tile int) stripRows {
	d := stripRows{strips: ceilDiv(n, tile), tile: tile}
	d.last = n - (d.strips-1)*tile
	d.last2 = tile
	if d.strips > 1 && d.last < tile/2 {
		d.last2 = (d.last + tile + 1) / 2
		d.last = d.last + tile - d.last2
	}
	return d
}

// fillFirst gives the first of two strips all rows of the tile.
func (d *stripRows) fillFirst() {
	if d.strips == 2 {
		d.last, d.last2 = d.last+d.last2-d.tile, d.tile
	}
}

// rows returns the number of rows of strip i.
func (d *stripRows) rows(i int) int {
	switch i {
	case d.strips - 1:
		return d.last
	case d.strips - 2:
		return d.last2
	}
	return d.tile
}

// ceil returns n rounded up to a multiple of q.
func ceil(n, q int) int { return (n + q - 1) / q * q }

// ceilDiv returns n/q rounded up.
func ceilDiv(n, q int) int { return (n + q - 1) / q }

// evenly returns the size of the fewest equal parts of n that do not exceed limit.
func evenly(n, limit int) int {
	if n <= limit {
		return n
	}
	return ceilDiv(n, ceilDiv(n, limit))
}
