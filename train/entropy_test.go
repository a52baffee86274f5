package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tfm/model"
)

func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		weights []float32
		want    float64
	}{
		{[]float32{1}, 0},
		{[]float32{0, 1, 0}, 0},
		{[]float32{0.5, 0, 0.5}, math.Ln2},
		{[]float32{0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125}, 3 * math.Ln2},
		{[]float32{0.75, 0.25}, 2*math.Ln2 - 0.75*math.Log(3)},
		{[]float32{1.0000001}, 0},
	} {
		if got := entropy(c.weights); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("entropy(%v) = %v, want %v", c.weights, got, c.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	for _, x := range []float64{0.22, 0, 0.01, BucketWidth, 0.06, 0.23} {
		h.add(x)
	}
	if !slices.Equal(h.Counts, []int{3, 1, 0, 0, 2}) || h.Min != 0 || h.Max != 0.23 || math.Abs(h.Sum-0.57) > 1e-12 || math.Abs(h.SumSquares-0.1075) > 1e-12 {
		t.Errorf("histogram %+v", h)
	}
}

// A decoder with SSRUs has no self-attention, so its entropies list no heads of it.
func TestEntropiesOfSSRUs(t *testing.T) {
	c := smallConfig()
	c.Autoreg = model.SSRU
	o := smallOptions(3)
	o.ValidEvery, o.Entropies = 3, true
	mustRun(t, context.Background(), newModel(t, c), pool(t, 1), copyData(), o, func(e Event) {
		for _, h := range e.Entropies {
			if len(h.Counts) == 0 || h.Attention == model.DecoderSelf {
				t.Errorf("%s, layer %d, head %d: counts %v", h.Attention, h.Layer, h.Head, h.Counts)
			}
		}
	})
}

// The entropies of a validation count every query of every head once and do not exceed the maximum,
// log of the number of keys. Computing them changes neither validations nor weights.
func TestEntropiesOfARun(t *testing.T) {
	c := smallConfig()
	c.DecoderLayers = 2
	run := func(entropies bool) (validations []Validation, events []Event, weights []float32) {
		o := smallOptions(6)
		o.ValidEvery, o.Entropies = 3, entropies
		m := newModel(t, c)
		mustRun(t, context.Background(), m, pool(t, 2), copyData(), o, func(e Event) {
			if e.Kind == Validated {
				e.Valid.Took = 0
				validations, events = append(validations, e.Valid), append(events, e)
			}
		})
		return validations, events, m.Params.W
	}
	want, plain, weights := run(false)
	got, events, again := run(true)
	wantSameWeights(t, "with entropies", again, weights)
	if !slices.Equal(got, want) || len(events) != 2 || plain[0].Entropies != nil {
		t.Fatalf("validations with entropies %+v, want %+v", got, want)
	}
	tokens, longest := 0, 0
	for i, valid := 0, copyData().Valid; i < valid.Len(); i++ {
		n := len(valid.Src(i)) + 1 // with EOS, or BOS
		tokens, longest = tokens+n, max(longest, n)
	}
	for _, e := range events {
		var heads []string
		for _, h := range e.Entropies {
			heads = append(heads, fmt.Sprintf("%s %d %d", h.Attention, h.Layer, h.Head))
			count := 0
			for _, n := range h.Counts {
				count += n
			}
			if count != tokens || h.Max > math.Log(float64(longest))+1e-6 || h.Min < 0 || !(h.Sum > 0) || len(h.Counts) != int(math.Ceil(h.Max/BucketWidth)) {
				t.Errorf("%d queries, want %d: %+v", count, tokens, h)
			}
			if first := h.Counts[0] >= 8; h.Attention == model.DecoderSelf && (h.Min != 0 || !first) {
				t.Errorf("the first query of each of the 8 sentences has one key, want entropy 0: %+v", h)
			}
		}
		if want := []string{"encoder.self 0 0", "encoder.self 0 1", "decoder.self 0 0", "decoder.self 0 1", "decoder.self 1 0", "decoder.self 1 1",
			"decoder.cross 0 0", "decoder.cross 0 1", "decoder.cross 1 0", "decoder.cross 1 1"}; !slices.Equal(heads, want) {
			t.Errorf("heads %q, want %q", heads, want)
		}
	}
	if &events[0].Entropies[0] == &events[1].Entropies[0] {
		t.Error("two events share a list of entropies")
	}
}
