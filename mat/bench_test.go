package mat

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var peaks sync.Map // isa → GFLOP/s

// peak returns the peak rate of one core with the kernels in use, measured once.
func peak() float64 {
	p, ok := peaks.Load(kernel)
	if !ok {
		p, _ = peaks.LoadOrStore(kernel, MeasurePeak(50*time.Millisecond))
	}
	return p.(float64)
}

// benchKernels is forEachKernel for benchmarks. It omits portable Go.
func benchKernels(b *testing.B, f func(b *testing.B)) {
	defer func(k isa) { kernel = k }(kernel)
	for _, k := range supported {
		if k == generic && len(supported) > 1 {
			continue
		}
		kernel = k
		b.Run("kernel="+k.String(), f)
	}
}

// BenchmarkGemm covers the products of a Transformer: the shapes that README.md compares with other
// libraries, with B plain, transposed and packed, and those of the gradients, with A transposed.
// %peak is relative to the peak rate of the threads' cores.
func BenchmarkGemm(b *testing.B) {
	type shape struct{ m, n, k int }
	forward := []shape{{512, 512, 512}, {1024, 1024, 1024}, {1024, 512, 512}, {1024, 2048, 512}, {1024, 512, 2048}, {4096, 512, 512},
		{1024, 8000, 512}, {512, 2048, 4096}, {4096, 128, 128}, {4096, 256, 128}, {4096, 128, 256}, {64, 64, 64},
		{32, 32, 64}, {128, 128, 64}, {1, 512, 512}, {1, 2048, 512}, {1, 512, 2048}, {1, 32000, 512},
		{4, 512, 512}, {8, 2048, 512}, {32, 512, 512}, {128, 32000, 512}}
	gradient := []shape{{128, 128, 4096}, {512, 512, 1024}, {512, 2048, 1024}, {2048, 512, 1024}, {10000, 512, 1024}}
	attention := []shape{{14, 14, 32}, {14, 32, 14}, {32, 32, 64}, {32, 64, 32}, {128, 64, 128}}
	for _, set := range []struct {
		form   string // of A and B: N plain, T transposed, P packed
		shapes []shape
	}{{"NN", forward}, {"NT", forward}, {"NP", forward}, {"TN", gradient}, {"NN", attention}, {"NT", attention}, {"TN", attention}} {
		for _, s := range set.shapes {
			// Small operands are views, as in attention: columns of one of three times
			// 8 heads.
			gap := 0
			if s.m <= 128 && s.k <= 64 {
				gap = 3*8*s.k - s.k
			}
			x := func(rows, cols int, t byte) Matrix {
				if t == 'T' {
					return random(cols, rows+gap).ColRange(0, rows).T()
				}
				return random(rows, cols+gap).ColRange(0, cols)
			}
			c, a, w := New(s.m, s.n), x(s.m, s.k, set.form[0]), x(s.k, s.n, set.form[1])
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("form=%s/m=%d/n=%d/k=%d/threads=%d", set.form, s.m, s.n, s.k, threads), func(b *testing.B) {
					benchKernels(b, func(b *testing.B) {
						multiply := func() { Gemm(pools[threads], c, a, w, GemmOptions{}) }
						if set.form[1] == 'P' {
							packed := Pack(nil, w)
							multiply = func() { GemmPacked(pools[threads], c, a, packed, GemmOptions{}) }
						}
						loopWarm(b, multiply)
						reportFLOPS(b, 2*float64(s.m)*float64(s.n)*float64(s.k), threads)
					})
				})
			}
		}
	}
}

// loopWarm measures f without its first call, which faults in the pages of the result and allocates
// scratch memory.
func loopWarm(b *testing.B, f func()) {
	f()
	for b.Loop() {
		f()
	}
}

// reportFLOPS reports the rate for flops operations an iteration.
func reportFLOPS(b *testing.B, flops float64, threads int) {
	gflops := 1e-9 * flops * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(gflops, "GFLOP/s")
	b.ReportMetric(100*gflops/peak()/float64(threads), "%peak")
}

func random(rows, cols int) Matrix {
	m, r := New(rows, cols), rand.New(rand.NewPCG(7, 8))
	for i := range m.Data {
		m.Data[i] = r.Float32() - 0.5
	}
	return m
}
