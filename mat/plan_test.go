package mat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// planShape is the shape of a product in a test; ta and tb select transposed A and B.
type planShape struct {
	kernel  isa
	m, n, k int
	ta, tb  bool
	threads int
	packed  bool
}

func (s planShape) shape() *shape {
	q := &shape{m: s.m, n: s.n, k: s.k, kernel: s.kernel, strips: stripKernel(s.kernel, s.n), threads: s.threads, packed: s.packed, bFloats: s.n * s.k,
		aRow: s.k, aCol: 1, bCol: 1}
	if s.ta {
		q.aRow, q.aCol = 1, s.m
	}
	if s.tb {
		q.bCol = s.k
	}
	return q
}

// blockOf returns the plan of a block of C [m × n] with the given steps; nil is portable Go.
func blockOf(m, n int, steps ...any) block {
	b := block{m: m, n: n}
	for _, s := range steps {
		switch s := s.(type) {
		case smallStep:
			b.small = s
		case columnsStep:
			b.columns = s
		case rowStep:
			b.row = s
		case stripsStep:
			b.add(s)
		default:
			b.portable = true
		}
	}
	return b
}

// TestPlans checks the plans of products that occur in Transformers, with the caches of Zen 4.
func TestPlans(t *testing.T) {
	l := newLimits(defaultCaches)
	for name, c := range map[string]struct {
		planShape
		want plan
	}{
		"portable code has tasks only": {planShape{generic, 200, 64, 64, false, true, 2, false},
			plan{tasks: grid{200, 64, 200, 32}, block: blockOf(200, 32, nil)}},
		"B in L2 is packed by each of four tasks": {planShape{avx512, 1024, 512, 512, false, false, 2, false},
			plan{tasks: grid{1024, 512, 264, 512},
				block: blockOf(264, 512, stripsStep{kernel: &stripsAVX512, j1: 512, k1: 512, packB: true, cols: 256, depth: 512, rows: 264})}},
		"one thread, rows of A far apart are copied": {planShape{avx512, 1024, 1024, 1024, false, false, 1, false},
			plan{tasks: grid{1024, 1024, 1024, 1024},
				block: blockOf(1024, 1024, stripsStep{kernel: &stripsAVX512, j1: 1024, k1: 1024, packB: true, copyA: true, cols: 128, depth: 1024, rows: 1024})}},
		"columns of A are packed": {planShape{avx512, 512, 2048, 3000, true, false, 1, false},
			plan{tasks: grid{512, 2048, 512, 2048},
				block: blockOf(512, 2048, stripsStep{kernel: &stripsAVX512, j1: 2048, k1: 3000, packB: true, packA: true, cols: 128, depth: 1000, rows: 512})}},
		"many columns of A, packed in several blocks": {planShape{avx2, 2500, 96, 64, true, false, 1, false},
			plan{tasks: grid{2500, 96, 2500, 96},
				block: blockOf(2500, 96, stripsStep{kernel: &stripsAVX2, j1: 96, k1: 64, packB: true, packA: true, cols: 96, depth: 64, rows: 834})}},
		"columns of A are not packed for AVX-512": {planShape{avx512, 2500, 96, 64, true, false, 1, false},
			plan{tasks: grid{2500, 96, 2500, 96},
				block: blockOf(2500, 96, stripsStep{kernel: &stripsAVX512, j1: 96, k1: 64, packB: true, cols: 96, depth: 64, rows: 2500})}},
		"columns of A for few columns of C are not packed": {planShape{avx512, 512, 32, 300, true, false, 1, false},
			plan{tasks: grid{512, 32, 512, 32},
				block: blockOf(512, 32, stripsStep{kernel: &stripsAVX512, j1: 32, k1: 300, packB: true, cols: 32, depth: 300, rows: 512})}},
		"few rows read a small B unpacked": {planShape{avx512, 32, 512, 300, false, false, 1, false},
			plan{tasks: grid{32, 512, 32, 512}, block: blockOf(32, 512, stripsStep{kernel: &stripsAVX512, j1: 512, k1: 300, cols: 512, depth: 300, rows: 32})}},
		"one row reads B as long streams": {planShape{avx512, 1, 2000, 512, false, false, 1, false},
			plan{tasks: grid{1, 2000, 1, 2000}, block: blockOf(1, 2000, rowStep{kernel: &rowOfAVX2, cols: 2000, k: 512, call: 2000, depth: 72})}},
		"a few rows read a large B in blocks of low depth": {planShape{avx512, 4, 4096, 512, false, false, 1, false},
			plan{tasks: grid{4, 4096, 4, 4096}, block: blockOf(4, 4096, stripsStep{kernel: &fewRowsAVX512, j1: 4096, k1: 512, cols: 4096, depth: 24, rows: 4})}},
		"fewer rows than a tile fetch B below": {planShape{avx512, 8, 2048, 1024, false, false, 1, false},
			plan{tasks: grid{8, 2048, 8, 2048}, block: blockOf(8, 2048, stripsStep{kernel: &stripsAVX512, j1: 2048, k1: 1024, copyA: true, fetch: true, cols: 32, depth: 1024, rows: 8})}},
		"a tile and more pack B": {planShape{avx512, 12, 2048, 300, false, false, 1, false},
			plan{tasks: grid{12, 2048, 12, 2048}, block: blockOf(12, 2048, stripsStep{kernel: &stripsAVX512, j1: 2048, k1: 300, packB: true, cols: 128, depth: 300, rows: 12})}},
		"some rows, B in L2": {planShape{avx2, 128, 256, 300, false, false, 1, false},
			plan{tasks: grid{128, 256, 128, 256}, block: blockOf(128, 256, stripsStep{kernel: &stripsAVX2, j1: 256, k1: 300, cols: 256, depth: 150, rows: 128})}},
		"some rows, B larger": {planShape{avx512, 128, 32000, 300, false, false, 1, false},
			plan{tasks: grid{128, 32000, 128, 32000},
				block: blockOf(128, 32000, stripsStep{kernel: &stripsAVX512, j1: 32000, k1: 300, packB: true, cols: 128, depth: 300, rows: 128})}},
		"some rows times columns of B that share sets of L1": {planShape{avx2, 20, 500, 1024, false, true, 1, false},
			plan{tasks: grid{20, 500, 20, 500}, block: blockOf(20, 500, stripsStep{kernel: &stripsAVX2, j1: 500, k1: 1024, packB: true, copyA: true, cols: 128, depth: 256, rows: 20})}},
		"some rows times columns of B": {planShape{avx512, 64, 500, 300, false, true, 1, false},
			plan{tasks: grid{64, 500, 64, 500}, block: blockOf(64, 500, columnsStep{kernel: &columnsOfAVX512, cols: 496, k: 288, call: 432},
				stripsStep{kernel: &stripsAVX512, j1: 496, k0: 288, k1: 300, packB: true, cols: 128, depth: 12, rows: 64},
				stripsStep{kernel: &stripsAVX512, j0: 496, j1: 500, k1: 300, packB: true, cols: 32, depth: 300, rows: 64})}},
		"few rows times columns of B, AVX2": {planShape{avx2, 8, 300, 303, false, true, 1, false},
			plan{tasks: grid{8, 300, 8, 300}, block: blockOf(8, 300, columnsStep{kernel: &columnsOfAVX2, cols: 300, k: 288, packA: true, call: 432},
				stripsStep{kernel: &stripsAVX2, j1: 300, k0: 288, k1: 303, packB: true, cols: 112, depth: 15, rows: 8})}},
		"NEON packs them": {planShape{neon, 8, 40, 303, false, true, 1, false},
			plan{tasks: grid{8, 40, 8, 40}, block: blockOf(8, 40, stripsStep{kernel: &stripsNEON, j1: 40, k1: 303, packB: true, cols: 48, depth: 152, rows: 8})}},
		"packed B": {planShape{avx512, 4, 2048, 512, false, false, 1, true},
			plan{tasks: grid{4, 2048, 4, 2048}, block: blockOf(4, 2048, stripsStep{kernel: &fewRowsAVX512, j1: 2048, k1: 512, cols: 256, depth: 512, rows: 4})}},
		"packed B, a few strips": {planShape{avx512, 32, 2048, 512, false, false, 1, true},
			plan{tasks: grid{32, 2048, 32, 2048}, block: blockOf(32, 2048, stripsStep{kernel: &stripsAVX512, j1: 2048, k1: 512, cols: 128, depth: 512, rows: 32})}},
		"one row has columns divided": {planShape{avx512, 1, 32000, 500, false, false, 2, true},
			plan{tasks: grid{1, 32000, 1, 4000}, block: blockOf(1, 4000, stripsStep{kernel: &fewRowsAVX512, j1: 3968, k1: 500, cols: 256, depth: 500, rows: 1},
				stripsStep{kernel: &stripsAVX512, j0: 3968, j1: 4000, k1: 500, cols: 256, depth: 500, rows: 1})}},
		"too little work for threads": {planShape{avx512, 16, 64, 64, false, false, 8, false},
			plan{tasks: grid{16, 64, 16, 64}, spinning: true, block: blockOf(16, 64, smallStep{kernel: &smallProductAVX512, cols: 64})}},
		"depth 0": {planShape{avx512, 16, 64, 0, false, false, 1, false},
			plan{tasks: grid{16, 64, 16, 64}, block: blockOf(16, 64, nil)}},
	} {
		var got plan
		if planProduct(&got, c.shape(), &l); got != c.want {
			t.Errorf("%s: planProduct(%+v) =\n%+v, want\n%+v", name, c.planShape, got, c.want)
		}
	}
}

