package model

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// carried lists ids that replace one id, several ids, and none.
var carried = [][]int32{{0}, {1}, {2}, {5}, {3, 4, 7}, nil, {6, 6}}

func TestCarryOver(t *testing.T) {
	for _, ties := range [][2]string{{TieAll, TieAll}, {TieDecoder, TieDecoder}, {TieNone, TieNone}, {TieAll, TieDecoder}, {TieAll, TieNone}, {TieDecoder, TieNone}, {TieNone, TieAll}} {
		old, c := toy(), toy()
		old.Tie, c.Tie = ties[0], ties[1]
		old.OutputBias, c.OutputBias = true, true
		c.SrcVocab, c.TgtVocab = len(carried), len(carried)
		src, tgt := carried, carried
		if c.Tie != TieAll {
			c.TgtVocab = 5
			tgt = [][]int32{{0}, {1}, {2}, {9, 8}, nil}
		}
		from, m := newModel(t, old), newModel(t, c)
		from.Init(7)
		for i := range from.Output.Bias.W {
			from.Output.Bias.W[i] = float32(i)
		}
		m.Init(8)
		before := newModel(t, c)
		before.Init(8)
		if err := m.CarryOver(from, src, tgt); err != nil {
			t.Fatal(err)
		}
		rows := func(name string, got, old, fresh []float32, rows [][]int32, width int) {
			t.Helper()
			for i, ids := range rows {
				for j := range width {
					want := float64(fresh[i*width+j])
					if len(ids) > 0 {
						want = 0
						for _, id := range ids {
							want += float64(old[int(id)*width+j]) / float64(len(ids))
						}
					}
					// A mean has a few roundings of 6e-8.
					if got := got[i*width+j]; math.Abs(float64(got)-want) > 1e-6*(1+math.Abs(want)) {
						t.Errorf("ties %v: %s: row %d, from ids %v, has %v, want %v", ties, name, i, ids, got, want)
						return
					}
				}
			}
		}
		d := c.DModel
		rows("source", m.SrcEmbed.E.W, from.SrcEmbed.E.W, before.SrcEmbed.E.W, src, d)
		if c.Tie != TieAll || old.Tie == TieAll { // or all three come from the source embedding
			rows("target", m.TgtEmbed.E.W, from.TgtEmbed.E.W, before.TgtEmbed.E.W, tgt, d)
			rows("output", m.Output.E.W, from.Output.E.W, before.Output.E.W, tgt, d)
		}
		rows("bias", m.Output.Bias.W, from.Output.Bias.W, before.Output.Bias.W, tgt, 1)
		for _, p := range m.Params.List {
			if !strings.Contains(p.Name, "embedding") && !strings.HasPrefix(p.Name, "output.") {
				for _, q := range from.Params.List {
					if p.Name == q.Name && !slices.Equal(p.W, q.W) {
						t.Errorf("ties %v: %s differs, want a copy", ties, p.Name)
					}
				}
			}
		}
	}
}

// CarryOver to a model with the same vocabulary copies every bit.
// A model that another system made impossible pieces for can be trained further.
func TestCarryOverImpossiblePieces(t *testing.T) {
	c := toy()
	c.OutputBias = true
	from, m := newModel(t, c), newModel(t, c)
	from.Init(7)
	from.Output.Bias.W[5] = float32(math.Inf(-1))
	same := make([][]int32, c.TgtVocab)
	for i := range same {
		same[i] = []int32{int32(i)}
	}
	if err := m.CarryOver(from, same[:c.SrcVocab], same); err != nil {
		t.Fatal(err)
	}
	if got := m.Output.Bias.W[5]; got != impossibleBias {
		t.Errorf("bias %v, want %v", got, impossibleBias)
	}
	var b Batch
	b.Append([]int32{3, 4}, []int32{4, 3})
	loss := NewPass(m, nil).Train(&b, 1, 1)
	if !(loss.Sum > 0 && loss.Sum < 1e4) {
		t.Errorf("loss %v, want a finite one", loss.Sum)
	}
}

func TestCarryOverToItself(t *testing.T) {
	same := make([][]int32, toy().SrcVocab)
	for i := range same {
		same[i] = []int32{int32(i)}
	}
	from, m := newModel(t, toy()), newModel(t, toy())
	from.Init(7)
	m.Init(8)
	if err := m.CarryOver(from, same, same); err != nil || !bitsEqual(m.Params.W, from.Params.W) {
		t.Errorf("CarryOver returned %v, or changed a weight", err)
	}
	deep, bias := toy(), toy()
	deep.EncoderLayers++
	bias.OutputBias = true
	wide := toy()
	wide.DModel *= 2
	for want, c := range map[string]Config{
		`initial model: tensor "encoder.` + string(rune('0'+toy().EncoderLayers)): deep,
		`initial model: tensor "output.bias" is missing`:                          bias,
		`initial model: tensor "embedding" has shape [`:                           wide,
	} {
		if err := newModel(t, c).CarryOver(from, same, same); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
