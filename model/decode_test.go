package model_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

func init() {
	model.Translate = func(m *model.Transformer, p *mat.Pool, srcs [][]int32) []model.Translation {
		d := decode.New(decode.NewWeights(m, p), p)
		list, err := d.Translate(context.Background(), srcs, decode.DefaultOptions())
		if err != nil {
			panic(err)
		}
		var translations []model.Translation
		for _, h := range list {
			translations = append(translations, model.Translation{Tokens: h.Tokens, Score: h.Score})
		}
		return translations
	}
}

// A decode step with cached keys and values has the bits of the pass over the whole sentence.
// Sentences begin at different steps, so that rows have different positions. Each forks every third
// step, and the next step continues the second of the two rows.
func TestCachedStepsEqualTheFullPassBitForBit(t *testing.T) {
	model.EachVariant(t, cachedStepsEqualTheFullPass)
}

func cachedStepsEqualTheFullPass(t *testing.T, m *model.Transformer) {
	c := m.Config
	b := model.RandomBatch(c, 5, 0, 7)
	long := make([]int32, c.MaxLen-1) // many pages of keys and values
	for i := range long {
		long[i] = int32(model.EOS + 1 + i%(min(c.SrcVocab, c.TgtVocab)-model.EOS-1))
	}
	b.Append(long, long)
	want := model.Logits(m, b)
	var sources [][]int32
	for s := range b.Sentences() {
		sources = append(sources, b.Src[b.SrcStarts[s]:b.SrcStarts[s+1]-1])
	}
	const delay = 2 // steps between the first steps of two sentences
	state := decode.NewState(decode.NewWeights(m, nil), nil)
	var handles []int32
	for range 2 { // the second time reuses memory
		handles = state.Add(handles[:0], sources...)
		parents := slices.Repeat([]int32{-1}, len(sources))
		checked := 0
		for step := range delay*len(sources) + c.MaxLen {
			var rows []decode.Row
			var expected []int // rows of want
			next := slices.Repeat([]int32{-1}, len(sources))
			for s := range sources {
				row := int(b.TgtStarts[s]) + step - delay*s
				if row < int(b.TgtStarts[s]) || row >= int(b.TgtStarts[s+1]) {
					continue
				}
				r := decode.Row{Source: handles[s], Token: b.TgtIn[row], Parent: parents[s]}
				if next[s] = 0; step%3 == 0 {
					rows, expected = append(rows, r), append(expected, row)
					next[s] = 1
				}
				rows, expected = append(rows, r), append(expected, row)
			}
			if parents = next; len(rows) == 0 {
				continue
			}
			logits := state.Step(rows)
			for i, row := range expected {
				if !slices.EqualFunc(logits.Row(i), want.Row(row), func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
					t.Fatalf("step %d, row %d, %+v:\n%v, want\n%v", step, i, rows[i], logits.Row(i), want.Row(row))
				}
				checked++
			}
		}
		if checked < len(b.TgtIn) {
			t.Fatalf("%d rows checked, want at least %d", checked, len(b.TgtIn))
		}
		for _, h := range handles {
			state.Remove(h)
		}
	}
}
