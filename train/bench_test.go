package train

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// peak is what one core reaches in a loop of register-only multiply-adds, in GFLOP/s.
var peak = sync.OnceValue(func() float64 { return mat.MeasurePeak(100 * time.Millisecond) })

// BenchmarkStep is a whole training step: batch, forward with dropout, loss, backward, clipping, Adam. %peak
// counts the model's useful operations (Config.TrainFLOPs) against the limit of all threads' cores in float32; MB is the memory
// that the program has from the system: weights, gradients, moments and activations make almost all of it.
func BenchmarkStep(b *testing.B) {
	for _, w := range []struct {
		preset                 string
		vocab, pairs, src, tgt int // src and tgt with EOS
	}{
		{"base", 10000, 32, 32, 32},
		{"tiny", 8000, 107, 14, 14},
		{"tiny", 8000, 292, 14, 14},
	} {
		for _, f := range []struct {
			threads int
			bf16    bool
		}{{1, false}, {1, true}, {2, false}, {2, true}} {
			threads, name := f.threads, fmt.Sprintf("preset=%s/pairs=%d/len=%d/threads=%d", w.preset, w.pairs, w.src, f.threads)
			if f.bf16 {
				name += "/bf16=" + layer.BF16.InForce()
			}
			b.Run(name, func(b *testing.B) {
				c, _ := model.Preset(w.preset)
				c.SrcVocab, c.TgtVocab = w.vocab, w.vocab
				r := rand.New(rand.NewPCG(1, 1))
				ids := func(n int) []int32 {
					s := make([]int32, n-1)
					for i := range s {
						s[i] = int32(model.EOS + 1 + r.IntN(w.vocab-model.EOS-1))
					}
					return s
				}
				data, batch := Data{Train: new(Pairs)}, new(model.Batch)
				for range w.pairs {
					src, tgt := ids(w.src), ids(w.tgt)
					data.Train.Add(src, tgt)
					batch.Append(src, tgt)
				}
				o := DefaultOptions()
				o.Steps, o.Tokens, o.MaxLen, o.ValidEvery, o.BF16 = 1<<30, w.pairs*w.tgt, w.tgt, 0, f.bf16
				run, err := newRun(newModel(b, c), pool(b, threads), data, o, nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := run.begin(); err != nil {
					b.Fatal(err)
				}
				step := func() {
					if err := run.step(); err != nil {
						b.Fatal(err)
					}
				}
				step()
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
				perSecond := float64(b.N) / b.Elapsed().Seconds()
				gflops := c.TrainFLOPs(batch) * perSecond / 1e9
				b.ReportMetric(gflops, "GFLOP/s")
				b.ReportMetric(100*gflops/peak()/float64(threads), "%peak")
				b.ReportMetric(float64(len(batch.Src)+len(batch.TgtIn))*perSecond, "tokens/s")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB")
			})
		}
	}
}
