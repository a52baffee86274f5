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
// counts multiply-adds, floats count float32 values. Limits named max are inclusive.
type limits struct {
	// Tasks of a product.
	minTaskWork     int // work that justifies another thread
	minSpareWork    int // work of a task if there are more tasks than threads
	minTaskRows     int // rows of a task that reads all of a B in L2
	minPackingRows  int // rows of a task that packs all of B, although others pack it too
	minTaskCols     int // columns below which rows are divided first
	maxSharedFloats int // floats of a B that is packed once for all tasks

	// B.
	l2Floats          int // floats of B that stay in L2
	maxUnpackedRows   int // rows of C for which a B with contiguous rows is read unpacked
	maxUnpackedRowsL2 int // the same for a B in L2
	maxBlockFloats    int // floats of a packed block of B
	l1Floats          int // floats of B that stay in L1
	l3Floats          int // floats of B that stay in the core's part of L3
	maxTransposedRows int // rows of C for which columns of B are transposed in registers

	// An unpacked B larger than L2 is read in blocks of a few whole rows.
	streamDepth      int
	maxStreamCols    int // limits a call to a few microseconds
	maxStreamCFloats int // floats of C, read and written once for each block

	// Blocks of a packed B if C has few rows. A block has narrowCols columns, so that the next
	// one can be prefetched meanwhile, up to maxNarrowA floats of A.
	maxNarrowA int // stays in L2
	narrowCols int

	// A.
	maxUnpackedCols   int // columns of C for which columns of A are read unpacked
	maxUnpackedFloats int // with AVX-512, floats of B for which they are, too
	maxPackedRows     int // rows of A that are packed together
	aliasFloats       int // rows of A at a multiple of this distance share sets of L1
	minCopiedCols     int // columns of a block of B that justify copying such rows

	// Products computed without blocks.
	maxSmallWork     int // limits a call to 20 µs
	minSmallTaskWork int // work that justifies another thread that spins

	// Bfloat16 with instructions for it.
	maxDepthBF16    int // of a block
	maxBlockABF16   int // elements of A in a block
	maxBlockBBF16   int // elements of B in a block, for each thread
	minTaskWorkBF16 int
	maxDepthPairs   int // of a block without AMX
	maxPairsA       int // elements of A in such a block: half of L2
	maxPairsB       int // elements of B: an eighth, because those of the next block follow

	// Int8.
	maxBlockRowsInt8 int // rows of A that stay in L2 across the panels
	minTaskWorkInt8  int
	minTaskQuantize  int // elements to quantize that justify another thread
}

// newLimits derives the thresholds from the cache sizes. They were measured on Zen 4, with the
// default caches, and on Emerald Rapids.
func newLimits(c cacheSizes) limits {
	return limits{
		minTaskWork:     1 << 18,
		minSpareWork:    1 << 23,
		minTaskRows:     96,
		minPackingRows:  240,
		minTaskCols:     256,
		maxSharedFloats: c.l3 / 2 / size,

		l1Floats:          c.l1 / size,
		l2Floats:          c.l2 / size,
		maxUnpackedRows:   64,
		maxUnpackedRowsL2: 128,
		maxBlockFloats:    c.l2 / 2 / size,
		l3Floats:          c.l3 / 4 / size,
		maxTransposedRows: 64,

		streamDepth:      24,
		maxStreamCols:    8 << 10,
		maxStreamCFloats: c.l2 / 4 / size,

		maxNarrowA: c.l2 / 2 / size,
		narrowCols: 128,

		maxUnpackedCols:   64,
		maxUnpackedFloats: 2 * c.l2 / size,
		maxPackedRows:     1 << 10,
		aliasFloats:       c.l1Way / size,
		minCopiedCols:     64,

		maxSmallWork:     1 << 20,
		minSmallTaskWork: 1 << 16,

		maxDepthBF16:    2048,
		maxBlockABF16:   4 << 20,
		maxBlockBBF16:   c.l2 / 2,
		minTaskWorkBF16: 1 << 20,
		maxDepthPairs:   c.l1 / 64,
		maxPairsA:       c.l2 / 4,
		maxPairsB:       c.l2 / 16,

		maxBlockRowsInt8: 192,
		minTaskWorkInt8:  1 << 20,
		minTaskQuantize:  1 << 15,
	}
}

