package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"tfm/model"
)

// loader prepares the batches of a run ahead, so that no step waits for text. One goroutine reads
// the next window, shuffles it and groups it by length, and another one copies the batches of this
// window. There are two windows and two batches, which are reused. The sequence of batches depends
// on the pairs and the Position alone.
type loader struct {
	pairs          int // used in an epoch
	TooLong, Empty int // left out of it
	fingerprint    string
	newBuffer      func() model.Batch // with memory for any batch
	MaxSrc, MaxTgt int                // most tokens of a batch, with EOS

	source             Source // nil if the pairs are in memory
	windows            int
	maxLen             int
	srcVocab, tgtVocab int

	at          Position
	err         error    // that Next has returned
	firstWindow *Batches // has been read by survey, and is not read again

	freeWindows  chan *Batches
	readyWindows chan preparedWindow
	freeBatches  chan model.Batch
	readyBatches chan preparedBatch
	started      bool
	quit         context.Context
	stopReading  context.CancelFunc
	running      sync.WaitGroup
}

// preparedWindow is a window with its batches, at the place of the first one to use.
type preparedWindow struct {
	window *Batches
	err    error
}

// preparedBatch is a batch, and the place after it.
type preparedBatch struct {
	batch model.Batch
	after Position
	err   error
}

// newLoader returns the loader of d's training pairs, for a model of configuration c. With a
// Source, survey comes next.
func newLoader(d Data, o Options, c model.Config) (*loader, error) {
	l := &loader{
		source: d.Source, windows: 1, maxLen: o.MaxLen, srcVocab: c.SrcVocab, tgtVocab: c.TgtVocab,
		freeWindows: make(chan *Batches, 2), readyWindows: make(chan preparedWindow, 2),
		freeBatches: make(chan model.Batch, 2), readyBatches: make(chan preparedBatch, 2),
	}
	l.quit, l.stopReading = context.WithCancel(context.Background())
	if l.source == nil {
		if err := d.Train.check("training pairs", c.SrcVocab, c.TgtVocab); err != nil {
			return nil, err
		}
		b, err := NewBatches(d.Train, o.BatchTokens, o.MaxLen, o.Seed)
		if err != nil {
			return nil, err
		}
		l.pairs, l.TooLong, l.Empty = b.Pairs(), b.TooLong, b.Empty
		l.MaxSrc, l.MaxTgt, l.newBuffer = b.MaxSrc, b.MaxTgt, b.buffer
		l.fingerprint = d.Train.fingerprint()
		l.freeWindows <- b
		l.freeWindows <- b.clone()
		return l, nil
	}
	if err := checkBatch(o.BatchTokens, o.MaxLen); err != nil {
		return nil, err
	}
	if l.windows = l.source.Windows(); l.windows < 1 || l.windows >= 1<<31 {
		return nil, fmt.Errorf("train: a source of %d windows, expected at least one", l.windows)
	}
	for range cap(l.freeWindows) {
		l.freeWindows <- &Batches{pairs: new(Pairs), seed: o.Seed}
	}
	return l, nil
}

// survey reads the first epoch of a Source to learn the number of pairs, the size of a window, and
// the fingerprint, which is that of the windows' fingerprints. Of pairs in memory all this is
// known.
func (l *loader) survey(ctx context.Context, tokens int) error {
	if l.source == nil {
		return nil
	}
	b, other := <-l.freeWindows, <-l.freeWindows
	h := sha256.New()
	var largest, srcTokens, tgtTokens int
	l.firstWindow = b
	for w := range l.windows {
		if w == 1 {
			b = other
		}
		if err := l.read(ctx, b, 0, w); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		b.selectPairs(l.maxLen)
		l.pairs, l.TooLong, l.Empty = l.pairs+b.Pairs(), l.TooLong+b.TooLong, l.Empty+b.Empty
		largest = max(largest, b.pairs.Len())
		srcTokens, tgtTokens = max(srcTokens, len(b.pairs.src.ids)), max(tgtTokens, len(b.pairs.tgt.ids))
		h.Write([]byte(b.pairs.fingerprint()))
	}
	if l.pairs == 0 {
		return noPairsError(l.Empty+l.TooLong, l.Empty, l.TooLong, l.maxLen)
	}
	l.fingerprint = hex.EncodeToString(h.Sum(nil)[:8])
	// A batch has no more pairs than a window. Other epochs may have other tokens, up to the limit
	// on lengths.
	tokens = min(tokens, largest*(l.maxLen+1))
	other.pairs.reset()
	other.pairs.src.grow(largest, srcTokens+srcTokens/64)
	other.pairs.tgt.grow(largest, tgtTokens+tgtTokens/64)
	for _, w := range []*Batches{l.firstWindow, other} {
		w.setLimits(tokens)
		l.freeWindows <- w
	}
	l.MaxSrc, l.MaxTgt = b.MaxSrc, b.MaxTgt
	sentences := min(tokens/2, largest)
	l.newBuffer = func() model.Batch { return newBatch(l.MaxSrc, l.MaxTgt, sentences) }
	return nil
}

