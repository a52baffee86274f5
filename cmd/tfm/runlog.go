package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/mat"
	"tfm/train"
)

// runLog writes what a run does to the file log.jsonl in its folder, one JSON object a line. A new run begins the file anew;
// a resumed one goes on with a line "start" that says from which step: lines of later steps before it are of steps that are made again.
// Times are in seconds, losses in nats. A number that is none (NaN, infinity) is null.
type runLog struct {
	settings *trainSettings
	file     *appendFile // nil before the run has started
	line     []byte
	step     int // the last one told of
}

// runLogName is that of the file in a run's folder.
const runLogName = "log.jsonl"

// number is one in JSON.
type number float64

func (x number) MarshalJSON() ([]byte, error) { return appendJSONNumber(nil, float64(x)), nil }

// appendJSONNumber writes nine digits, of which float32 needs no more.
func appendJSONNumber(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, x, 'g', 9, 64)
}

type startLine struct {
	Event      string            `json:"event"`
	Time       string            `json:"time"`
	Version    string            `json:"version"`
	Step       int               `json:"step"` // 0, or that of the checkpoint from which it goes on
	Settings   map[string]string `json:"settings"`
	TrainPairs int               `json:"train_pairs"`
	ValidPairs int               `json:"valid_pairs"`
	Vocabulary int               `json:"vocabulary"` // the target's
	Parameters int               `json:"parameters"`
	Threads    int               `json:"threads"`
	Kernels    string            `json:"kernels"`
}

type validLine struct {
	Event       string       `json:"event"`
	Step        int          `json:"step"`
	Elapsed     number       `json:"elapsed"`
	Loss        number       `json:"loss"`
	NLL         number       `json:"nll"`
	Accuracy    number       `json:"accuracy"`
	BLEU        *number      `json:"bleu,omitempty"`
	Best        bool         `json:"best"`
	Took        number       `json:"took"`
	Checkpoints int          `json:"checkpoints,omitempty"` // in the mean
	Samples     []sampleLine `json:"samples,omitempty"`
}

type sampleLine struct {
	Source      string `json:"src"`
	Reference   string `json:"ref"`
	Translation string `json:"hyp"`
}

type skippedLine struct {
	Event string `json:"event"`
	Step  int    `json:"step"`
	Why   string `json:"why"`
}

type savedLine struct {
	Event string `json:"event"`
	Step  int    `json:"step"`
	Path  string `json:"path"`
}

type endLine struct {
	Event    string `json:"event"`
	Time     string `json:"time"`
	Reason   string `json:"reason"` // or the error that ended it
	Step     int    `json:"step"`
	BestStep int    `json:"best_step,omitempty"`
	Model    string `json:"model,omitempty"` // if it was written
}

// record writes the line of an event.
func (l *runLog) record(e train.Event) {
	s := l.settings
	l.step = e.Step
	switch e.Kind {
	case train.Started:
		flags := os.O_TRUNC
		if e.Path != "" {
			flags = 0
		}
		path := filepath.Join(s.options.Dir, runLogName)
		l.file = openAppendFile(path, flags, func(err error) { s.progress.Line("tfm: the run goes on without its log: %v", err) })
		l.file.toLastLine()
		l.write(startLine{"start", now(), version(), e.Step, cli.Values(s.flags), e.Pairs, e.ValidPairs, s.config.TgtVocab, s.config.CountParams(), s.threads, mat.Kernel()})
	case train.Stepped:
		l.file.Write(l.stepLine(e))
	case train.Validated:
		l.write(newValidLine("valid", e))
	case train.Averaged:
		l.write(newValidLine("averaged", e))
	case train.Skipped:
		l.write(skippedLine{"skipped", e.Step, e.Why.Error()})
	case train.Saved:
		l.write(savedLine{"saved", e.Step, e.Path})
	}
	l.file.flushAfter(e.Kind)
}

// stepLine is written by hand, for a step allocates nothing.
func (l *runLog) stepLine(e train.Event) []byte {
	b := strconv.AppendInt(append(l.line[:0], `{"event":"step","step":`...), int64(e.Step), 10)
	b = strconv.AppendInt(append(b, `,"epoch":`...), int64(e.Epoch), 10)
	b = appendJSONNumber(append(b, `,"elapsed":`...), e.Elapsed.Seconds())
	b = appendJSONNumber(append(b, `,"loss":`...), e.Loss)
	b = appendJSONNumber(append(b, `,"nll":`...), e.NLL)
	if e.KL != 0 { // with R-Drop
		b = appendJSONNumber(append(b, `,"kl":`...), e.KL)
	}
	b = appendJSONNumber(append(b, `,"accuracy":`...), e.Accuracy)
	b = appendJSONNumber(append(b, `,"rate":`...), e.Rate)
	b = appendJSONNumber(append(b, `,"grad_norm":`...), e.GradNorm)
	b = appendJSONNumber(append(b, `,"src_per_sec":`...), e.SrcPerSec)
	b = appendJSONNumber(append(b, `,"tgt_per_sec":`...), e.TgtPerSec)
	l.line = append(b, "}\n"...)
	return l.line
}

func newValidLine(event string, e train.Event) validLine {
	v := e.Valid
	line := validLine{Event: event, Step: e.Step, Elapsed: number(e.Elapsed.Seconds()), Loss: number(v.Loss), NLL: number(v.NLL),
		Accuracy: number(v.Accuracy), Best: e.Best, Took: number(v.Took.Seconds()), Checkpoints: e.Checkpoints}
	if v.HasBLEU {
		line.BLEU = (*number)(&v.BLEU)
	}
	for _, s := range e.Samples {
		line.Samples = append(line.Samples, sampleLine(s))
	}
	return line
}

// end writes the last line, of a run that ended with r or with err, and closes the file.
func (l *runLog) end(r train.Result, err error) {
	if l.file == nil {
		return
	}
	line := endLine{Event: "end", Time: now(), Reason: string(r.Reason), Step: l.step, BestStep: r.Best.Step}
	if err == nil {
		line.Model = l.settings.model
	} else if r.Reason != train.Interrupted {
		line.Reason = err.Error()
	}
	l.write(line)
	l.file.close()
}

func (l *runLog) write(line any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		panic(fmt.Sprint("tfm: ", err)) // of strings and numbers
	}
	l.file.Write(b.Bytes())
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }
