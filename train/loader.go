package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"tfm/model"
)

// loader prepares the batches of a run ahead, so that no step waits for text. One goroutine reads the next window,
// shuffles it and groups it by length, while another one copies the batches of this window; two of each kind go
// round. What comes out is a function of the pairs and the Position, whoever is faster.
type loader struct {
	pairs          int // used in an epoch
	TooLong, Empty int // left out of it
	fingerprint    string
	buffers        func() model.Batch // with room for any batch
	MaxSrc, MaxTgt int                // tokens of a batch at most, with EOS

	source             Source // nil: the pairs are in memory
	windows            int
	maxLen             int
	srcVocab, tgtVocab int

	at   Position
	next error    // what Next found wrong
	held *Batches // has the first window of the first epoch, from the survey

	windowsFree  chan *Batches
	windowsReady chan dealt
	batchesFree  chan model.Batch
	batchesReady chan loaded
	started      bool
	quit         context.Context
	stopReading  context.CancelFunc
	running      sync.WaitGroup
}

// dealt is a window with its batches, at the place of the first one to be used.
type dealt struct {
	window *Batches
	err    error
}

// loaded is a batch, and the place after it.
type loaded struct {
	batch model.Batch
	after Position
	err   error
}

// newLoader makes the loader of d's training pairs, for a model of c. With a Source it must survey before anything else.
func newLoader(d Data, o Options, c model.Config) (*loader, error) {
	l := &loader{
		source: d.Source, windows: 1, maxLen: o.MaxLen, srcVocab: c.SrcVocab, tgtVocab: c.TgtVocab,
		windowsFree: make(chan *Batches, 2), windowsReady: make(chan dealt, 2),
		batchesFree: make(chan model.Batch, 2), batchesReady: make(chan loaded, 2),
	}
	l.quit, l.stopReading = context.WithCancel(context.Background())
	if l.source == nil {
		if err := d.Train.check("training pairs", c.SrcVocab, c.TgtVocab); err != nil {
			return nil, err
		}
		b, err := NewBatches(d.Train, o.Tokens, o.MaxLen, o.Seed)
		if err != nil {
			return nil, err
		}
		l.pairs, l.TooLong, l.Empty = b.Pairs(), b.TooLong, b.Empty
		l.MaxSrc, l.MaxTgt, l.buffers = b.MaxSrc, b.MaxTgt, b.buffer
		l.fingerprint = d.Train.fingerprint()
		l.windowsFree <- b
		l.windowsFree <- b.again()
		return l, nil
	}
	if err := checkBatch(o.Tokens, o.MaxLen); err != nil {
		return nil, err
	}
	if l.windows = l.source.Windows(); l.windows < 1 || l.windows >= 1<<31 {
		return nil, fmt.Errorf("train: a source of %d windows, expected at least one", l.windows)
	}
	for range cap(l.windowsFree) {
		l.windowsFree <- &Batches{pairs: new(Pairs), seed: o.Seed}
	}
	return l, nil
}

// survey reads the first epoch of a Source to know how many pairs there are, how large a window is, and the fingerprint,
// that is of the windows' fingerprints. For pairs in memory all that is known.
func (l *loader) survey(ctx context.Context, tokens int) error {
	if l.source == nil {
		return nil
	}
	b, other := <-l.windowsFree, <-l.windowsFree
	h := sha256.New()
	var largest, srcTokens, tgtTokens int
	l.held = b
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
		b.use(l.maxLen)
		l.pairs, l.TooLong, l.Empty = l.pairs+b.Pairs(), l.TooLong+b.TooLong, l.Empty+b.Empty
		largest = max(largest, b.pairs.Len())
		srcTokens, tgtTokens = max(srcTokens, len(b.pairs.src.ids)), max(tgtTokens, len(b.pairs.tgt.ids))
		h.Write([]byte(b.pairs.fingerprint()))
	}
	if l.pairs == 0 {
		return noPairs(l.Empty+l.TooLong, l.Empty, l.TooLong, l.maxLen)
	}
	l.fingerprint = hex.EncodeToString(h.Sum(nil)[:8])
	// A batch is never more than a window, but other epochs may have other tokens: as many as the limit on lengths allows.
	tokens = min(tokens, largest*(l.maxLen+1))
	other.pairs.reset()
	other.pairs.src.grow(largest, srcTokens+srcTokens/64)
	other.pairs.tgt.grow(largest, tgtTokens+tgtTokens/64)
	for _, w := range []*Batches{l.held, other} {
		w.limit(tokens)
		l.windowsFree <- w
	}
	l.MaxSrc, l.MaxTgt = b.MaxSrc, b.MaxTgt
	sentences := min(tokens/2, largest)
	l.buffers = func() model.Batch { return newBatch(l.MaxSrc, l.MaxTgt, sentences) }
	return nil
}