// read reads and checks the pairs of a window.
func (l *loader) read(ctx context.Context, b *Batches, epoch, window int) error {
	b.pairs.reset()
	if err := l.source.Read(ctx, b.pairs, epoch, window); err != nil {
		return err
	}
	return b.pairs.check("training pairs", l.srcVocab, l.tgtVocab)
}

// Seek goes to a place before the first call of Next. Whether the window has such a batch, Next
// reports.
func (l *loader) Seek(at Position) error {
	if at.Epoch < 0 || at.Window < 0 || at.Window >= l.windows || at.Batch < 0 {
		return fmt.Errorf("train: there is no batch %d of window %d of epoch %d: epochs have %d windows", at.Batch, at.Window, at.Epoch, l.windows)
	}
	l.at = at
	return nil
}

// Position returns the place of the next batch.
func (l *loader) Position() Position { return l.at }

// Next exchanges *dst, whose memory it reuses, for the next batch. After an error every further
// call returns the same.
func (l *loader) Next(dst *model.Batch) error {
	if !l.started {
		l.start()
	}
	if l.err != nil {
		return l.err
	}
	got := <-l.readyBatches
	if l.err = got.err; got.err != nil {
		return got.err
	}
	l.freeBatches <- *dst
	*dst, l.at = got.batch, got.after
	return nil
}

func (l *loader) start() {
	l.started = true
	for range cap(l.freeBatches) {
		l.freeBatches <- l.newBuffer()
	}
	l.running.Add(2)
	go l.prepareWindows(l.at)
	go l.prepareBatches()
}

// stop ends the goroutines.
func (l *loader) stop() {
	l.stopReading()
	l.running.Wait()
}

// prepareWindows prepares the windows from a place on.
func (l *loader) prepareWindows(at Position) {
	defer l.running.Done()
	emptyWindows := 0 // in a row
	for {
		var b *Batches
		select {
		case b = <-l.freeWindows:
		case <-l.quit.Done():
			return
		}
		err := l.prepareWindow(b, at)
		if err == nil && at.Batch > len(b.bounds) {
			err = fmt.Errorf("train: epoch %d has %d batches in window %d, not %d", at.Epoch, len(b.bounds), at.Window, at.Batch)
		}
		if emptyWindows++; len(b.bounds) > 0 {
			emptyWindows = 0
		} else if err == nil && emptyWindows > l.windows {
			err = noPairsError(b.Empty+b.TooLong, b.Empty, b.TooLong, l.maxLen)
		}
		b.at.Batch = at.Batch
		select {
		case l.readyWindows <- preparedWindow{b, err}:
		case <-l.quit.Done():
			return
		}
		if err != nil {
			return
		}
		if at = (Position{Epoch: at.Epoch, Window: at.Window + 1}); at.Window == l.windows {
			at = Position{Epoch: at.Epoch + 1}
		}
	}
}

func (l *loader) prepareWindow(b *Batches, at Position) error {
	if l.source != nil {
		if b != l.firstWindow || at.Epoch > 0 || at.Window > 0 {
			if err := l.read(l.quit, b, at.Epoch, at.Window); err != nil {
				return err
			}
		}
		l.firstWindow = nil
		b.selectPairs(l.maxLen)
		b.alloc()
	}
	b.at = Position{Epoch: at.Epoch, Window: at.Window}
	b.makeEpoch()
	return nil
}

// prepareBatches copies the batches of the windows.
func (l *loader) prepareBatches() {
	defer l.running.Done()
	for {
		var w preparedWindow
		select {
		case w = <-l.readyWindows:
		case <-l.quit.Done():
			return
		}
		b := w.window
		for w.err != nil || b.at.Batch < len(b.bounds) {
			got := preparedBatch{err: w.err}
			if w.err == nil {
				select {
				case got.batch = <-l.freeBatches:
				case <-l.quit.Done():
					return
				}
				b.fill(&got.batch)
				got.after = b.at
			}
			select {
			case l.readyBatches <- got:
			case <-l.quit.Done():
				return
			}
			if w.err != nil {
				return
			}
		}
		l.freeWindows <- b
	}
}
