package training

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tfm/train"
)

func TestBoardThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	var warnings []error
	b := Board{Dir: t.TempDir(), Warn: func(err error) { warnings = append(warnings, err) }}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("needs /dev/full: ", err)
	}
	b.Record(train.Event{Kind: train.Started})
	b.file.Close()
	b.file = full
	b.buf.Reset(full)
	for range 3 {
		b.Record(train.Event{Kind: train.Stepped})
		b.Record(train.Event{Kind: train.Validated})
	}
	b.Close()
	if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "no space left") {
		t.Errorf("warnings %v", warnings)
	}
}

func TestHistogramBeginsWithItsLeastValue(t *testing.T) {
	h := histogram(train.Histogram{Counts: []int{0, 0, 3, 0, 1}, Min: 0.12, Max: 0.21, Sum: 0.6, SumSquares: 0.1})
	if fmt.Sprintf("%.2f %v %v %v", h.Limits, h.Counts, h.Min, h.Max) != "[0.15 0.20 0.25] [3 0 1] 0.12 0.21" {
		t.Errorf("%+v", h)
	}
}

func TestBoardOfStepsAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	b := Board{Dir: t.TempDir(), Warn: func(err error) { t.Error(err) }}
	b.Record(train.Event{Kind: train.Started})
	e := train.Event{Kind: train.Stepped, Step: 123456, Elapsed: time.Hour, Loss: 2.5}
	step := func() {
		b.Record(e)
		b.check(b.buf.Flush())
	}
	step()
	if n := testing.AllocsPerRun(50, step); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	b.Close()
}
