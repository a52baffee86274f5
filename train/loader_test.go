package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tfm/model"
)

// testStream is a Stream of pairs in windows, which can change with the epoch and can fail.
type testStream struct {
	pairs   *Pairs
	windows int
	change  func(ids []int32, epoch, i int) []int32
	fail    func(epoch, window int) error
	reads   atomic.Int32
}

func (c *testStream) Windows() int { return c.windows }

func (c *testStream) Read(ctx context.Context, dst *Pairs, epoch, window int) error {
	c.reads.Add(1)
	if c.fail != nil {
		if err := c.fail(epoch, window); err != nil {
			return err
		}
	}
	n := c.pairs.Len()
	for i := n * window / c.windows; i < n*(window+1)/c.windows; i++ {
		tgt := c.pairs.Tgt(i)
		if c.change != nil {
			tgt = c.change(tgt, epoch, i)
		}
		dst.Add(c.pairs.Src(i), tgt)
	}
	return ctx.Err()
}

func newCopyLoader(t *testing.T, d Data, tokens int) *loader {
	t.Helper()
	o := smallOptions(1)
	o.BatchTokens, o.MaxLen = tokens, 12
	c := smallConfig()
	c.SrcVocab, c.TgtVocab = 1<<20, 1<<20
	l, err := newLoader(d, o, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.survey(context.Background(), tokens); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.stop)
	return l
}

func next(t *testing.T, l *loader) model.Batch {
	t.Helper()
	b := l.newBuffer()
	if err := l.Next(&b); err != nil {
		t.Fatal(err)
	}
	return b
}

