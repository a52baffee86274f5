package mat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkVec measures every vector kernel in assembly and in portable Go, for vectors in the L1
// or L2 cache. MB/s count each vector once, whether read, written or both: most of these kernels
// are limited by memory or by the cost of a call. %peak is relative to the peak rate of arithmetic.
func BenchmarkVec(b *testing.B) {
	defer func(k isa) { kernel = k }(kernel)
	for _, c := range vecCases {
		for _, n := range []int{16, 50, 64, 128, 512, 4096} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			v, _ := unaligned(r, c.vectors, n, ordinary)
			if c.prepare != nil {
				c.prepare(v)
			}
			if c.steady != nil {
				c.steady(v)
			}
			a := []float32{0.5, 0.9, 0.1, 0.1} // keeps sums and products steady
			for _, k := range slices.Compact([]isa{supported[0], generic}) {
				kernel = k
				b.Run(fmt.Sprintf("op=%s/n=%d/kernel=%v", c.name, n, k), func(b *testing.B) {
					b.SetBytes(int64(4 * n * (c.vectors)))
					b.ReportAllocs()
					loopWarm(b, func() { c.kernel(v, a) })
					gelems := 1e-9 * float64(n) * float64(b.N) / b.Elapsed().Seconds()
					b.ReportMetric(gelems, "Gelem/s")
					b.ReportMetric(gelems*float64(c.flops), "GFLOP/s")
					b.ReportMetric(100*gelems*float64(c.flops)/peak(), "%peak")
				})
			}
		}
	}
}