func TestPlansOfBF16AndInt8(t *testing.T) {
	l := newLimits(defaultCaches)
	smallTasks := func(m, n, k int, tb bool, threads int) grid {
		return planSmallTasks(planShape{avx512, m, n, k, false, tb, threads, false}.shape(), &l)
	}
	rows, cols, depth := planBF16(1024, 32000, 4096, 2, &l)
	if rows != 1024 || cols != 512 || depth != 2048 {
		t.Errorf("planBF16(1024, 32000, 4096, 2) = %d, %d, %d, want 1024, 512, 2048", rows, cols, depth)
	}
	if got, want := planPairs(1000, 300, 600, &l), (pairPlan{rows: 512, cols: 160, depth: 320}); got != want {
		t.Errorf("planPairs(1000, 300, 600) = %+v, want %+v", got, want)
	}
	for name, c := range map[string]struct{ got, want grid }{
		"tiles, one thread":      {planTasksBF16(1024, 512, 2048, 1, &l), grid{1024, 512, 1024, 512}},
		"tiles, two threads":     {planTasksBF16(1024, 512, 2048, 2, &l), grid{1024, 512, 128, 512}},
		"tiles, too small":       {planTasksBF16(64, 64, 64, 2, &l), grid{64, 64, 64, 64}},
		"small, rows divided":    {smallTasks(100, 128, 64, false, 3), grid{100, 128, 34, 128}},
		"small, columns of B":    {smallTasks(100, 128, 64, true, 3), grid{100, 128, 100, 64}},
		"small, few columns":     {smallTasks(64, 32, 64, true, 2), grid{64, 32, 32, 32}},
		"small, one thread":      {smallTasks(128, 128, 64, false, 1), grid{128, 128, 128, 128}},
		"small, too small":       {smallTasks(16, 64, 32, false, 2), grid{16, 64, 16, 64}},
		"pairs, one thread":      {planPairTasks(1000, 512, 2048, 1, &l), grid{1000, 512, 1024, 512}},
		"pairs, two threads":     {planPairTasks(1000, 512, 2048, 2, &l), grid{1000, 512, 512, 256}},
		"pairs, wide":            {planPairTasks(100, 32000, 512, 2, &l), grid{100, 32000, 128, 8000}},
		"pairs, too small":       {planPairTasks(64, 64, 64, 2, &l), grid{64, 64, 64, 64}},
		"int8, one thread":       {planInt8(400, 512, 512, 12, 1, &l), grid{400, 512, 144, 512}},
		"int8, two threads":      {planInt8(400, 512, 512, 12, 2, &l), grid{400, 512, 144, 192}},
		"int8, one row":          {planInt8(1, 32000, 512, 12, 2, &l), grid{1, 32000, 12, 4000}},
		"int8, few rows":         {planInt8(1, 33, 8, 6, 8, &l), grid{1, 33, 6, 64}},
		"int8, overflowing work": {planInt8(1<<20, 1<<24, math.MaxInt>>24, 6, 2, &l), grid{1 << 20, 1 << 24, 192, 1 << 24}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// Tasks are whole tiles except at the edges, cover C, and dividing C terminates.
func TestTasksCoverTheProduct(t *testing.T) {
	l := newLimits(defaultCaches)
	for kernel := range kernelsOf {
		for _, m := range []int{1, 5, 6, 7, 13, 100, 4096} {
			for _, n := range []int{1, 16, 33, 512, 32000} {
				for _, k := range []int{0, 1, 64, 1 << 20} {
					for _, threads := range []int{1, 2, 3, 64} {
						s := planShape{isa(kernel), m, n, k, false, false, threads, false}
						q := s.shape()
						var p plan
						planProduct(&p, q, &l)
						g := p.tasks
						if !p.spinning && g.rows < m && g.rows%q.strips.rows != 0 || g.cols < n && g.cols%q.strips.cols != 0 {
							t.Errorf("%+v: tasks of %d × %d, want multiples of %d × %d", s, g.rows, g.cols, q.strips.rows, q.strips.cols)
						}
						covered := 0
						for i := range g.count() {
							i0, i1, j0, j1 := g.bounds(i)
							covered += max(0, i1-i0) * max(0, j1-j0)
						}
						if covered != m*n {
							t.Errorf("%+v: tasks cover %d elements, want %d", s, covered, m*n)
						}
					}
				}
			}
		}
	}
}

// randomLimits returns arbitrary thresholds.
func randomLimits(r *rand.Rand) limits {
	some := func(limit int) int { return 1 + r.IntN(1+r.IntN(limit)) }
	return limits{
		l1Floats: 16 + some(1<<14), l2Floats: 4 + some(1<<16), l3Floats: some(1 << 14), aliasFloats: some(3),
		minTaskWork: some(1 << 16), minTaskRows: some(100),
		maxUnpackedRows: r.IntN(100), minPackedCols: some(100), maxPackedRows: some(100), narrowCols: some(200),
		streamDepth: some(50), maxCallFloats: some(1 << 14), maxSmallWork: r.IntN(2) * some(1<<20),
		maxDepthBF16: some(300), maxBlockABF16: some(1 << 14), maxBlockRowsInt8: some(100),
	}
}

// shake modifies a plan at random, within the constraints of the layout: a step in strips instead
// of those that were planned.
func shake(r *rand.Rand, p *plan, q shape) {
	if r.IntN(2) == 0 {
		p.tasks.rows, p.tasks.cols = 1+r.IntN(q.m), ceil(1+r.IntN(q.n), q.strips.cols)
	}
	p.spinning = false
	m, n := min(p.tasks.rows, q.m), min(p.tasks.cols, q.n)
	s := stripsStep{kernel: q.strips, j1: n, k1: q.k, rows: 1 + r.IntN(m), cols: ceil(1+r.IntN(n), q.strips.cols), depth: 1 + r.IntN(q.k)}
	s.packA = q.aCol != 1 && q.aRow == 1 && r.IntN(2) == 0
	s.copyA = q.aCol == 1 && r.IntN(2) == 0
	s.packB = !q.packed && (q.bCol != 1 && n > 1 || r.IntN(2) == 0)
	s.fetch = !q.packed && !s.packB && r.IntN(2) == 0
	p.block = blockOf(m, n, s)
}

// A plan does not affect the result: the chains over k are the same for any tasks, blocks, packing
// and copies.
func TestPlansDoNotAffectResults(t *testing.T) {
	defer func(l limits) { machineLimits = l }(machineLimits)
	forEachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		rounds := 1500
		if kernel == generic { // one loop, whatever the plan
			rounds = 300
		}
		if race || testing.Short() {
			rounds = 100
		}
		for range rounds {
			m, n, k := 1+r.IntN(1+r.IntN(150)), 1+r.IntN(1+r.IntN(150)), 1+r.IntN(1+r.IntN(200))
			a, b := operand(r, m, k, r.IntN(2) == 0, normal), operand(r, k, n, r.IntN(2) == 0, normal)
			o := GemmOptions{Accumulate: r.IntN(2) == 0}
			if r.IntN(2) == 0 {
				o.Bias, o.Activation = operand(r, 1, n, false, normal).Data[:n], ReLU
			}
			if r.IntN(4) == 0 {
				o.Residual = operand(r, m, n, false, normal)
			}
			before := operand(r, m, n, false, normal)
			results := map[string]func(c Matrix, p *Pool){
				"Gemm":     func(c Matrix, p *Pool) { Gemm(p, c, a, b, o) },
				"GemmInt8": func(c Matrix, p *Pool) { GemmInt8(p, c, a, QuantizeInt8(nil, b), o) },
			}
			if kernelBF16() != portableBF16 || r.IntN(20) == 0 { // without a plan in portable Go
				results["GemmBF16"] = func(c Matrix, p *Pool) { GemmBF16(p, c, a, b, o) }
			}
			if kernel != generic {
				results["shaken"] = func(c Matrix, p *Pool) {
					x := product{c: c, a: a, b: b, o: o}
					if r.IntN(3) == 0 {
						x.packed = Pack(nil, b).data
					}
					q := x.shape(p.Threads())
					x.plan = new(plan)
					planProduct(x.plan, &q, &machineLimits)
					shake(r, x.plan, q)
					x.run(p, new(workspace))
				}
			}
			wants := map[string][]float32{}
			for _, threads := range []int{1, 3} {
				for name, multiply := range results {
					c := New(m, n)
					for i := range m {
						copy(c.Row(i), before.Row(i))
					}
					reference := name
					if name == "shaken" {
						reference = "Gemm"
					}
					if wants[reference] == nil {
						machineLimits = newLimits(defaultCaches)
						want := New(m, n)
						copy(want.Data, c.Data)
						results[reference](want, nil)
						wants[reference] = want.Data
					}
					machineLimits = randomLimits(r)
					// Workers share a small product even if they are parked.
					pools[3].alone.Store(1023)
					multiply(c, pools[threads])
					for i, x := range c.Data {
						if want := wants[reference][i]; math.Float32bits(x) != math.Float32bits(want) {
							t.Fatalf("%s of %d × %d × %d (strides %d and %d, %d and %d), %d threads: C[%d, %d] is %x, want %x with the limits\n%+v",
								name, m, n, k, a.RowStride, a.ColStride, b.RowStride, b.ColStride, threads, i/n, i%n, x, want, machineLimits)
						}
					}
				}
			}
		}
	})
}

// Strips cover the rows, with or without all rows of the tile in the first of two.
func TestDivideRows(t *testing.T) {
	for _, tile := range []int{6, 8, 12} {
		for n := 1; n < 50; n++ {
			for _, fill := range []bool{false, true} {
				d := divideRows(n, tile)
				if fill {
					d.fillFirst()
				}
				sum := 0
				for i := range d.strips {
					rows := d.rows(i)
					if sum += rows; rows < 1 || rows > tile || fill && i == 0 && d.strips == 2 && rows != tile {
						t.Errorf("%d rows in strips of %d: strip %d has %d rows", n, tile, i, rows)
					}
				}
				if sum != n {
					t.Errorf("%d rows in strips of %d: the strips have %d rows", n, tile, sum)
				}
			}
		}
	}
}

func TestCachesOf(t *testing.T) {
	for name, c := range map[string]struct {
		leaves []cpuidLeaf
		want   cacheSizes
	}{
		"Zen 4, guest on an EPYC": {[]cpuidLeaf{{0x121, 0x01C0003F, 0x3F}, {0x122, 0x01C0003F, 0x3F}, {0x143, 0x01C0003F, 0x7FF}, {0x4163, 0x03C0003F, 0x7FFF}},
			cacheSizes{32 << 10, 1 << 20, 32 << 20, 4 << 10}},
		"48 KB of 12 ways, 2 MB of 16 ways for the two threads of a core, 260 MB of 20 ways": {
			[]cpuidLeaf{{0x4121, 0x02C0003F, 0x3F}, {0x4122, 0x01C0003F, 0x3F}, {0x4143, 0x03C0003F, 0x7FF}, {0xFC163, 0x04C0003F, 0x33FFF}},
			cacheSizes{48 << 10, 2 << 20, 260 << 20, 4 << 10}},
		"4 MB for two cores of two threads": {[]cpuidLeaf{{0x121, 0x01C0003F, 0x3F}, {0xC143, 0x03C0003F, 0xFFF}},
			cacheSizes{32 << 10, 2 << 20, 32 << 20, 4 << 10}},
		"nothing":               {nil, defaultCaches},
		"implausible sizes":     {[]cpuidLeaf{{0x121, 0, 0}, {0x143, 0, 0}, {0x163, 0xFFFFFFFF, 0xFFFFFFFF}}, defaultCaches},
		"an instruction cache":  {[]cpuidLeaf{{0x122, 0x03C0003F, 0x3F}}, defaultCaches},
		"a fourth-level cache":  {[]cpuidLeaf{{0x183, 0x03C0003F, 0x1FFFF}}, defaultCaches},
		"a unified L1, no data": {[]cpuidLeaf{{0x123, 0x03C0003F, 0x3F}}, defaultCaches},
		"an L2 for data only":   {[]cpuidLeaf{{0x141, 0x03C0003F, 0x7FF}}, defaultCaches},
		"an L1 of 2 ways":       {[]cpuidLeaf{{0x121, 0x00C0003F, 0x7F}}, cacheSizes{32 << 10, 1 << 20, 32 << 20, 8 << 10}},
	} {
		if got := cachesOf(c.leaves); got != c.want {
			t.Errorf("%s: cachesOf = %+v, want %+v", name, got, c.want)
		}
	}
	if c := caches(); c.l1 < 8<<10 || c.l2 < 64<<10 || c.l3 < 1<<20 || c.l1Way < 64 {
		t.Errorf("caches() = %+v, want plausible sizes", c)
	}
}
