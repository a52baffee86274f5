package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"tfm/layer"
	"tfm/model"
)

// wideConfig returns a configuration whose products are large enough for layer.BF16.
func wideConfig() model.Config {
	c := smallConfig()
	c.DModel, c.DFF = 64, 128
	return c
}

func bf16Options(steps int) Options {
	o := smallOptions(steps)
	o.BatchTokens, o.BF16 = 200, true
	return o
}

// Threads and a resume change no bit in bfloat16. Without bfloat16 instructions the weights equal
// those of float32.
func TestBF16ThreadsAndResumeChangeNoBit(t *testing.T) {
	o := bf16Options(8)
	o.Accumulate, o.ValidEvery, o.Dir = 2, 3, t.TempDir()
	direct := newModel(t, wideConfig())
	want := mustRun(t, context.Background(), direct, nil, copyData(), o, nil)
	counts := []int{1, 2, 3}
	if testing.Short() {
		counts = []int{3} // portable products are slow
	}
	for _, threads := range counts {
		o.Dir = t.TempDir()
		stopAt(t, 3, newModel(t, wideConfig()), pool(t, threads), copyData(), o)
		again := o
		again.Resume = true
		m := newModel(t, wideConfig())
		got := mustRun(t, context.Background(), m, pool(t, 4-threads), copyData(), again, nil)
		name := fmt.Sprint(threads, " threads, then ", 4-threads)
		wantSameCheckpoint(t, name, got.Checkpoint, want.Checkpoint)
		wantSameWeights(t, name, m.Params.W, direct.Params.W)
	}
	o.BF16, o.Dir = false, t.TempDir()
	m := newModel(t, wideConfig())
	mustRun(t, context.Background(), m, nil, copyData(), o, nil)
	if same := slices.Equal(m.Params.W, direct.Params.W); same != (layer.BF16.Kernel() == layer.Float32.Kernel()) {
		t.Errorf("weights equal those of float32: %v, with the kernel %s", same, layer.BF16.Kernel())
	}
}

// Validations are in float32, because the model is used in float32.
func TestBF16ValidatesInFloat32(t *testing.T) {
	o := bf16Options(4)
	o.ValidEvery = 4
	m := newModel(t, wideConfig())
	d := copyData()
	r := mustRun(t, context.Background(), m, nil, d, o, nil)
	batches, err := NewBatches(d.Valid, o.BatchTokens, o.MaxLen, 0)
	if err != nil {
		t.Fatal(err)
	}
	var loss model.Loss
	batch, pass := batches.buffer(), model.NewPass(m, nil)
	for range batches.Len() {
		batches.Next(&batch)
		loss = loss.Plus(pass.Evaluate(&batch))
	}
	if got, want := r.Best.NLL, loss.NLL/float64(loss.Tokens); math.Float64bits(got) != math.Float64bits(want) {
		t.Errorf("validation NLL = %v, want %v, that of float32", got, want)
	}
}

// The resume of a checkpoint that another kernel computed gives a warning.
func TestBF16OfAnotherProcessor(t *testing.T) {
	o := bf16Options(4)
	o.Dir = t.TempDir()
	r, err := newRun(newModel(t, wideConfig()), nil, copyData(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	if err := r.step(); err != nil {
		t.Fatal(err)
	}
	r.state.Products = "another processor's"
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	var warning error
	result := mustRun(t, context.Background(), newModel(t, wideConfig()), nil, copyData(), o, func(e Event) {
		if e.Kind == Started {
			warning = e.Warning
		}
	})
	wantError(t, warning, "the products of the checkpoint are another processor's, those of this run "+layer.BF16.Kernel())
	if got := open(t, result.Checkpoint).State.Products; got != layer.BF16.Kernel() {
		t.Errorf("Products of the last checkpoint = %q, want %q", got, layer.BF16.Kernel())
	}
}