// machineLimits are the limits of this machine. Only tests change them after startup.
var machineLimits = newLimits(caches())

const (
	size = 4  // bytes of a float32
	line = 64 // bytes of a cache line
	padB = 8  // rows of a transposed panel of B that are written together

	fewRows   = 6 // of the AVX-512 kernel for 64 columns
	wideDepth = 8 // divisor of the depth of the kernel for long rows of B
)

// tile describes the tile of a kernel and the blocks that suit it.
type tile struct {
	rows, cols int // of C in registers; cols is a power of 2
	depth      int // of a block of B
	// Of the kernel for few rows times columns of B: it computes a multiple of directCols columns
	// over a multiple of 16 of k. 0 without such a kernel.
	directCols int
	packs      bool // the kernel can pack rows of B
}

var tiles = [...]tile{
	generic: {rows: 1, cols: 16},
	avx512:  {rows: 12, cols: 32, depth: 1024, directCols: 16, packs: true},
	avx2:    {rows: 6, cols: 16, depth: 256, directCols: 12, packs: true},
	neon:    {rows: 6, cols: 16, depth: 256},
}

// tileFor returns the tile of kernel for n columns of C. AVX-512 uses that of AVX2 for a few
// columns, which would leave half of its own empty.
func tileFor(kernel isa, n int) *tile {
	if kernel == avx512 && n <= tiles[avx2].cols {
		return &tiles[avx2]
	}
	return &tiles[kernel]
}

// panelFloats returns the floats of a packed panel of B of depth k.
func (t *tile) panelFloats(k int) int { return t.cols * ceil(k, padB) }

// shape holds the inputs of a plan besides the limits: C [m × n], A [m × k], B [k × n].
type shape struct {
	m, n, k int
	kernel  isa
	tile    *tile // of the whole product, because B may be packed for it
	threads int
	packed  bool // B is already packed for all of C
	bFloats int  // floats of B, for all of C

	aRow, aCol, bCol int // strides of A and B, in floats
}

// plan describes how a product is computed.
type plan struct {
	tasks  grid      // each a block of C over all of k for one thread
	shareB bool      // all threads pack B once, before the tasks begin
	block  blockPlan // of a task of full size
}

// blockPlan describes how one thread computes a block of C.
type blockPlan struct {
	m, n int // of the block

	// Columns of B that kernels for few rows read where they are, over the first directDepth of
	// k. The remaining depth and columns are blocks of C with their own plans. The fields below
	// apply if directCols is 0.
	directCols, directDepth int

	rows        int  // of A that are packed together; all rows if A is not packed
	packA       bool // makes the rows of a strip contiguous
	copyA       bool // into rows that share no sets of L1
	packB       bool // block by block
	fetchBelow  bool // prefetches a B that is not packed, and has one panel in a block
	cols, depth int  // of a block of B; cols is a multiple of the tile's
}

// planProduct returns the plan of a product with m, n > 0.
func planProduct(q *shape, l *limits) (p plan) {
	p.tasks = grid{q.m, q.n, q.m, q.n}
	if q.threads == 1 {
		p.block = planBlock(q, l)
		return p
	}
	p.tasks = planTasks(q, l)
	task := *q
	task.m, task.n = p.tasks.rows, p.tasks.cols
	if task.m < q.m && task.m < l.minPackingRows && q.kernel != generic && q.packsB(task.m, q.n, l) &&
		saturatingProduct(q.m, q.n, q.k) > l.minSpareWork && q.n*q.k <= l.maxSharedFloats {
		p.shareB, task.packed = true, true
	}
	p.block = planBlock(&task, l)
	return p
}

