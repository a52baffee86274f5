package train

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tfm/model"
)

func TestAverageIsTheMean(t *testing.T) {
	dir := t.TempDir()
	m := newModel(t, smallConfig())
	a := NewAdam(m.Params.Count(), 0.9, 0.98, 1e-9)
	mean := make([]float64, len(m.Params.W))
	var paths []string
	for step := 1; step <= 3; step++ {
		m.Init(uint64(step))
		for i, w := range m.Params.W {
			mean[i] += float64(w) / 3
		}
		paths = append(paths, checkpointPath(dir, step))
		if err := writeCheckpoint(paths[step-1], model.File{Model: m}, a.Moments(), DefaultOptions(), State{Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	if err := Average(context.Background(), m, paths, nil); err != nil {
		t.Fatal(err)
	}
	for i, w := range m.Params.W { // three roundings of values up to about 1
		if math.Abs(float64(w)-mean[i]) > 3e-7 {
			t.Fatalf("weight[%d] = %v, want %v", i, w, mean[i])
		}
	}
	other := smallConfig()
	other.Heads = 4
	wantError(t, Average(context.Background(), newModel(t, other), paths, nil), paths[0], "heads is 2, expected 4")
	wantError(t, Average(context.Background(), m, nil, nil), "no checkpoints")
	wantError(t, Average(context.Background(), m, []string{filepath.Join(dir, "none")}, nil), "none")
}

// The average is kept if and only if its validation is better than the best.
func TestRunAverages(t *testing.T) {
	for _, kept := range []bool{true, false} {
		o := smallOptions(6)
		o.ValidEvery, o.SaveEvery, o.Keep, o.Average, o.Dir = 6, 1, 3, 3, t.TempDir()
		good := 1 // validation of the last step
		if kept {
			good = 2 // validation of the average
		}
		d, count := scripted(good)
		m := newModel(t, smallConfig())
		reported := false
		r := mustRun(t, context.Background(), m, nil, d, o, func(e Event) {
			count(e)
			if e.Kind == Averaged {
				reported = true
				if e.Best != kept {
					t.Errorf("Averaged event: Best = %v, want %v", e.Best, kept)
				}
			}
		})
		want := newModel(t, smallConfig())
		if kept {
			if err := Average(context.Background(), want, []string{checkpointPath(o.Dir, 4), checkpointPath(o.Dir, 5), checkpointPath(o.Dir, 6)}, nil); err != nil {
				t.Fatal(err)
			}
		} else if err := open(t, checkpointPath(o.Dir, 6)).Weights(want.Params); err != nil {
			t.Fatal(err)
		}
		wantSameWeights(t, "after the run", m.Params.W, want.Params.W)
		if averaged := r.Averaged == 3; averaged != kept || r.Best.BLEU != 100 || !reported {
			t.Errorf("result %+v, Averaged event: %v; want the average kept: %v", r, reported, kept)
		}
	}
}

// With fewer than two checkpoints there is no average.
func TestNothingToAverage(t *testing.T) {
	for _, time := range []time.Duration{0, 1} {
		o := smallOptions(3)
		o.SaveEvery, o.Keep, o.Average, o.Time, o.Dir = 0, 3, 3, time, t.TempDir()
		m := newModel(t, smallConfig())
		var last []float32
		r := mustRun(t, context.Background(), m, nil, copyData(), o, func(Event) { last = slices.Clone(m.Params.W) })
		if steps := 3 * int(1-time); r.Step != steps || r.Averaged != 0 {
			t.Errorf("result %+v, want %d steps and no average", r, steps)
		}
		wantSameWeights(t, "after the run", m.Params.W, last)
	}
}