// read gets the pairs of a window.
func (l *loader) read(ctx context.Context, b *Batches, epoch, window int) error {
	b.pairs.reset()
	if err := l.source.Read(ctx, b.pairs, epoch, window); err != nil {
		return err
	}
	return b.pairs.check("training pairs", l.srcVocab, l.tgtVocab)
}

// Seek goes to a place, before the first call of Next, which returns an error if it is not there.
func (l *loader) Seek(at Position) error {
	if at.Epoch < 0 || at.Window < 0 || at.Window >= l.windows || at.Batch < 0 {
		return fmt.Errorf("train: there is no batch %d of window %d of epoch %d: epochs have %d windows", at.Batch, at.Window, at.Epoch, l.windows)
	}
	l.at = at
	return nil
}

// Position is the place of the next batch.
func (l *loader) Position() Position { return l.at }

// Next exchanges *dst, whose memory it takes, for the next batch. After an error every further call returns the same.
func (l *loader) Next(dst *model.Batch) error {
	if !l.started {
		l.start()
	}
	if l.next != nil {
		return l.next
	}
	got := <-l.batchesReady
	if l.next = got.err; got.err != nil {
		return got.err
	}
	l.batchesFree <- *dst
	*dst, l.at = got.batch, got.after
	return nil
}

func (l *loader) start() {
	l.started = true
	for range cap(l.batchesFree) {
		l.batchesFree <- l.buffers()
	}
	l.running.Add(2)
	go l.dealWindows(l.at)
	go l.copyBatches(l.at)
}

// stop ends the goroutines.
func (l *loader) stop() {
	l.stopReading()
	l.running.Wait()
}

// dealWindows makes the windows from a place on ready.
func (l *loader) dealWindows(at Position) {
	defer l.running.Done()
	barren := 0 // windows in a row that have no batch
	for {
		var b *Batches
		select {
		case b = <-l.windowsFree:
		case <-l.quit.Done():
			return
		}
		err := l.deal(b, at)
		if err == nil && at.Batch > len(b.cuts) {
			err = fmt.Errorf("train: epoch %d has %d batches in window %d, not %d", at.Epoch, len(b.cuts), at.Window, at.Batch)
		}
		if barren++; len(b.cuts) > 0 {
			barren = 0
		} else if err == nil && barren > l.windows {
			err = noPairs(b.Empty+b.TooLong, b.Empty, b.TooLong, l.maxLen)
		}
		b.at.Batch = at.Batch
		select {
		case l.windowsReady <- dealt{b, err}:
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

func (l *loader) deal(b *Batches, at Position) error {
	if l.source != nil {
		if b != l.held || at.Epoch > 0 || at.Window > 0 {
			if err := l.read(l.quit, b, at.Epoch, at.Window); err != nil {
				return err
			}
		}
		l.held = nil
		b.use(l.maxLen)
		b.reserve()
	}
	b.at = Position{Epoch: at.Epoch, Window: at.Window}
	b.deal()
	return nil
}

// copyBatches makes the batches of the windows ready.
func (l *loader) copyBatches(at Position) {
	defer l.running.Done()
	for {
		var w dealt
		select {
		case w = <-l.windowsReady:
		case <-l.quit.Done():
			return
		}
		b := w.window
		for w.err != nil || b.at.Batch < len(b.cuts) {
			got := loaded{err: w.err}
			if w.err == nil {
				select {
				case got.batch = <-l.batchesFree:
				case <-l.quit.Done():
					return
				}
				b.fill(&got.batch)
				got.after = b.at
			}
			select {
			case l.batchesReady <- got:
			case <-l.quit.Done():
				return
			}
			if w.err != nil {
				return
			}
		}
		l.windowsFree <- b
	}
}
