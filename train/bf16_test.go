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

// wideConfig makes products large enough for layer.BF16.
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

// How soon depends on the instructions: after 120 steps the loss is 0.013 with VDPBF16PS and 0.0007
// in float32, after 180 0.0005 and 0.0003.
func TestBF16LearnsToCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long under -short: trains a model to the end")
	}
	c := wideConfig()
	c.Dropout, c.LabelSmoothing = 0, 0
	d := copyData()
	d.Train = copyTask(24, 5, 1)
	d.Valid, d.References = d.Train, references(d.Train)
	o := bf16Options(180)
	o.ValidEvery, o.LR, o.Warmup = 60, 1e-2, 20
	r := mustRun(t, context.Background(), newModel(t, c), pool(t, 2), d, o, nil)
	if r.Best.BLEU < 99.99 || r.Best.NLL > 0.01 {
		t.Errorf("result %+v, expected BLEU 100 and a loss below 0.01, as in float32", r)
	}
}

// Threads and interruptions change no bit in bfloat16 either, and without instructions for it none
// differs from float32.
func TestBF16ThreadsAndResumeChangeNoBit(t *testing.T) {
	o := bf16Options(8)
	o.Accumulate, o.ValidEvery, o.Dir = 2, 3, t.TempDir()
	whole := newModel(t, wideConfig())
	want := mustRun(t, context.Background(), whole, nil, copyData(), o, nil)
	for _, threads := range []int{1, 2, 3} {
		o.Dir = t.TempDir()
		stopAt(t, 3, newModel(t, wideConfig()), pool(t, threads), o)
		again := o
		again.Resume = true
		m := newModel(t, wideConfig())
		got := mustRun(t, context.Background(), m, pool(t, 4-threads), copyData(), again, nil)
		name := fmt.Sprint(threads, " threads, then ", 4-threads)
		wantSameCheckpoint(t, name, got.Checkpoint, want.Checkpoint)
		wantSameWeights(t, name, m.Params.W, whole.Params.W)
	}
	o.BF16, o.Dir = false, t.TempDir()
	m := newModel(t, wideConfig())
	mustRun(t, context.Background(), m, nil, copyData(), o, nil)
	if same := slices.Equal(m.Params.W, whole.Params.W); same != (layer.BF16.Kernel() == layer.Float32.Kernel()) {
		t.Errorf("the weights are those of float32: %v; products are in %s", same, layer.BF16.Kernel())
	}
}

// Validations are in float32, as the finished model is used.
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
		t.Errorf("validation loss %v, in float32 %v", got, want)
	}
}

func TestBF16StepAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	o := bf16Options(1000)
	o.ValidEvery = 1000
	r, err := newRun(newModel(t, wideConfig()), pool(t, 2), copyData(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	step := func() {
		if err := r.step(); err != nil {
			t.Fatal(err)
		}
	}
	// The batches differ, and mat allocates what it packs at the first one of a size.
	for r.loader.Position().Epoch == 0 {
		step()
	}
	r.valid.run(context.Background(), 1)
	if n := testing.AllocsPerRun(40, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

func TestBF16IsPartOfARun(t *testing.T) {
	o := bf16Options(4)
	o.Dir = t.TempDir()
	stopAt(t, 2, newModel(t, wideConfig()), nil, o)
	o.Resume, o.BF16 = true, false
	_, err := Run(context.Background(), newModel(t, wideConfig()), nil, copyData(), o, nil)
	wantError(t, err, "bf16 is true, expected false")
}

// A run resumes a checkpoint of a processor with other instructions, and warns.
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
		t.Errorf("the last checkpoint says %q", got)
	}
}
