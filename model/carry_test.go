package model

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// carried are ids that are one of the old ones, the mean of some, and none.
var carried = [][]int32{{0}, {1}, {2}, {5}, {3, 4, 7}, nil, {6, 6}}

func TestCarryOver(t *testing.T) {
	for _, ties := range [][2]string{{TieAll, TieAll}, {TieDecoder, TieDecoder}, {TieNone, TieNone}, {TieAll, TieDecoder}, {TieAll, TieNone}, {TieDecoder, TieNone}, {TieNone, TieAll}} {
		was, is := toy(), toy()
		was.Tie, is.Tie = ties[0], ties[1]
		was.OutputBias, is.OutputBias = true, true
		is.SrcVocab, is.TgtVocab = len(carried), len(carried)
		src, tgt := carried, carried
		if is.Tie != TieAll {
			is.TgtVocab = 5
			tgt = [][]int32{{0}, {1}, {2}, {9, 8}, nil}
		}
		from, m := newModel(t, was), newModel(t, is)
		from.Init(7)
		for i := range from.Output.Bias.W {
			from.Output.Bias.W[i] = float32(i)
		}
		m.Init(8)
		before := newModel(t, is)
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
					if got := got[i*width+j]; math.Abs(float64(got)-want) > 1e-6*(1+math.Abs(want)) { // a few roundings
						t.Errorf("%v: %s: row %d of %v is %v, want %v", ties, name, i, ids, got, want)
						return
					}
				}
			}
		}
		d := is.DModel
		rows("source", m.SrcEmbed.E.W, from.SrcEmbed.E.W, before.SrcEmbed.E.W, src, d)
		if is.Tie != TieAll || was.Tie == TieAll { // or what is one matrix is the source's
			rows("target", m.TgtEmbed.E.W, from.TgtEmbed.E.W, before.TgtEmbed.E.W, tgt, d)
			rows("output", m.Output.E.W, from.Output.E.W, before.Output.E.W, tgt, d)
		}
		rows("bias", m.Output.Bias.W, from.Output.Bias.W, before.Output.Bias.W, tgt, 1)
		for _, p := range m.Params.List {
			if !strings.Contains(p.Name, "embedding") && !strings.HasPrefix(p.Name, "output.") {
				for _, q := range from.Params.List {
					if p.Name == q.Name && !slices.Equal(p.W, q.W) {
						t.Errorf("%v: %s is not copied", ties, p.Name)
					}
				}
			}
		}
	}
}

// A model carried over to its own vocabulary is the same in every bit.
func TestCarryOverToItself(t *testing.T) {
	same := make([][]int32, toy().SrcVocab)
	for i := range same {
		same[i] = []int32{int32(i)}
	}
	from, m := newModel(t, toy()), newModel(t, toy())
	from.Init(7)
	m.Init(8)
	if err := m.CarryOver(from, same, same); err != nil || !bitsEqual(m.Params.W, from.Params.W) {
		t.Errorf("other weights, or %v", err)
	}
	deep, bias := toy(), toy()
	deep.EncoderLayers++
	bias.OutputBias = true
	wide := toy()
	wide.DModel *= 2
	for want, c := range map[string]Config{
		`tensor "encoder.` + string(rune('0'+toy().EncoderLayers)): deep,
		`tensor "output.bias" is missing`:                          bias,
		`tensor "embedding" is [`:                                  wide,
	} {
		if err := newModel(t, c).CarryOver(from, same, same); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
