package train

import (
	"context"
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

// With ByLoss the validation with the lowest loss is the best, whatever its BLEU.
func TestByLoss(t *testing.T) {
	better := func(byLoss bool) bool {
		high := Validation{Step: 1, NLL: 2, Loss: 2, HasBLEU: true, BLEU: 30, ByLoss: byLoss}
		return Validation{Step: 2, NLL: 1, Loss: 1, HasBLEU: true, BLEU: 20, ByLoss: byLoss}.betterThan(high)
	}
	if better(false) || !better(true) {
		t.Errorf("a lower loss with a lower BLEU is better: %v, by loss %v; want false, true", better(false), better(true))
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
