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

// block is the plan of a block of C [m × n] over all of k for one thread: its steps, in order.
type block struct {
	m, n  int
	count int
	steps [4]step
}

// step is a part of a block that one kernel computes: columns [j0, j1), over k from k0 to k1.
type step struct {
	kernel         *gemmKernel // nil for portable Go
	j0, j1, k0, k1 int
	small          bool // a small product, without blocks of B

	packB bool // copies or transposes B into panels, block by block; an edge of B is packed always
	packA bool // makes the rows of a strip contiguous
	copyA bool // copies rows of A into rows that share no sets of L1
	fetch bool // prefetches a B that is not packed, besides what the kernel does in any case

	// Blocks of B and of A.
	cols, depth int // of B
	rows        int // of A that are packed together; all rows if A is not packed
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
	for g.count() < tasks {
		switch {
		case g.cols > q.strips.cols:
			g.cols = ceil(ceilDiv(g.cols, 2), q.strips.cols)
		case g.rows > 4*q.strips.rows:
			g.rows = ceil(ceilDiv(g.rows, 2), q.strips.rows)
		default:
			return g
		}
	}
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

// packsB reports whether a block of m rows and n columns of C packs its part of B. The first full
// strip packs rows of B as it multiplies, so packing pays earlier.
func (q *shape) packsB(m, n int, lim *limits) bool {
	rows, l2 := lim.maxUnpackedRows, lim.l2Floats
	if q.strips.isa == avx2 {
		l2 /= 2 // more strips than with AVX-512 read B
	}
	if q.strips.canPackB {
		rows = min(rows, q.strips.rows-1)
	}
	return !q.packed && (q.bCol != 1 && n > 1 || m > rows && (m > 2*lim.maxUnpackedRows || n*q.k > l2))
}

// planBlock sets b to the plan of a block of C [m × n] over all of k for one thread.
func planBlock(b *block, q *shape, lim *limits) {
	b.m, b.n, b.count = q.m, q.n, 0
	switch {
	case q.kernel == generic || q.k == 0:
		s := b.add()
		s.j1, s.k1 = q.n, q.k
	case q.isSmall(lim):
		q.smallStep(b.add())
	default:
		done := 0 // columns
		if d := q.directStep(lim); d.kernel != nil {
			done = d.j1
			*b.add() = d
			b.addStrips(q, 0, done, d.k1, lim)
		}
		b.addStrips(q, done, q.n, 0, lim)
	}
}

// add adds an empty step.
func (b *block) add() *step {
	s := &b.steps[b.count]
	b.count++
	*s = step{}
	return s
}

// isSmall reports whether the product is computed without blocks of B.
func (q *shape) isSmall(lim *limits) bool {
	transposed, maxB := q.transposesB(), lim.l2Floats/2
	if transposed {
		maxB = lim.l1Floats
	}
	if q.kernel == generic || q.k == 0 || q.m == 1 || saturatingProduct(q.m, q.n, q.k) > lim.maxSmallWork || q.n*q.k > maxB {
		return false
	}
	small := kernelsOf[q.kernel].small
	return small != nil && !q.epilogue || q.k <= kernelsOf[q.kernel].strips.depth && !(small != nil && transposed)
}

// smallStep sets s to the step of a small product: by the kernel for them, or in strips.
func (q *shape) smallStep(s *step) {
	s.kernel, s.j1, s.k1, s.small, s.cols, s.packB = kernelsOf[q.kernel].small, q.n, q.k, true, q.n, q.transposesB()
	if s.kernel == nil || q.epilogue {
		s.kernel = q.strips
		s.packB = !q.packed && (q.bCol != 1 || q.n%q.strips.cols != 0)
	}
	if s.packB {
		s.cols = packedCols
	}
}

// directStep returns the step of a kernel for few rows that reads B where it is. For few rows of C
// that is cheaper than packing. Its kernel is nil without such a step.
func (q *shape) directStep(lim *limits) (s step) {
	g, maxRows := kernelsOf[q.kernel].columns, lim.maxUnpackedRows
	if q.bCol == 1 {
		g, maxRows = kernelsOf[q.kernel].row, 1
	}
	if g == nil || q.packed || q.aCol != 1 || q.m > maxRows || q.n < g.cols || q.k < g.multiple {
		return s
	}
	aliased := q.bCol%lim.aliasFloats == 0
	if g.lanesA && aliased { // its 12 columns do not fit a set of L1
		return s
	}
	s = step{kernel: g, j1: q.n / g.cols * g.cols, k1: q.k / g.multiple * g.multiple, packA: g.lanesA, fetch: q.bFloats > lim.l3Floats}
	s.copyA = !g.lanesA && q.m > 1 && s.j1 >= lim.minPackedCols && q.aRow%lim.aliasFloats == 0
	s.cols = max(48, lim.maxCallFloats/s.k1/48*48)
	if g.readsB == rowsOfB {
		s.cols = ceil(evenly(s.j1, lim.l1Floats), g.cols)
		s.depth = ceil(1+lim.maxCallFloats/s.cols, g.multiple)
	}
	return s
}

// addStrips adds steps for columns [j0, j1) of the block, over k from k0 on, if there are any.
func (b *block) addStrips(q *shape, j0, j1, k0 int, lim *limits) {
	if j0 == j1 || k0 == q.k {
		return
	}
	part := *q
	part.n, part.k = j1-j0, q.k-k0
	s := part.stripStep(lim)
	s.j0, s.j1, s.k0, s.k1 = j0, j1, k0, q.k
	few := kernelsOf[q.kernel].fewRows
	if few != nil && q.strips.isa != avx2 && q.m <= few.rows && part.n >= few.cols && !s.packB {
		first := s
		first.kernel, first.j1 = few, j0+part.n/few.cols*few.cols
		first.cols = ceil(s.cols, few.cols)
		*b.add() = first
		if s.j0 = first.j1; s.j0 == j1 {
			return
		}
	}
	*b.add() = s
}

// stripStep returns the blocks of a step in strips for C [m × n] over depth k.
func (q *shape) stripStep(lim *limits) (s step) {
	s.kernel = q.strips
	inL2 := q.kernel == avx512 && saturatingProduct(q.n, q.k, 1) <= 2*lim.l2Floats
	s.packA = q.aCol != 1 && q.aRow == 1 && q.n > lim.minPackedCols && !inL2
	s.rows = q.m
	if s.packA {
		s.rows = evenly(q.m, lim.maxPackedRows)
	}
	s.packB = q.packsB(s.rows, q.n, lim)

	cols, depth, maxBlock := q.n, s.kernel.depth, lim.l2Floats/2
	switch {
	case !q.packed && !s.packB:
		if q.k*q.n <= lim.l2Floats {
			break
		}
		if s.fetch = q.kernel == avx512 && s.rows > kernelsOf[q.kernel].fewRows.rows; s.fetch {
			cols = s.kernel.cols
		} else {
			cols, depth = max(1, min(lim.l2Floats/4/s.rows, lim.l1Floats)), lim.streamDepth
		}
	case (s.packB || fewStrips(s.rows, s.kernel.rows)) && s.rows*q.k <= maxBlock && !s.packA:
		cols = lim.narrowCols
	default:
		cols = max(1, maxBlock/evenly(q.k, depth))
	}
	s.cols, s.depth = ceil(evenly(q.n, cols), s.kernel.cols), evenly(q.k, depth)

	s.copyA = q.aCol == 1 && q.n >= lim.minPackedCols && q.aRow%lim.aliasFloats == 0
	if s.copyA && s.cols < q.n {
		s.rows = evenly(q.m, lim.maxPackedRows)
	}
	return s
}

// fewStrips reports whether rows of C are several strips, but so few that each must prefetch more
// of the next block of a packed B than a line for 4 of k.
func fewStrips(rows, stripRows int) bool { return rows > stripRows && rows < 8*stripRows }

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
	if threads == 1 {
		return g
	}
	for want := min(4*threads, saturatingProduct(m, n, depth)/(4*lim.minTaskWork)); g.count() < want; {
		switch {
		case g.rows > stripBF16 && g.rows >= g.cols/4:
			g.rows = ceil(g.rows/2, stripBF16)
		case g.cols > stripBF16:
			g.cols = ceil(g.cols/2, stripBF16)
		default:
			return g
		}
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
	if threads == 1 {
		return g
	}
	work := saturatingProduct(m, n, k)
	for want := min(2*threads, work/(4*lim.minTaskWork)); g.count() < want; {
		switch {
		case g.rows > stripBF16 && g.rows > g.cols:
			g.rows = ceil(g.rows/2, stripBF16)
		case g.cols > stripBF16:
			g.cols = ceil(g.cols/2, stripBF16)
		default:
			return g
		}
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
