package training

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/train"
	"tfm/train/tensorboard"
)

// Board writes the events of a run to an event file for TensorBoard. After a write error it calls
// Warn and writes nothing more, so that the training continues.
type Board struct {
	Dir  string // the folder of event files; "" writes none
	Warn func(error)

	file    *os.File      // nil before the run has started, and after an error
	buf     *bufio.Writer // of file; it keeps its first error
	flushed time.Time
	w       *tensorboard.Writer // to buf
	scalars []tensorboard.Scalar
}

// MakeDir creates the folder, so that an invalid one is an error before the training.
func (b *Board) MakeDir() error {
	if b.Dir == "" {
		return nil
	}
	if err := os.MkdirAll(b.Dir, 0o777); err != nil {
		return fmt.Errorf("-tensorboard %s: %w", b.Dir, err)
	}
	return cli.CheckWritable(filepath.Join(b.Dir, "an event file"))
}

// Record writes an event. It flushes steps once a second and other events at once, and syncs the
// file before a checkpoint is saved.
func (b *Board) Record(e train.Event) {
	now := time.Now()
	if e.Kind == train.Started && b.Dir != "" {
		b.start(now, e)
	}
	if b.file == nil {
		return
	}
	b.write(now, e)
	if e.Kind != train.Stepped || now.Sub(b.flushed) >= time.Second {
		b.flushed = now
		b.check(b.buf.Flush())
	}
	if e.Kind == train.Saving && b.file != nil {
		b.check(b.file.Sync())
	}
}

// start begins an event file.
func (b *Board) start(now time.Time, e train.Event) {
	f, err := os.OpenFile(filepath.Join(b.Dir, tensorboard.FileName(now)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		b.Warn(err)
		return
	}
	b.file, b.buf = f, bufio.NewWriter(f)
	b.w, _ = tensorboard.NewWriter(b.buf, now) // buf keeps its errors
	next := e.Step
	if e.Path != "" {
		next++
	}
	b.w.Start(now, next)
}

// write writes an event to buf.
func (b *Board) write(now time.Time, e train.Event) {
	switch e.Kind {
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
}

func (b *Board) validation(now time.Time, group string, e train.Event) {
	v := e.Valid
	scalars := []tensorboard.Scalar{{Tag: group + "/loss", Value: v.Loss}, {Tag: group + "/nll", Value: v.NLL}, {Tag: group + "/accuracy", Value: v.Accuracy}}
	if v.HasBLEU {
		scalars = append(scalars, tensorboard.Scalar{Tag: group + "/BLEU", Value: v.BLEU})
	}
	b.w.Scalars(now, e.Step, scalars...)
}

// histogram converts h without the empty buckets at its lower end, because TensorBoard uses the
// least value as the lower limit of the first bucket.
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

// check ends the event file at its first error.
func (b *Board) check(err error) {
	if err != nil {
		b.file.Close()
		b.file = nil
		b.Warn(err)
	}
}

func (b *Board) Close() {
	if b.file == nil {
		return
	}
	if b.check(b.buf.Flush()); b.file != nil {
		b.check(b.file.Close())
	}
}