// A corpus in one window and a corpus in memory give the batches of Batches.
func TestOneWindowEqualsMemory(t *testing.T) {
	p := randomPairs(800, 12)
	for _, tokens := range []int{100, 1 << 40} {
		memory, window := newCopyLoader(t, Data{Train: p}, tokens), newCopyLoader(t, Data{Stream: &testStream{pairs: p, windows: 1}}, tokens)
		b, err := NewBatches(p, tokens, 12, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := b.buffer()
		for range 3*b.Len() + 5 {
			b.Next(&want)
			for name, l := range map[string]*loader{"memory": memory, "window": window} {
				if got := next(t, l); !slices.Equal(got.Src, want.Src) || !slices.Equal(got.TgtOut, want.TgtOut) || l.Position() != b.at {
					t.Fatalf("%s, %d tokens: batch before %+v differs from that of Batches before %+v", name, tokens, l.Position(), b.at)
				}
			}
		}
	}
}

// Every pair occurs once per epoch, in the order of the windows; batches are not small, and epochs
// differ. A loader that starts at any position continues with the same batches.
func TestWindows(t *testing.T) {
	const windows, pairs, tokens = 7, 1700, 100
	p := randomPairs(pairs, 12)
	l := newCopyLoader(t, Data{Stream: &testStream{pairs: p, windows: windows}}, tokens)
	var epochs [2][]int32
	last := Position{}
	for {
		at := l.Position()
		b := next(t, l)
		after := l.Position()
		if after.Epoch == 2 {
			break
		}
		if full := max(float64(len(b.Src))/float64(l.MaxSrc), float64(len(b.TgtIn))/float64(l.MaxTgt)); full < 0.4 || full > 1 {
			t.Errorf("%+v: batch is %.2f full, want 0.4 to 1", after, full)
		}
		for s := range b.Sentences() {
			i := b.Src[b.SrcStarts[s]]
			epochs[after.Epoch] = append(epochs[after.Epoch], i)
			if w := after.Window; int(i) < pairs*w/windows || int(i) >= pairs*(w+1)/windows {
				t.Fatalf("pair %d occurs in window %d", i, w)
			}
		}
		if (after.Window < last.Window && after.Epoch == last.Epoch) || after.Epoch < last.Epoch {
			t.Fatalf("position %+v after %+v", after, last)
		}
		last = after
		if (after.Batch+after.Window)%5 == 0 {
			other := newCopyLoader(t, Data{Stream: &testStream{pairs: p, windows: windows}}, tokens)
			if err := other.Seek(at); err != nil {
				t.Fatal(err)
			}
			if c := next(t, other); !slices.Equal(b.Src, c.Src) || !slices.Equal(b.TgtOut, c.TgtOut) || other.Position() != after {
				t.Errorf("batch at %+v differs after Seek", at)
			}
			other.stop()
		}
	}
	if slices.Equal(epochs[0], epochs[1]) {
		t.Error("two epochs are equal")
	}
	for i := range epochs {
		slices.Sort(epochs[i])
		for j, n := range epochs[i] {
			if int(n) != j {
				t.Fatalf("epoch %d: pair %d occurs in place of pair %d", i, n, j)
			}
		}
		if len(epochs[i]) != pairs {
			t.Errorf("epoch %d has %d pairs, want %d", i, len(epochs[i]), pairs)
		}
	}
}

func TestSourceThatFails(t *testing.T) {
	broken := errors.New("train.en:17: gone")
	o := smallOptions(1000)
	o.Dir = t.TempDir()
	stream := &testStream{pairs: copyTask(200, 6, 1), windows: 4, fail: func(epoch, window int) error {
		if epoch == 1 && window == 2 {
			return broken
		}
		return nil
	}}
	step := 0
	_, err := Run(context.Background(), newModel(t, smallConfig()), nil, Data{Stream: stream}, o, func(e Event) { step = e.Step })
	if !errors.Is(err, broken) {
		t.Errorf("error %v does not wrap that of the Stream", err)
	}
	wantError(t, err, fmt.Sprintf("no batch for step %d: train.en:17: gone; the last good checkpoint is %s", step+1, checkpointPath(o.Dir, step)))
	open(t, checkpointPath(o.Dir, step))
	if at := open(t, checkpointPath(o.Dir, step)).State.Position; at.Epoch != 1 || at.Window != 1 {
		t.Errorf("position of the checkpoint %+v, want the end of window 1 of epoch 1", at)
	}

	// The pairs of the resumed run are others.
	stream.fail, o.Resume = nil, true
	stream.pairs.Add([]int32{3}, []int32{3})
	_, err = Run(context.Background(), newModel(t, smallConfig()), nil, Data{Stream: stream}, o, nil)
	wantError(t, err, checkpointPath(o.Dir, step), "other training pairs")
}

func TestSourceErrors(t *testing.T) {
	long := &Pairs{}
	long.Add(slices.Repeat([]int32{3}, 30), []int32{3})
	long.Add(nil, []int32{3})
	foreign := copyTask(20, 6, 1)
	foreign.Add([]int32{99}, []int32{3})
	for name, c := range map[string]struct {
		d     Data
		wants []string
	}{
		"no windows":      {Data{Stream: &testStream{pairs: long}}, []string{"0 windows"}},
		"no usable pairs": {Data{Stream: &testStream{pairs: long, windows: 2}}, []string{"of 2, 1 have an empty side and 1 have a side of more than 20 tokens"}},
		"id too large":    {Data{Stream: &testStream{pairs: foreign, windows: 3}}, []string{"training pairs", "found id 99, expected 0 to 19"}},
		"both":            {Data{Train: foreign, Stream: &testStream{pairs: foreign, windows: 3}}, []string{"found both Data.Train and Data.Stream"}},
	} {
		_, err := Run(context.Background(), newModel(t, smallConfig()), nil, c.d, smallOptions(1), nil)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
}

// Windows without usable pairs have no batches. Skipped pairs are counted.
func TestWindowsWithoutPairs(t *testing.T) {
	p := &Pairs{}
	for range 10 {
		p.Add([]int32{3}, nil)
	}
	p.Add([]int32{3, 4}, []int32{3, 4})
	p.Add(slices.Repeat([]int32{3}, 13), []int32{3})
	l := newCopyLoader(t, Data{Stream: &testStream{pairs: p, windows: 6}}, 100)
	if l.pairs != 1 || l.Empty != 10 || l.TooLong != 1 {
		t.Errorf("pairs, Empty, TooLong = %d, %d, %d, want 1, 10, 1", l.pairs, l.Empty, l.TooLong)
	}
	for i := range 3 {
		if b := next(t, l); b.Sentences() != 1 || l.Position() != (Position{i, 5, 1}) {
			t.Errorf("batch of %d sentences before %+v, want 1 before %+v", b.Sentences(), l.Position(), Position{i, 5, 1})
		}
	}
}

// After the first epochs, neither Next nor the goroutines allocate.
func TestWindowsAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	stream := &testStream{pairs: randomPairs(900, 12), windows: 5}
	l := newCopyLoader(t, Data{Stream: stream}, 100)
	b := next(t, l)
	for l.Position().Epoch < 2 {
		l.Next(&b)
	}
	before := stream.reads.Load()
	n := testing.AllocsPerRun(1000, func() { l.Next(&b) })
	if n != 0 || stream.reads.Load() < before+5 {
		t.Errorf("%v allocations per batch in %d windows, want 0 in at least 5", n, stream.reads.Load()-before)
	}
}

// stop ends a blocked read.
func TestLoaderStops(t *testing.T) {
	stream := &testStream{pairs: randomPairs(90, 12), windows: 3}
	l := newCopyLoader(t, Data{Stream: blocking{stream}}, 100)
	next(t, l)
	done := make(chan bool)
	go func() { l.stop(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("stop did not return after a minute")
	}
}

// blocking is a Stream whose reads block after the first epoch.
type blocking struct{ *testStream }

func (b blocking) Read(ctx context.Context, dst *Pairs, epoch, window int) error {
	if b.reads.Load() > 3 {
		<-ctx.Done()
	}
	return b.testStream.Read(ctx, dst, epoch, window)
}

func TestCancelledSurvey(t *testing.T) {
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(context.Background())
	stream := &testStream{pairs: copyTask(200, 6, 1), windows: 4, fail: func(_, window int) error {
		if window == 2 {
			cancel(cause)
		}
		return nil
	}}
	if _, err := Run(ctx, newModel(t, smallConfig()), nil, Data{Stream: stream}, smallOptions(5), nil); err != cause {
		t.Errorf("error %v, want the cause of ctx", err)
	}
}
