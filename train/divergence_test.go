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
		if e.Kind == Stepped && slices.Contains(after, e.Step) {
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

// Weights that are not finite are not saved.
func TestInvalidWeightsAreNotSaved(t *testing.T) {
	o := smallOptions(10)
	o.SaveEvery, o.Dir = 1, t.TempDir()
	m := newModel(t, smallConfig())
	_, err := Run(context.Background(), m, nil, copyData(), o, func(e Event) {
		if e.Kind == Stepped && e.Step == 2 {
			m.Params.List[1].W[5] = float32(math.Inf(1))
		}
	})
	wantError(t, err, "step 2 diverged", "weight of "+m.Params.List[1].Name, "+Inf at element 5", checkpointPath(o.Dir, 1))
}

// Weights that a step overflows end the run at the next one.
func TestOverflownWeights(t *testing.T) {
	o := smallOptions(10)
	o.LR, o.Schedule, o.Warmup = 1e39, ScheduleConstant, 0
	_, err := Run(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	wantError(t, err, "step 2 diverged", "there is no checkpoint yet")
}

// A gradient whose squares overflow is valid with clipping. Without, it ends the run.
func TestLargeGradient(t *testing.T) {
	for _, clip := range []float64{1, 0} {
		o := smallOptions(6)
		o.ClipNorm = clip
		m := newModel(t, smallConfig())
		_, err := Run(context.Background(), m, nil, copyData(), o, fault(m, 1e30, 3))
		if clip == 0 {
			wantError(t, err, "step 4 diverged", "the gradient is too large, up to 1e+30 in embedding")
		} else if err != nil {
			t.Error(err)
		}
		for _, w := range m.Params.W {
			if !finite(float64(w)) {
				t.Fatalf("clip norm %v: found the weight %v", clip, w)
			}
		}
	}
}
