package main

import (
	"path/filepath"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/mat"
	"tfm/train"
	"tfm/train/runlog"
)

// runLog writes the log of a run. If the file cannot be written it says so once, and the run goes
// on without it: a training is worth more than its log.
type runLog struct {
	settings *trainSettings
	w        *runlog.Writer // nil before the run has started, and without a log
	step     int            // of the last event
}

// record writes the line of an event.
func (l *runLog) record(e train.Event) {
	l.step = e.Step
	if e.Kind == train.Started {
		l.check(l.start(e))
	} else if l.w != nil {
		l.check(e.Log(l.w))
	}
}

// start opens the log, the old one if the run is resumed.
func (l *runLog) start(e train.Event) (err error) {
	open := runlog.Create
	if e.Path != "" {
		open = runlog.Append
	}
	s := l.settings
	if l.w, err = open(filepath.Join(s.options.Dir, runlog.FileName)); err != nil {
		return err
	}
	return l.w.Start(runlog.Start{
		Time: time.Now(), Version: version(), Step: e.Step, Skipped: e.Skipped, Settings: cli.Values(s.flags),
		TrainPairs: e.Pairs, ValidPairs: e.ValidPairs, Vocabulary: s.config.TgtVocab, Parameters: s.config.CountParams(),
		Threads: s.threads, Kernels: mat.Kernel(),
	})
}

// end writes the last line, of a run that ended with r or with err, and closes the file.
func (l *runLog) end(r train.Result, err error) {
	if l.w == nil {
		return
	}
	line := runlog.End{Time: time.Now(), Reason: string(r.Reason), Step: l.step, BestStep: r.Best.Step}
	if err == nil {
		line.Model = l.settings.model
	} else if r.Reason != train.Interrupted {
		line.Reason = err.Error()
	}
	l.w.End(line)
	if l.check(l.w.Close()); l.w != nil {
		l.w = nil
	}
}

// check ends the log at its first error.
func (l *runLog) check(err error) {
	if err == nil {
		return
	}
	if l.w != nil {
		l.w.Close()
		l.w = nil
	}
	l.settings.progress.Line("tfm: the run goes on without its log: %v", err)
}
