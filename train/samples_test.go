package train

import (
	"context"
	"math"
	"slices"
	"testing"
)

// Every validation has samples of the same sentences, from short to long, with their references.
func TestSamples(t *testing.T) {
	for pairs, want := range map[int]int{1: 1, 3: 3, 5: 5, 23: sampleCount} {
		d := copyData()
		d.Valid = copyTask(pairs, 6, 2)
		d.References, d.DetokenizeSource = references(d.Valid), spell
		o := smallOptions(4)
		o.ValidEvery = 2
		var first []Sample
		validations := 0
		mustRun(t, context.Background(), newModel(t, smallConfig()), pool(t, 1), d, o, func(e Event) {
			if e.Kind != Validated {
				return
			}
			if validations++; first == nil {
				first = e.Samples
			}
			if e.Distinct < 1 || e.Distinct > pairs {
				t.Errorf("%d different hypotheses of %d pairs", e.Distinct, pairs)
			}
			if len(e.Samples) != want {
				t.Fatalf("%d samples of %d pairs, want %d", len(e.Samples), pairs, want)
			}
			for i, s := range e.Samples {
				if s.Source != s.Reference || !slices.Contains(d.References, s.Reference) || s.Source != first[i].Source || i > 0 && len(s.Source) < len(first[i-1].Source)-2 {
					t.Errorf("sample %d of %d pairs: %+v", i, pairs, s)
				}
			}
		})
		if validations != 2 {
			t.Errorf("%d validations, want 2", validations)
		}
	}
}

// The BLEU of a part is that of a validation on the part alone.
func TestValidParts(t *testing.T) {
	bleu := func(valid *Pairs, parts []ValidPart) (e Event) {
		d := copyData()
		d.Valid, d.ValidParts = valid, parts
		d.References = references(valid)
		o := smallOptions(120)
		o.ValidEvery = 120
		mustRun(t, context.Background(), newModel(t, smallConfig()), pool(t, 1), d, o, func(v Event) {
			if v.Kind == Validated {
				e = v
			}
		})
		return e
	}
	short, long := copyTask(30, 3, 2), copyTask(20, 6, 3)
	both := &Pairs{}
	for _, p := range []*Pairs{short, long} {
		for i := range p.Len() {
			both.Add(p.Src(i), p.Tgt(i))
		}
	}
	parts := bleu(both, []ValidPart{{Name: "short", Pairs: 30}, {Name: "long", Pairs: 20}}).Parts
	want := []ValidPart{{"short", 30, bleu(short, nil).Valid.BLEU}, {"long", 20, bleu(long, nil).Valid.BLEU}}
	if !slices.Equal(parts, want) || want[0].BLEU == want[1].BLEU {
		t.Errorf("parts %v, want %v", parts, want)
	}
}

// A step is better by its BLEU, or ByLoss by its NLL, an average by either. NaN is never best.
func TestBetterThan(t *testing.T) {
	nan := math.NaN()
	best := Validation{Step: 1, HasBLEU: true, BLEU: 41, Loss: 2, NLL: 1.5}
	for _, c := range []struct {
		bleu, loss, nll float64
		better, average bool // of a step's weights, of an average
		byLoss          bool
	}{
		{41.1, 2, 1.6, true, true, false}, {41, 2, 1.4, true, true, true}, {40.9, 2, 1.4, false, true, true}, {40.9, 2, 1.5, false, false, false},
		{41, 2, 1.5, false, false, false}, {40.9, 2, nan, false, false, false}, {50, nan, nan, false, false, false}, {40.9, nan, 1.4, false, false, false},
	} {
		v, w := Validation{Step: 2, HasBLEU: true, BLEU: c.bleu, Loss: c.loss, NLL: c.nll}, best
		if v.betterThan(w) != c.better || v.averageBetterThan(w) != c.average || v.betterThan(Validation{}) != finite(c.loss+c.nll) {
			t.Errorf("%+v: better %v, as an average %v, than none %v", c, v.betterThan(w), v.averageBetterThan(w), v.betterThan(Validation{}))
		}
		if v.ByLoss, w.ByLoss = true, true; v.betterThan(w) != c.byLoss {
			t.Errorf("%+v: better by loss: %v", c, !c.byLoss)
		}
	}
	d := copyData()
	d.Valid, d.ByLoss = copyTask(20, 6, 2), true
	d.References = references(d.Valid)
	o := smallOptions(4)
	o.ValidEvery = 2
	if best := mustRun(t, context.Background(), newModel(t, smallConfig()), pool(t, 1), d, o, func(Event) {}).Best; !best.ByLoss || !best.HasBLEU {
		t.Errorf("best %+v", best)
	}
}
