package train

import (
	"context"
	"testing"
	"time"
)

// Every share gives every number of steps a cooldown: that of a run that ends with it.
func TestCooldownAfter(t *testing.T) {
	for _, share := range []float64{0.01, 0.2, 0.25, 1. / 3, 0.4, 0.5, 0.9, 0.99} {
		for from := 1; from < 3000; from++ {
			c := cooldownAfter(from, share)
			if c.From != from || cooldownFrom(c.End, share) != from {
				t.Fatalf("cooldownAfter(%d, %v) = %+v, and a run of %d steps has %d before it", from, share, c, c.End, cooldownFrom(c.End, share))
			}
		}
	}
}

// cooled trains with o and returns the result, the weights of the last step and the event of the
// cooldown.
func cooled(t *testing.T, ctx context.Context, o Options, report func(Event)) (r Result, weights []float32, began []Event) {
	t.Helper()
	m := newModel(t, smallConfig())
	d := copyData()
	if o.ValidEvery == 0 {
		d.Valid, d.References = nil, nil
	}
	r = mustRun(t, ctx, m, nil, d, o, func(e Event) {
		if e.Kind == CooldownBegan {
			began = append(began, e)
		}
		if report != nil {
			report(e)
		}
	})
	return r, m.Params.W, began
}

// The cooldown of a run with a time begins when its share of the time remains. A run with the same
// number of steps ends in the same weights.
func TestCooldownByTime(t *testing.T) {
	o := smallOptions(0)
	o.Schedule, o.Cooldown, o.Time, o.Dir = ScheduleConstant, 0.4, 200*time.Millisecond, t.TempDir()
	var late time.Duration // when the cooldown began
	r, weights, began := cooled(t, context.Background(), o, func(e Event) {
		if e.Kind == CooldownBegan {
			late = e.Elapsed
		}
	})
	if len(began) != 1 || began[0].EndReason != OutOfTime || r.Reason != OutOfTime || late < 110*time.Millisecond {
		t.Fatalf("result %+v after the cooldown %+v, which began after %v; want one after 0.6 of %v", r, began, late, o.Time)
	}
	if r.Step < began[0].Cooldown.End { // the machine became slower
		o.Resume, o.Time = true, time.Hour
		var again []Event
		if r, weights, again = cooled(t, context.Background(), o, nil); len(again) != 0 {
			t.Errorf("the cooldown began again: %+v", again)
		}
	}
	if r.Step != began[0].Cooldown.End || r.Step != began[0].Steps {
		t.Fatalf("ended at step %d, want %d, the end of the cooldown", r.Step, began[0].Cooldown.End)
	}
	o.Resume, o.Time, o.Steps, o.Dir = false, 0, r.Step, t.TempDir()
	same, repeated, again := cooled(t, context.Background(), o, nil)
	if same.Reason != AllSteps || same.Step != r.Step || len(again) != 1 || again[0].Cooldown != began[0].Cooldown {
		t.Errorf("repeated: result %+v, cooldown %+v; want step %d, %+v", same, again, r.Step, began[0].Cooldown)
	}
	wantSameWeights(t, "repeated", repeated, weights)
}

// A run that is interrupted before, in and after the start of its cooldown and resumed ends in the
// weights of one that is not.
func TestCooldownOfInterruptedRun(t *testing.T) {
	o := smallOptions(50)
	o.Schedule, o.Cooldown, o.Dir = ScheduleInverseSqrt, 0.3, t.TempDir()
	_, want, _ := cooled(t, context.Background(), o, nil)
	o.Dir = t.TempDir()
	var got []float32
	for last := range 11 {
		ctx, stop := context.WithCancel(context.Background())
		var r Result
		r, got, _ = cooled(t, ctx, o, func(e Event) {
			if e.Kind == Stepped && e.Step == []int{3, 10, 20, 34, 35, 36, 40, 45, 48, 49, 0}[last] {
				stop()
			}
		})
		stop()
		if o.Resume = true; (r.Reason == Interrupted) != (last < 10) {
			t.Fatalf("run %d: %+v", last, r)
		}
	}
	wantSameWeights(t, "interrupted", got, want)
}

// A resume with a later limit does not move the end of a cooldown, and says so.
func TestCooldownCannotBeExtended(t *testing.T) {
	o := smallOptions(10)
	o.Schedule, o.Cooldown, o.Dir = ScheduleConstant, 0.5, t.TempDir()
	first, _, _ := cooled(t, context.Background(), o, nil)
	o.Resume, o.Steps = true, 20
	var warning error
	r, _, _ := cooled(t, context.Background(), o, func(e Event) {
		if e.Kind == Started {
			warning = e.Warning
		}
	})
	wantError(t, warning, "falls to 0 until step 10")
	if r.Step != first.Step {
		t.Errorf("resumed: step %d, want %d", r.Step, first.Step)
	}
}

// With a cooldown, exhausted patience does not end the run but begins the cooldown.
func TestCooldownByPatience(t *testing.T) {
	o := smallOptions(0)
	o.Schedule, o.Cooldown, o.ValidEvery, o.Patience, o.Dir = ScheduleConstant, 0.5, 2, 2, t.TempDir()
	d, count := scripted(2) // the validation of step 4 is the best
	var began []Event
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, func(e Event) {
		count(e)
		if e.Kind == CooldownBegan {
			began = append(began, e)
		}
	})
	if len(began) != 1 || began[0].Cooldown != (Cooldown{8, 15}) && began[0].Cooldown != (Cooldown{8, 16}) || began[0].EndReason != NoImprovement {
		t.Fatalf("cooldown %+v, want one after step 8, to step 15 or 16", began)
	}
	if r.Reason != NoImprovement || r.Step != began[0].Cooldown.End || r.Best.Step != 4 {
		t.Errorf("result %+v, want the end of the cooldown and the best step 4", r)
	}
}
