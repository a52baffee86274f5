package train

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
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

// The loss depends on the instructions: after 120 steps it is 0.013 with VDPBF16PS and 0.0007 in
// float32, after 180 steps 0.0005 and 0.0003.
func TestBF16LearnsToCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 180 training steps")
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
		t.Errorf("result %+v, want BLEU 100 and a loss below 0.01, as in float32", r)
	}
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
		stopAt(t, 3, newModel(t, wideConfig()), pool(t, threads), o)
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

func TestBF16StepAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
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
	// mat allocates packing buffers at the first batch of a size.
	for r.loader.Position().Epoch == 0 {
		step()
	}
	r.valid.measure(context.Background(), 1)
	if n := testing.AllocsPerRun(10, step); n != 0 {
		t.Errorf("%v allocations per step, want 0", n)
	}
}

func TestResumeWithoutBF16(t *testing.T) {
	o := bf16Options(4)
	o.Dir = t.TempDir()
	stopAt(t, 2, newModel(t, wideConfig()), nil, o)
	o.Resume, o.BF16 = true, false
	_, err := Run(context.Background(), newModel(t, wideConfig()), nil, copyData(), o, nil)
	wantError(t, err, "bf16 is true, expected false")
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
