package mat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var peaks sync.Map // isa → GFLOP/s

// peak is the limit of one core with the kernels in force, measured once.
func peak() float64 {
	p, ok := peaks.Load(kernel)
	if !ok {
		p, _ = peaks.LoadOrStore(kernel, MeasurePeak(50*time.Millisecond))
	}
	return p.(float64)
}

// benchKernels is forEachKernel for benchmarks, without portable Go.
func benchKernels(b *testing.B, f func(b *testing.B)) {
	defer func(k isa) { kernel = k }(kernel)
	for _, k := range machine {
		if k == generic && len(machine) > 1 {
			continue
		}
		kernel = k
		b.Run("kernel="+k.String(), f)
	}
}

// BenchmarkGemm covers the products of a Transformer. %peak is of what the threads' cores can do.
func BenchmarkGemm(b *testing.B) {
	type shape struct{ m, n, k int }
	linear := []shape{{4096, 128, 128}, {4096, 256, 128}, {4096, 128, 256}, {4096, 384, 128},
		{1024, 512, 512}, {1024, 2048, 512}, {1024, 512, 2048}, {1024, 10000, 512}}
	gradient := []shape{{128, 128, 4096}, {512, 2048, 1024}, {10000, 512, 1024}}
	attention := []shape{{14, 14, 32}, {14, 32, 14}, {32, 32, 64}, {32, 64, 32}, {64, 64, 64}}
	var decode []shape
	for _, m := range []int{1, 2, 4, 8, 16, 32} {
		for _, w := range []shape{{m, 128, 128}, {m, 512, 512}, {m, 2048, 512}, {m, 512, 2048}, {m, 32000, 512}} {
			decode = append(decode, w)
		}
	}
	for _, set := range []struct {
		form    string
		shapes  []shape
		threads []int
	}{
		{"NN", linear, []int{1, 2}}, {"NT", linear, []int{1, 2}}, {"TN", linear, []int{1, 2}}, {"TN", gradient, []int{1, 2}},
		{"NN", attention, []int{1}}, {"NT", attention, []int{1}}, {"TN", attention, []int{1}},
		{"NN", decode, []int{1, 2}}, {"NT", decode, []int{1, 2}},
	} {
		for _, s := range set.shapes {
			// Small operands lie as attention has them, among the columns of three times the heads.
			gap := 0
			if s.m <= 64 && s.k <= 64 {
				gap = 3*8*s.k - s.k
			}
			x := func(rows, cols int, t byte) Matrix {
				if t == 'T' {
					return random(cols, rows+gap).ColRange(0, rows).T()
				}
				return random(rows, cols+gap).ColRange(0, cols)
			}
			c, a, w := New(s.m, s.n), x(s.m, s.k, set.form[0]), x(s.k, s.n, set.form[1])
			for _, threads := range set.threads {
				b.Run(fmt.Sprintf("form=%s/m=%d/n=%d/k=%d/threads=%d", set.form, s.m, s.n, s.k, threads), func(b *testing.B) {
					benchKernels(b, func(b *testing.B) {
						for b.Loop() {
							Gemm(pools[threads], c, a, w, Product{})
						}
						gflops := 2e-9 * float64(s.m) * float64(s.n) * float64(s.k) * float64(b.N) / b.Elapsed().Seconds()
						b.ReportMetric(gflops, "GFLOP/s")
						b.ReportMetric(100*gflops/peak()/float64(threads), "%peak")
					})
				})
			}
		}
	}
}

func random(rows, cols int) Matrix {
	m, r := New(rows, cols), rand.New(rand.NewPCG(7, 8))
	for i := range m.Data {
		m.Data[i] = r.Float32() - 0.5
	}
	return m
}

// BenchmarkEach is what a loop of two indices on two threads takes beyond one index, when loops come after
// a gap: a helper that has parked in the meantime has to be woken.
func BenchmarkEach(b *testing.B) {
	for _, gap := range []time.Duration{0, 20 * time.Microsecond, 100 * time.Microsecond, time.Millisecond} {
		b.Run(fmt.Sprintf("gap=%v", gap), func(b *testing.B) {
			p := NewPool(2)
			defer p.Close()
			var over []time.Duration
			for b.Loop() {
				for start := time.Now(); time.Since(start) < gap; {
				}
				start := time.Now()
				Each(p, 2, 1, nap{20 * time.Microsecond})
				over = append(over, time.Since(start)-20*time.Microsecond)
			}
			slices.Sort(over)
			b.ReportMetric(float64(over[len(over)/10]), "best-tenth-ns")
			b.ReportMetric(float64(over[len(over)/2]), "median-ns")
		})
	}
}

// nap is a loop whose every index takes a time.
type nap struct{ time.Duration }

func (n *nap) Rows(lo, hi int) {
	for range hi - lo {
		for start := time.Now(); time.Since(start) < n.Duration; {
		}
	}
}
