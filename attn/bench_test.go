package attn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tfm/attn"
	"tfm/mat"
)

// Scaled dot-product attention over a batch of sentences of equal length, with queries, keys and
// values side by side, as in Self.
func BenchmarkScaledDotProductHeads(b *testing.B) {
	for _, c := range []struct{ tokens, heads, width, sentences int }{
		{14, 4, 32, 292}, {32, 8, 64, 32}, {64, 8, 64, 16}, {256, 8, 64, 4},
	} {
		for _, causal := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 2))
			d, n := c.heads*c.width, c.tokens*c.sentences
			starts := make([]int32, c.sentences+1)
			for s := range starts {
				starts[s] = int32(s * c.tokens)
			}
			rag := attn.Ragged{QStarts: starts, KStarts: starts, Causal: causal}
			qkv, dqkv := random(r, n, 3*d), mat.New(n, 3*d)
			split := func(m mat.Matrix) attn.Inputs {
				return attn.Inputs{Q: m.ColRange(0, d), K: m.ColRange(d, 2*d), V: m.ColRange(2*d, 3*d)}
			}
			in, grad, ctx, dctx := split(qkv), split(dqkv), mat.New(n, d), random(r, n, d)
			for name, f := range map[string]func(){
				"forward":  func() { attn.ScaledDotProductHeads(nil, ctx, in, c.heads, rag) },
				"backward": func() { attn.ScaledDotProductHeadsGrad(nil, grad, dctx, in, c.heads, rag) },
			} {
				b.Run(fmt.Sprintf("tokens=%d/width=%d/causal=%v/%s", c.tokens, c.width, causal, name), func(b *testing.B) {
					for b.Loop() {
						f()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.sentences*c.heads), "ns/head")
				})
			}
		}
	}
}
