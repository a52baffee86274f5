package training

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"tfm/model"
	"tfm/train"
	"tfm/train/runlog"
)

// lossesIn returns the number of losses in the only event file of a folder: a tag is followed by
// the key of the field of its number.
func lossesIn(t *testing.T, dir string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("event files %v (error %v), expected one", paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(data, []byte("train/loss\x15"))
}

// A checkpoint is never on disk without the lines of its steps: a run that is killed at that
// instant and resumed from it would have a log with a gap. The same goes for TensorBoard's events.
func TestLogIsOnDiskBeforeItsCheckpoint(t *testing.T) {
	config, err := model.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	config.SrcVocab, config.TgtVocab, config.DModel, config.DFF = 20, 20, 8, 8
	m, err := model.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocForTraining()
	m.Init(1)
	var pairs train.Pairs
	for i := range int32(50) {
		pairs.Add([]int32{3 + i%17, 3 + i%5}, []int32{3 + i%5, 3 + i%17})
	}
	o := train.OptionsFor("demo")
	o.BatchTokens, o.MaxLen, o.ValidEvery, o.Steps, o.SaveEvery, o.Average = 50, 20, 0, 9, 3, 0
	o.Dir = t.TempDir()
	l := Log{Dir: o.Dir, Start: func() runlog.Start { return runlog.Start{} }, Warn: func(err error) { t.Error(err) }}
	b := Board{Dir: t.TempDir(), Warn: func(err error) { t.Error(err) }}
	saved := 0
	_, err = train.Run(t.Context(), m, nil, train.Data{Train: &pairs}, o, func(e train.Event) {
		if e.Kind == train.Saved { // before the line about the checkpoint is written
			saved++
			r, err := runlog.ReadFile(filepath.Join(o.Dir, runlog.FileName))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Steps) != e.Step {
				t.Errorf("the checkpoint of step %d is on disk with the lines of %d steps, want %d", e.Step, len(r.Steps), e.Step)
			}
			if losses := lossesIn(t, b.Dir); losses != e.Step {
				t.Errorf("the checkpoint of step %d is on disk with TensorBoard's events of %d steps, want %d", e.Step, losses, e.Step)
			}
		}
		l.Record(e)
		b.Record(e)
	})
	b.Close()
	if err != nil || saved != 3 {
		t.Fatalf("%d checkpoints, want 3: %v", saved, err)
	}
}
