package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"tfm/model"
)

// loader provides the batches of a run. One goroutine reads, shuffles and sorts the next window
// while the batches of the current window are used, so that no step waits for text. Two windows are
// reused. A window is a Batches: of one window of a Stream, or of all pairs of an epoch if they are
// in memory. The sequence of batches depends only on the pairs and the Position.
type loader struct {
	pairs          int // pairs of an epoch
	TooLong, Empty int // skipped pairs of an epoch
	tokens         tokenCounts
	fingerprint    string             // with a Stream, before survey, Data.StreamFingerprint
	newBuffer      func() model.Batch // returns a batch with memory for any batch
	MaxSrc, MaxTgt int                // limits of the tokens in a batch, with EOS

	stream             Stream // nil if the pairs are in memory
	windows            int
	maxLen             int
	srcVocab, tgtVocab int

	at          Position
	window      *Batches // the current window; nil before the first
	err         error    // returned by Next
	firstWindow *Batches // the window that survey has read; nil after its first use

	freeWindows  chan *Batches
	readyWindows chan preparedWindow
	started      bool
	quit         context.Context
	stopReading  context.CancelFunc
	running      sync.WaitGroup
}

// preparedWindow is a window with its batches, at the position of the first batch to use.
type preparedWindow struct {
	window *Batches
	err    error
}

// newLoader returns the loader of d's training pairs for a model of configuration c. With a Stream,
// survey must be called next.
func newLoader(d Data, o Options, c model.Config) (*loader, error) {
	l := &loader{
		stream: d.Stream, fingerprint: d.StreamFingerprint, windows: 1, maxLen: o.MaxLen, srcVocab: c.SrcVocab, tgtVocab: c.TgtVocab,
		freeWindows: make(chan *Batches, 2), readyWindows: make(chan preparedWindow, 2),
	}
	l.quit, l.stopReading = context.WithCancel(context.Background())
	if l.stream == nil {
		if err := d.Train.check("training pairs", c.SrcVocab, c.TgtVocab); err != nil {
			return nil, err
		}
		b, err := newBatches(d.Train, c.Source, o.BatchTokens, o.MaxLen, o.Seed)
		if err != nil {
			return nil, err
		}
		l.pairs, l.TooLong, l.Empty = len(b.used), b.TooLong, b.Empty
		l.tokens.add(b, c.TgtVocab)
		l.MaxSrc, l.MaxTgt, l.newBuffer = b.MaxSrc, b.MaxTgt, b.buffer
		l.fingerprint = d.Train.fingerprint()
		l.freeWindows <- b
		l.freeWindows <- b.clone()
		return l, nil
	}
	if err := checkBatch(o.BatchTokens, o.MaxLen); err != nil {
		return nil, err
	}
	if l.windows = l.stream.Windows(); l.windows < 1 || l.windows >= 1<<31 {
		return nil, fmt.Errorf("train: the stream has %d windows, expected 1 to 2147483647", l.windows)
	}
	for range cap(l.freeWindows) {
		l.freeWindows <- &Batches{pairs: new(Pairs), source: c.Source, seed: o.Seed}
	}
	return l, nil
}

// survey reads the first epoch of a Stream to find the number of pairs, the size of the windows,
// and the fingerprint, a hash of the windows' fingerprints. It does nothing for pairs in memory.
func (l *loader) survey(ctx context.Context, tokens int) error {
	if l.stream == nil {
		return nil
	}
	b, other := <-l.freeWindows, <-l.freeWindows
	h := sha256.New()
	h.Write([]byte(l.fingerprint))
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
		l.pairs, l.TooLong, l.Empty = l.pairs+len(b.used), l.TooLong+b.TooLong, l.Empty+b.Empty
		l.tokens.add(b, l.tgtVocab)
		largest = max(largest, b.pairs.Len())
		srcTokens, tgtTokens = max(srcTokens, len(b.pairs.src.ids)), max(tgtTokens, len(b.pairs.tgt.ids))
		h.Write([]byte(b.pairs.fingerprint()))
	}
	if l.pairs == 0 {
		return noPairsError(l.Empty+l.TooLong, l.Empty, l.TooLong, l.maxLen)
	}
	l.fingerprint = hex.EncodeToString(h.Sum(nil)[:8])
	// A batch has no more pairs than a window. In other epochs the pairs can have other
	// lengths, up to the limit.
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
	l.newBuffer = func() model.Batch { return newBatch(b.source, l.MaxSrc, l.MaxTgt, sentences) }
	return nil
}

// read reads the pairs of a window and checks their ids.
func (l *loader) read(ctx context.Context, b *Batches, epoch, window int) error {
	b.pairs.reset()
	if err := l.stream.Read(ctx, b.pairs, epoch, window); err != nil {
		return err
	}
	return b.pairs.check("training pairs", l.srcVocab, l.tgtVocab)
}

// Seek sets the position of the first batch. It must be called before Next. If the window does not
// have that batch, Next returns an error.
func (l *loader) Seek(at Position) error {
	if at.Epoch < 0 || at.Window < 0 || at.Window >= l.windows || at.Batch < 0 {
		return fmt.Errorf("train: position is batch %d of window %d of epoch %d, expected 0 or more, and a window below %d", at.Batch, at.Window, at.Epoch, l.windows)
	}
	l.at = at
	return nil
}

// Position returns the position of the next batch.
func (l *loader) Position() Position { return l.at }

// Next fills dst with the next batch. After an error every call returns that error.
func (l *loader) Next(dst *model.Batch) error {
	if !l.started {
		l.started = true
		at := l.at
		l.running.Go(func() { l.prepareWindows(at) })
	}
	for l.err == nil && (l.window == nil || l.window.at.Batch == len(l.window.bounds)) {
		if l.window != nil {
			l.freeWindows <- l.window
		}
		ready := <-l.readyWindows
		l.window, l.err = ready.window, ready.err
	}
	if l.err != nil {
		return l.err
	}
	l.window.fill(dst)
	l.at = l.window.at
	return nil
}

// stop stops the goroutine and waits for it.
func (l *loader) stop() {
	l.stopReading()
	l.running.Wait()
}

// prepareWindows prepares the windows from a position on.
func (l *loader) prepareWindows(at Position) {
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
			err = fmt.Errorf("train: position is batch %d of window %d of epoch %d, expected at most %d", at.Batch, at.Window, at.Epoch, len(b.bounds))
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

// prepareWindow reads the window at a position into b, unless it is in memory, and computes its
// batches.
func (l *loader) prepareWindow(b *Batches, at Position) error {
	if l.stream != nil {
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
