package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tfm/train/runlog"
)

// newLog returns a writer of a new log, and its path.
func newLog(t *testing.T) (w *runlog.Writer, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), runlog.FileName)
	w, err := runlog.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w, path
}

func TestLogOfStepsAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	w, path := newLog(t)
	e := Event{Kind: Stepped, Step: 123456, Epoch: 7, Elapsed: 98765 * time.Millisecond, Loss: 2.5, NLL: math.NaN(), Accuracy: 0.5, Rate: 1.25e-7, GradNorm: math.Inf(1), SrcPerSec: 9876.5, TgtPerSec: 1e4}
	for range 3 {
		e.Log(w)
	}
	w.Sync() // the buffer now has capacity for three records
	if n := testing.AllocsPerRun(1, func() { e.Log(w) }); n != 0 {
		t.Errorf("%v allocations per step, want 0", n)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"event":"step","step":123456,"epoch":7,"elapsed":98.765,"loss":2.5,"nll":null,"accuracy":0.5,"rate":1.25e-07,"grad_norm":null,"src_per_sec":9876.5,"tgt_per_sec":10000}` + "\n"
	if n := bytes.Count(text, []byte(want)); n != 5 {
		t.Errorf("%d of 5 records are\n%slog:\n%s", n, want, text)
	}
}

// The log has a record for every event of a run, with the event's values.
func TestLogOfARun(t *testing.T) {
	o := smallOptions(6)
	o.ValidEvery, o.SaveEvery, o.Keep, o.Average, o.Dir = 3, 3, 2, 2, t.TempDir()
	m := newModel(t, smallConfig())
	w, path := newLog(t)
	w.Start(runlog.Start{})
	var steps []Event
	var best, averaged Event
	mustRun(t, context.Background(), m, nil, copyData(), o, func(e Event) {
		switch {
		case e.Kind == Stepped:
			steps = append(steps, e)
		case e.Kind == Validated && e.Best:
			best = e
		case e.Kind == Averaged:
			averaged = e
		}
		if err := e.Log(w); err != nil {
			t.Fatal(err)
		}
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := runlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 6 || len(log.Steps) != 6 || len(log.Validations) != 2 || log.Averaged == nil {
		t.Fatalf("%d steps, log %+v; want 6 steps, 2 validations and an average", len(steps), log)
	}
	nine := func(x float64) (rounded float64) {
		fmt.Sscan(fmt.Sprintf("%.9g", x), &rounded)
		return rounded
	}
	for i, e := range steps {
		if s := log.Steps[i]; s.Step != e.Step || float64(s.Loss) != nine(e.Loss) || !s.KL.IsZero() || float64(s.GradNorm) != nine(e.GradNorm) {
			t.Errorf("record %+v of event %+v", s, e)
		}
	}
	if v := log.Best(); v.Step != best.Step || float64(v.BLEU) != nine(best.Valid.BLEU) || len(v.Samples) != sampleCount {
		t.Errorf("best validation %+v, want that of the event %+v", v, best)
	}
	if a := log.Averaged; a.Checkpoints != 2 || float64(a.NLL) != nine(averaged.Valid.NLL) {
		t.Errorf("record %+v of event %+v", a, averaged)
	}
}