// planTasks divides C among threads. With enough work there are a few more tasks than threads, so
// that a delayed thread does not hold up the others. Tasks in the same columns read the same part
// of B, so rows are divided only if they are many, B can be shared or there are too few columns.
func planTasks(q *shape, l *limits) grid {
	g := grid{q.m, q.n, q.m, q.n}
	if q.threads == 1 {
		return g
	}
	// Fewer rows than a tile take as long as a tile, because they read as much of B.
	work := saturatingProduct(max(q.m, q.tile.rows), q.n, q.k)
	tasks := min(q.threads, work/l.minTaskWork)
	if spare := work / l.minSpareWork; spare > tasks {
		tasks = min(4*q.threads, spare)
	}
	minRows := l.minPackingRows
	if q.n*q.k <= l.l2Floats {
		minRows = l.minTaskRows
	}
	if rowBlocks := min(tasks, q.m/minRows) / q.threads * q.threads; rowBlocks > 0 {
		g.rows = ceil(ceilDiv(q.m, rowBlocks), q.tile.rows)
		return g
	}
	for g.count() < tasks {
		rows, cols := g.rows > 4*q.tile.rows, g.cols > q.tile.cols
		switch {
		case cols && (g.cols >= 2*l.minTaskCols || !rows):
			g.cols = ceil(ceilDiv(g.cols, 2), q.tile.cols)
		case rows:
			g.rows = ceil(ceilDiv(g.rows, 2), q.tile.rows)
		default:
			return g
		}
	}
	return g
}

// packsB reports whether a block of m rows and n columns of C packs its part of B.
func (q *shape) packsB(m, n int, l *limits) bool {
	rows, l2 := l.maxUnpackedRows, l.l2Floats
	if q.tile == &tiles[avx2] {
		l2 /= 2 // more strips than with AVX-512 read B
	}
	if q.tile.packs { // at little cost, for a strip with all rows
		rows = min(rows, q.tile.rows-1)
	}
	return !q.packed && (q.bCol != 1 && n > 1 || m > rows && (m > l.maxUnpackedRowsL2 || n*q.k > l2))
}

// planBlock returns the plan of a block of C [m × n] over all of k for one thread.
func planBlock(q *shape, l *limits) (p blockPlan) {
	p.m, p.n = q.m, q.n
	if q.kernel == generic || q.k == 0 {
		return p
	}
	if p.directCols, p.directDepth = q.direct(l); p.directCols > 0 {
		return p
	}
	unpackedA := q.n <= l.maxUnpackedCols || q.kernel == avx512 && saturatingProduct(q.n, q.k, 1) <= l.maxUnpackedFloats
	p.packA = q.aCol != 1 && q.aRow == 1 && !unpackedA
	p.rows = q.m
	if p.packA {
		p.rows = evenly(q.m, l.maxPackedRows)
	}
	p.packB = q.packsB(p.rows, q.n, l)

	cols, depth := q.n, q.tile.depth
	switch {
	case !q.packed && !p.packB && q.k*q.n > l.l2Floats && q.kernel == avx512 && p.rows > fewRows:
		cols, p.fetchBelow = q.tile.cols, true
	case !q.packed && !p.packB && q.k*q.n > l.l2Floats:
		cols, depth = max(1, min(l.maxStreamCFloats/p.rows, l.maxStreamCols)), l.streamDepth
	case !q.packed && !p.packB:
	case (p.packB || q.packed && fewStrips(p.rows, q.tile.rows)) && p.rows*q.k <= l.maxNarrowA && !p.packA:
		cols = l.narrowCols
	default:
		cols = max(1, l.maxBlockFloats/evenly(q.k, depth))
	}
	p.cols, p.depth = ceil(evenly(q.n, cols), q.tile.cols), evenly(q.k, depth)

	p.copyA = q.aCol == 1 && q.n >= l.minCopiedCols && q.aRow%l.aliasFloats == 0
	if p.copyA && p.cols < q.n {
		p.rows = evenly(q.m, l.maxPackedRows)
	}
	return p
}

