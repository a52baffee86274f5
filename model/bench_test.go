package model

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"tfm/mat"
)

// uniformBatch has pairs of src and tgt tokens each, their marks counted.
func uniformBatch(c Config, pairs, src, tgt int) *Batch {
	r := rand.New(rand.NewPCG(1, 1))
	ids := func(n, v int) []int32 {
		s := make([]int32, n-1)
		for i := range s {
			s[i] = int32(EOS + 1 + r.IntN(v-EOS-1))
		}
		return s
	}
	b := new(Batch)
	for range pairs {
		b.Append(ids(src, c.SrcVocab), ids(tgt, c.TgtVocab))
	}
	return b
}

// peak is what one core reaches in a loop of register-only FMA, in GFLOP/s.
var peak = sync.OnceValue(func() float64 { return mat.MeasurePeak(50 * time.Millisecond) })

// BenchmarkTrainStep is forward and backward with dropout, without the optimizer (see package train).
func BenchmarkTrainStep(b *testing.B) {
	for _, w := range []struct {
		preset                 string
		vocab, pairs, src, tgt int
	}{
		{"base", 10000, 32, 32, 32},
		{"tiny", 8000, 107, 14, 14},
	} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("preset=%s/pairs=%d/len=%d/threads=%d", w.preset, w.pairs, w.src, threads), func(b *testing.B) {
				c, _ := Preset(w.preset)
				c.SrcVocab, c.TgtVocab = w.vocab, w.vocab
				m := newModel(b, c)
				p := mat.NewPool(threads)
				defer p.Close()
				pass, batch := NewPass(m, p), uniformBatch(c, w.pairs, w.src, w.tgt)
				pass.Train(batch, 1, 1e-3)
				b.ReportAllocs()
				for b.Loop() {
					pass.Train(batch, 1, 1e-3)
				}
				perSecond := float64(b.N) / b.Elapsed().Seconds()
				gflops := c.TrainFLOPs(batch) * perSecond / 1e9
				b.ReportMetric(gflops, "GFLOP/s")
				b.ReportMetric(100*gflops/float64(min(threads, runtime.NumCPU()))/peak(), "%peak")
				b.ReportMetric(float64(len(batch.Src)+len(batch.TgtIn))*perSecond, "tokens/s")
				b.ReportMetric(float64(pass.Bytes())/1e6, "MB-activations")
			})
		}
	}
}
