package training

import (
	"path/filepath"
	"time"

	"tfm/train"
	"tfm/train/runlog"
)

// Log writes log.jsonl of a run to the folder of its checkpoints. After a write error it calls Warn
// and writes nothing more, so that the training continues.
type Log struct {
	Dir   string
	Model string              // the model file
	Start func() runlog.Start // the fields of the first line that no event holds
	Warn  func(error)

	w    *runlog.Writer // nil before the run has started, and without a log
	step int            // of the last event
}

// Record writes the line of an event.
func (l *Log) Record(e train.Event) {
	l.step = e.Step
	if e.Kind == train.Started {
		l.check(l.start(e))
	} else if l.w != nil {
		l.check(e.Log(l.w))
	}
}

// start opens the log, the old one if the run is resumed.
func (l *Log) start(e train.Event) (err error) {
	open := runlog.Create
	if e.Path != "" {
		open = runlog.Append
	}
	if l.w, err = open(filepath.Join(l.Dir, runlog.FileName)); err != nil {
		return err
	}
	line := l.Start()
	line.Time, line.Step, line.TrainPairs, line.ValidPairs = time.Now(), e.Step, e.Pairs, e.ValidPairs
	return l.w.Start(line)
}

// End writes the last line, of a run that ended with r or with err, and closes the file.
func (l *Log) End(r train.Result, err error) {
	if l.w == nil {
		return
	}
	line := runlog.End{Time: time.Now(), Reason: string(r.Reason), Step: l.step, BestStep: r.Best.Step}
	if err == nil {
		line.Model = l.Model
	} else if r.Reason != train.Interrupted {
		line.Reason = err.Error()
	}
	l.w.End(line)
	if l.check(l.w.Close()); l.w != nil {
		l.w = nil
	}
}

// check ends the log at its first error.
func (l *Log) check(err error) {
	if err == nil {
		return
	}
	if l.w != nil {
		l.w.Close()
		l.w = nil
	}
	l.Warn(err)
}
