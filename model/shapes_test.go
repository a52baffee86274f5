package model

import (
	"testing"

	"tfm/mat"
)

// The shapes that published implementations print. A ragged batch of equal lengths has the rows of
// their batch.
func TestShapesOfTheSources(t *testing.T) {
	base, err := Preset("base")
	if err != nil {
		t.Fatal(err)
	}
	// All layers have the same shape.
	base.EncoderLayers, base.DecoderLayers = 1, 1
	narrow := base // fast everywhere; the second case tests the number of rows, not the width
	narrow.DModel, narrow.DFF = 32, 32
	for _, c := range []struct {
		config                 Config
		sentences, src, tgt, d int
		vocabulary             int
	}{{base, 32, 10, 15, 512, 5000}, {narrow, 128, 30, 35, 32, 500}} {
		if c.d == 512 && mat.Kernel() != "avx512" && mat.Kernel() != "avx2" {
			continue // 7 GFLOP: too slow for the portable kernels and emulated machines
		}
		c.config.SrcVocab, c.config.TgtVocab, c.config.Tie = c.vocabulary, c.vocabulary, TieNone
		m, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		m.AllocWeights()
		m.Init(1)
		b := new(Batch)
		for range c.sentences {
			b.Append(make([]int32, c.src-1), make([]int32, c.tgt-1)) // plus EOS or BOS
		}
		p := mat.NewPool(2)
		pass := wholeBatch(m, p, b, false)
		x := pass.forward(b, dropouts{}, dropouts{})
		logits := mat.New(x.Rows, c.config.TgtVocab)
		m.Output.Logits(p, logits, x)
		p.Close()
		for name, s := range map[string]struct {
			m         mat.Matrix
			len, cols int
		}{"encoder": {pass.act.memory, c.src, c.d}, "decoder": {x, c.tgt, c.d}, "logits": {logits, c.tgt, c.vocabulary}} {
			if s.m.Rows != c.sentences*s.len || s.m.Cols != s.cols {
				t.Errorf("%s: shape [%d, %d], want [%d, %d, %d]", name, s.m.Rows, s.m.Cols, c.sentences, s.len, s.cols)
			}
		}
	}
}
