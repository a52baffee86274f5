package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"tfm/model"
)

// fault returns a report function that writes x into the gradient after the given steps. The next
// step accumulates onto it.
func fault(m *model.Transformer, x float64, after ...int) func(Event) {
	return func(e Event) {
		if (e.Kind == Stepped || e.Kind == Skipped) && slices.Contains(after, e.Step) {
			m.Params.G[5] = float32(x)
		}
	}
}

// A run that diverges does not change the weights, and can be resumed from its last checkpoint.
func TestStopAtDivergenceAndResume(t *testing.T) {
	o := smallOptions(8)
	o.SaveEvery, o.Dir = 2, t.TempDir()
	want := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	o.Dir = t.TempDir()
	m := newModel(t, smallConfig())
	inject := fault(m, math.Inf(1), 5)
	var fifth []float32
	_, err := Run(context.Background(), m, nil, copyData(), o, func(e Event) {
		if inject(e); e.Kind == Stepped {
			fifth = slices.Clone(m.Params.W)
		}
	})
	wantError(t, err, "step 6 diverged", "+Inf at element 5", "the last good checkpoint is "+checkpointPath(o.Dir, 4))
	wantSameWeights(t, "after the error", m.Params.W, fifth)
	o.Resume = true
	got := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	wantSameCheckpoint(t, "resumed", got.Checkpoint, want.Checkpoint)
}

// A skipped step changes only the number of the step and the position in the data.
func TestSkipChangesNoWeight(t *testing.T) {
	for _, optimizer := range []string{OptimizerAdam, OptimizerSGD} {
		for _, x := range []float64{math.NaN(), math.Inf(-1)} {
			o := smallOptions(100)
			o.OnNaN, o.EMA, o.Optimizer, o.Momentum = OnNaNSkip, 0.9, optimizer, 0
			if optimizer == OptimizerSGD {
				o.Momentum = 0.9
			}
			var last Event
			m := newModel(t, smallConfig())
			r, err := newRun(m, nil, copyData(), o, func(e Event) { last = e })
			if err != nil {
				t.Fatal(err)
			}
			if err := r.begin(); err != nil {
				t.Fatal(err)
			}
			step := func() {
				t.Helper()
				if err := r.step(); err != nil {
					t.Fatal(err)
				}
			}
			step()
			values := func() (all []float32) {
				all = slices.Clone(m.Params.W)
				for _, moment := range r.optimizer.Moments() {
					all = append(all, moment.Values...)
				}
				return all
			}
			before, emaSteps := values(), r.ema.steps
			m.Params.G[3] = float32(x)
			step()
			wantSameWeights(t, "weights, moments and averages", values(), before)
			if r.ema.steps != emaSteps || slices.ContainsFunc(m.Params.G, func(g float32) bool { return g != 0 }) {
				t.Error("the moving average counts the skipped step, or the gradient is not cleared")
			}
			wantError(t, last.Why, "gradient of embedding", "at element 3")
			if at := r.loader.Position(); last.Kind != Skipped || last.Step != 2 || last.Skipped != 1 || r.state.Position != at || at.Batch != 2 {
				t.Errorf("event %+v at position %+v, want step 2 skipped, 2 batches used", last, at)
			}
			step()
			if last.Kind != Stepped || last.Step != 3 || last.Skipped != 1 || r.state.SkippedInRow != 0 {
				t.Errorf("event %+v after a skipped step, want step 3, 1 skipped", last)
			}
		}
	}
}

