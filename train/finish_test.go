package train

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"
)

// A run that is interrupted during the final average returns the reason Interrupted. When it is
// resumed, it makes no further steps and ends as an uninterrupted run, with the original reason.
func TestInterruptedAverageIsResumed(t *testing.T) {
	validated := func() Data {
		d := copyData()
		d.Valid = copyTask(300, 3, 2) // more than one batch, so that ctx is checked between two
		d.References = slices.Repeat([]string{"one two three four five"}, d.Valid.Len())
		return d
	}
	for _, c := range []struct {
		name    string
		data    func() Data
		atSaved bool // cancel after the last save instead of during the validation of the average
		reason  Reason
		change  func(*Options)
	}{
		{"validating", validated, false, AllSteps, func(o *Options) {}},
		{"before validating", validated, true, AllSteps, func(o *Options) {}},
		{"without a validation", func() Data { return Data{Train: copyTask(100, 6, 1)} }, true, AllSteps, func(o *Options) { o.ValidEvery = 0 }},
		{"patience", validated, false, NoImprovement, func(o *Options) { o.LR, o.ValidEvery, o.Patience = 1e-30, 2, 3 }},
		{"time", validated, false, OutOfTime, func(o *Options) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := smallOptions(14)
			o.ValidEvery, o.SaveEvery, o.Keep, o.Average = 1000, 4, 3, 3
			c.change(&o)
			run := func(o Options, cancel func()) (Result, []float32) {
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				d, averaging, interrupt := c.data(), false, cancel != nil
				d.Detokenize = func([]int32) string {
					if !averaging {
						return "nothing"
					}
					if interrupt && !c.atSaved {
						stop()
					}
					return "one two three four five" // makes the average the best
				}
				m := newModel(t, smallConfig())
				r := mustRun(t, ctx, m, nil, d, o, func(e Event) {
					switch e.Kind {
					case Started:
						averaging = e.Path != ""
					case Stepped:
						averaging = false
					case Saved:
						averaging = true // unless a step follows
						if interrupt && c.atSaved && e.Step == o.Steps {
							stop()
						}
					case Averaged:
						if interrupt {
							t.Error("interrupted run: Averaged event, want none")
						}
					}
				})
				return r, m.Params.W
			}
			o.Dir = t.TempDir()
			if c.reason == OutOfTime { // a time limit that is exceeded after the steps
				steps := o
				steps.Average = 0
				run(steps, nil)
				o.Resume, o.Steps, o.Time = true, 0, 1
			}
			stopped, weights := run(o, func() {})
			if stopped.Reason != Interrupted || stopped.Checkpoint != checkpointPath(o.Dir, stopped.Step) || stopped.Averaged != 0 {
				t.Fatalf("interrupted run: result %+v, want the reason %q and the checkpoint of step %d", stopped, Interrupted, stopped.Step)
			}
			best := newModel(t, smallConfig())
			if err := open(t, checkpointPath(o.Dir, cmp.Or(stopped.Best.Step, stopped.Step))).Weights(best.Params); err != nil {
				t.Fatal(err)
			}
			wantSameWeights(t, "interrupted", weights, best.Params.W)
			o.Resume = true
			got, resumed := run(o, nil)
			o.Resume, o.Dir = false, t.TempDir()
			if c.reason == OutOfTime {
				o.Time, o.Steps = 0, stopped.Step
			}
			want, direct := run(o, nil)
			if got.Reason != c.reason || got.Step != want.Step || got.Averaged != want.Averaged || got.Averaged < 2 || got.Best.BLEU != want.Best.BLEU {
				t.Errorf("resumed run: result %+v, want the reason %q and otherwise\n%+v", got, c.reason, want)
			}
			wantSameWeights(t, "resumed", resumed, direct)
		})
	}
}

// A time limit that ended a run ends a resumed run before its first step, independently of the
// measured time. A larger limit does not.
func TestOutOfTimeAfterResume(t *testing.T) {
	o := smallOptions(0)
	o.Time = time.Hour
	r, err := newRun(newModel(t, smallConfig()), nil, copyData(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.timing.start = time.Now()
	for _, c := range []struct {
		previous, time time.Duration
		want           Reason
	}{{time.Hour, time.Hour, OutOfTime}, {time.Hour, time.Minute, OutOfTime}, {time.Hour, 2 * time.Hour, ""}, {0, time.Hour, ""}} {
		r.state.OutOfTime, r.o.Time = c.previous, c.time
		if got := r.stopReason(context.Background()); got != c.want {
			t.Errorf("OutOfTime %v, Time %v: stopReason = %q, want %q", c.previous, c.time, got, c.want)
		}
	}
}