// fewStrips reports whether rows of C are several strips, but so few that each must prefetch more
// of the next block of a packed B than a line for 4 of k.
func fewStrips(rows, tileRows int) bool { return rows > tileRows && rows < 8*tileRows }

// direct returns the columns of B, and the depth, that kernels for few rows read where they are, or
// zeros. For few rows of C that is cheaper than packing.
func (q *shape) direct(l *limits) (cols, depth int) {
	t := &tiles[q.kernel]
	rows, cols, depth := l.maxTransposedRows, q.n/max(t.directCols, 1)*t.directCols, q.k&^15
	if q.bCol == 1 {
		rows, cols, depth = 1, q.n&^15, q.k&^(wideDepth-1)
	}
	aliased := q.kernel == avx2 && q.bCol%l.aliasFloats == 0 // 12 columns do not fit a set of L1
	if t.directCols == 0 || aliased || q.packed || q.aCol != 1 || q.m > rows || cols == 0 || depth == 0 {
		return 0, 0
	}
	return cols, depth
}

// small reports whether a product of m × n × k is computed without blocks. With bCols the columns
// of B are transposed.
func (l *limits) small(m, n, k int, bCols bool) bool {
	work := saturatingProduct(m, n, k)
	return work > 0 && work <= l.maxSmallWork && m > 1 && (!bCols || n*k <= l.l1Floats)
}

// planSmall divides such a product among threads: its rows, or its columns if those of B are
// transposed, so that each is transposed once.
func planSmall(m, n, k int, bCols bool, threads int, l *limits) grid {
	g := grid{m, n, m, n}
	tasks := max(1, min(threads, m*n*k/l.minSmallTaskWork))
	if bCols && n > packedCols {
		g.cols = ceil(ceilDiv(n, tasks), packedCols)
	} else {
		g.rows = ceilDiv(m, tasks)
	}
	return g
}

// planBF16 returns the blocks of a product with AMX: all threads convert and pack rows × depth of A
// and depth × cols of B, then multiply them.
func planBF16(m, n, k, threads int, l *limits) (rows, cols, depth int) {
	depth = ceil(evenly(k, l.maxDepthBF16), stepBF16)
	rows = ceil(evenly(m, max(1, l.maxBlockABF16/depth)), stripBF16)
	cols = ceil(evenly(n, max(1, l.maxBlockBBF16*threads/depth)), stripBF16)
	return rows, cols, depth
}

// planTasksBF16 divides such a block of C [m × n] into tasks.
func planTasksBF16(m, n, depth, threads int, l *limits) grid {
	g := grid{m, n, ceil(m, stripBF16), ceil(n, stripBF16)}
	if threads == 1 {
		return g
	}
	for want := min(4*threads, saturatingProduct(m, n, depth)/l.minTaskWorkBF16); g.count() < want; {
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
func planPairs(m, n, k int, l *limits) (p pairPlan) {
	p.depth = ceil(evenly(k, l.maxDepthPairs), stepBF16)
	p.rows = ceil(evenly(m, max(1, l.maxPairsA/p.depth)), stripBF16)
	p.cols = ceil(evenly(n, max(1, l.maxPairsB/p.depth)), stripBF16)
	return p
}

// planPairTasks divides a product in pairs among threads.
func planPairTasks(m, n, k, threads int, l *limits) grid {
	g := grid{m, n, ceil(m, stripBF16), ceil(n, stripBF16)}
	if threads == 1 {
		return g
	}
	work := saturatingProduct(m, n, k)
	for want := min(2*threads, work/l.minTaskWorkBF16); g.count() < want; {
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
func planInt8(m, n, k, tileRows, threads int, l *limits) grid {
	rowBlocks := ceilDiv(m, l.maxBlockRowsInt8)
	g := grid{m, n, ceil(ceilDiv(m, rowBlocks), tileRows), n}
	if threads > 1 {
		// Few rows take as long as a tile, because they read as much of B.
		want := min(4*threads, saturatingProduct(max(m, tileRows), n, k)/l.minTaskWorkInt8)
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