// A run with skipped steps that is stopped anywhere and resumed ends as an uninterrupted run.
func TestResumeIsExactWithSkippedSteps(t *testing.T) {
	o := smallOptions(9)
	o.OnNaN, o.EMA, o.ValidEvery, o.Dir = OnNaNSkip, 0.9, 4, t.TempDir()
	run := func(o Options, stop int) Result {
		m := newModel(t, smallConfig())
		inject := fault(m, math.NaN(), 2, 5, 6)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		return mustRun(t, ctx, m, nil, copyData(), o, func(e Event) {
			if inject(e); e.Step == stop && (e.Kind == Stepped || e.Kind == Skipped) {
				cancel()
			}
		})
	}
	want := run(o, 0)
	if s := open(t, want.Checkpoint).State; want.Skipped != 3 || want.Step != 9 || s.Skipped != 3 || s.SkippedInRow != 0 {
		t.Fatalf("result %+v, state %+v, want 3 of 9 steps skipped", want, s)
	}
	// not where a fault is injected: a resume clears the gradient
	for _, stop := range []int{1, 3, 4, 7, 8} {
		resumed := o
		resumed.Dir = t.TempDir()
		run(resumed, stop)
		resumed.Resume = true
		wantSameCheckpoint(t, "resumed", run(resumed, 0).Checkpoint, want.Checkpoint)
	}
}

// maxSkippedInRow skipped steps in a row end the run; weights that are not finite end it
// immediately.
func TestSkipGivesUp(t *testing.T) {
	o := smallOptions(500)
	o.OnNaN, o.SaveEvery, o.Dir = OnNaNSkip, 10, t.TempDir()
	m := newModel(t, smallConfig())
	skipped := 0
	_, err := Run(context.Background(), m, nil, copyData(), o, func(e Event) {
		if e.Kind == Skipped {
			skipped++
		}
		if e.Step >= 15 {
			m.Params.G[5] = float32(math.NaN())
		}
	})
	wantError(t, err, "step 115 diverged", "after 99 skipped steps in a row", "gradient of ", checkpointPath(o.Dir, 110))
	if skipped != maxSkippedInRow-1 {
		t.Errorf("%d skipped steps, want %d", skipped, maxSkippedInRow-1)
	}
	if s := open(t, checkpointPath(o.Dir, 110)).State; s.SkippedInRow != 95 {
		t.Errorf("state of the last checkpoint %+v, want 95 skipped in a row", s)
	}

	// The first step is valid but overflows the weights, because the learning rate is too high.
	o = smallOptions(10)
	o.OnNaN, o.LR, o.Schedule, o.Warmup = OnNaNSkip, 1e39, ScheduleConstant, 0
	_, err = Run(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	wantError(t, err, "step 2 diverged", "cannot be skipped", "the weight of ", "there is no checkpoint yet")
}

// A gradient whose squares overflow is valid with clipping. Without, the step is skipped.
func TestLargeGradient(t *testing.T) {
	for _, c := range []struct {
		clip    float64
		skipped int
	}{{1, 0}, {0, 1}} {
		o := smallOptions(6)
		o.ClipNorm, o.OnNaN = c.clip, OnNaNSkip
		m := newModel(t, smallConfig())
		inject := fault(m, 1e30, 3)
		var why error
		r := mustRun(t, context.Background(), m, nil, copyData(), o, func(e Event) {
			if inject(e); e.Kind == Skipped {
				why = e.Why
			}
		})
		if r.Skipped != c.skipped {
			t.Errorf("clip norm %v: %d skipped steps, want %d", c.clip, r.Skipped, c.skipped)
		}
		if c.skipped > 0 {
			wantError(t, why, "the gradient is too large, up to 1e+30 in embedding")
		}
		for _, w := range m.Params.W {
			if !finite(float64(w)) {
				t.Fatalf("clip norm %v: found the weight %v", c.clip, w)
			}
		}
	}
}

// A run can be resumed with another OnNaN.
func TestOnNaNIsFreeOnResume(t *testing.T) {
	o := smallOptions(4)
	o.Dir = t.TempDir()
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	o.Resume, o.Steps, o.OnNaN = true, 6, OnNaNSkip
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
}

func TestNaNIsNeverBest(t *testing.T) {
	nan := Validation{Step: 3, Loss: math.NaN(), NLL: math.NaN(), HasBLEU: true, BLEU: 50}
	if nan.betterThan(Validation{}) || nan.betterThan(Validation{Step: 1, NLL: 2}) {
		t.Error("betterThan is true for a loss of NaN")
	}
}
