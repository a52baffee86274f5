package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/train"
	"tfm/train/tensorboard"
)

// board writes what a run does to an event file for TensorBoard.
type board struct {
	dir  string // of -tensorboard; "" is none
	warn func(error)

	file    *appendFile // nil before the run has started
	w       *tensorboard.Writer
	scalars []tensorboard.Scalar
}

// check makes the folder, before work that it shall show.
func (b *board) check() error {
	if b.dir == "" {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return fmt.Errorf("-tensorboard %s: %w", b.dir, err)
	}
	return cli.CheckWritable(filepath.Join(b.dir, "an event file"))
}

// record writes the numbers of an event. Errors of the file are the appendFile's.
func (b *board) record(e train.Event) {
	if b.dir == "" {
		return
	}
	now := time.Now()
	switch e.Kind {
	case train.Started:
		b.file = openAppendFile(filepath.Join(b.dir, tensorboard.FileName(now)), os.O_EXCL, b.warn)
		b.w, _ = tensorboard.NewWriter(b.file, now)
		next := e.Step
		if e.Path != "" {
			next++
		}
		b.w.Start(now, next)
	case train.Stepped:
		b.scalars = append(b.scalars[:0],
			tensorboard.Scalar{Tag: "train/loss", Value: e.Loss},
			tensorboard.Scalar{Tag: "train/nll", Value: e.NLL},
			tensorboard.Scalar{Tag: "train/accuracy", Value: e.Accuracy},
			tensorboard.Scalar{Tag: "train/learning_rate", Value: e.Rate},
			tensorboard.Scalar{Tag: "train/gradient_norm", Value: e.GradNorm},
			tensorboard.Scalar{Tag: "speed/source_tokens_per_second", Value: e.SrcPerSec},
			tensorboard.Scalar{Tag: "speed/target_tokens_per_second", Value: e.TgtPerSec})
		if e.KL != 0 { // with R-Drop
			b.scalars = append(b.scalars, tensorboard.Scalar{Tag: "train/kl", Value: e.KL})
		}
		b.w.Scalars(now, e.Step, b.scalars...)
	case train.Validated:
		b.validation(now, "validation", e)
		for _, h := range e.Entropies {
			b.w.Histogram(now, e.Step, fmt.Sprintf("entropy.%s/layer%d.head%d", h.Attention, h.Layer, h.Head), histogram(h.Histogram))
		}
	case train.Averaged:
		b.validation(now, "average", e)
	}
	b.file.flushAfter(e.Kind)
}

func (b *board) validation(now time.Time, group string, e train.Event) {
	v := e.Valid
	scalars := []tensorboard.Scalar{{Tag: group + "/loss", Value: v.Loss}, {Tag: group + "/nll", Value: v.NLL}, {Tag: group + "/accuracy", Value: v.Accuracy}}
	if v.HasBLEU {
		scalars = append(scalars, tensorboard.Scalar{Tag: group + "/BLEU", Value: v.BLEU})
	}
	b.w.Scalars(now, e.Step, scalars...)
}

// histogram leaves empty buckets at the bottom out: TensorBoard takes the least value for the lower end of the first one.
func histogram(h train.Histogram) tensorboard.Histogram {
	t := tensorboard.Histogram{Min: h.Min, Max: h.Max, Sum: h.Sum, SumSquares: h.SumSquares}
	for i, n := range h.Counts {
		if n == 0 && len(t.Counts) == 0 {
			continue
		}
		t.Limits, t.Counts = append(t.Limits, float64(i+1)*train.BucketWidth), append(t.Counts, float64(n))
	}
	return t
}

func (b *board) close() {
	if b.file != nil {
		b.file.close()
	}
}
