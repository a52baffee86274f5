package train_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"tfm/internal/bench"
	"tfm/layer"
	"tfm/mat"
)

// peak returns the GFLOP/s of one core in a loop of register-only multiply-adds.
var peak = sync.OnceValue(func() float64 { return mat.MeasurePeak(100 * time.Millisecond) })

// BenchmarkStep measures a complete training step: batch, forward with dropout, loss, backward,
// clipping, Adam. %peak is the ratio of Config.TrainFLOPs per second to the float32 peak of all
// threads. MB is the memory of the process, almost all of it weights, gradients, moments and
// activations.
func BenchmarkStep(b *testing.B) {
	for _, w := range []struct {
		preset            string
		vocab, pairs, len int // len with EOS
	}{
		{"base", 10000, 32, 32},
		{"tiny", 8000, 107, 14},
		{"tiny", 8000, 292, 14},
	} {
		for _, f := range []struct {
			threads int
			bf16    bool
		}{{1, false}, {1, true}, {2, false}, {2, true}} {
			name := fmt.Sprintf("preset=%s/pairs=%d/len=%d/threads=%d", w.preset, w.pairs, w.len, f.threads)
			if f.bf16 {
				name += "/bf16=" + layer.BF16.Kernel()
			}
			b.Run(name, func(b *testing.B) {
				pool := mat.NewPool(f.threads)
				defer pool.Close()
				b.ReportAllocs()
				var flops, tokens float64 // per step
				work := bench.EqualPairs(w.preset, w.vocab, w.pairs, w.len)
				work.BF16 = f.bf16
				for step, err := range work.Steps(pool) {
					if err != nil {
						b.Fatal(err)
					}
					flops, tokens = step.FLOPs, float64(step.Src+step.Tgt)
					if !b.Loop() { // the first call starts the timer, after the first step
						break
					}
				}
				perSecond := float64(b.N) / b.Elapsed().Seconds()
				gflops := flops * perSecond / 1e9
				b.ReportMetric(gflops, "GFLOP/s")
				b.ReportMetric(100*gflops/peak()/float64(f.threads), "%peak")
				b.ReportMetric(tokens*perSecond, "tokens/s")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB")
			})
		}
	}
}
