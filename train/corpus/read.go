package corpus

import (
	"context"
	"errors"
	"runtime"
	"strings"

	"tfm/text"
	"tfm/text/vocab"
	"tfm/train"
)

// Options are the inputs of Read.
type Options struct {
	Train *Text // training pairs
	Valid *Text // validation pairs; nil holds out every hundredth pair of Train, at most 1,000

	Tokenizers *vocab.Tokenizers // nil learns them from Train
	VocabSize  int               // pieces of each tokenizer to learn
	Joint      bool              // learn one tokenizer for both sides instead of one for each

	// Progress, if not nil, is called from time to time on Read's goroutine with the number of
	// pairs that are done.
	Progress func(stage Stage, pairs int)
}

// Stage is a stage of Read.
type Stage string

// The stages of Read.
const (
	Reading  Stage = "reading"  // validating and counting pairs, counting words for the tokenizers
	Encoding Stage = "encoding" // encoding pairs as token ids
)

// progressEvery is the number of pairs between calls of Options.Progress.
const progressEvery = 1 << 14

// growAfter is the number of pairs whose average length predicts the memory of the others.
const growAfter = 256

// Corpus is the data of a training and the counts of its preparation. Close it after the training.
type Corpus struct {
	train.Data
	Vocab vocab.Tokenizers // Data.Tokenizers are its encoded form

	// WordThreshold is vocab.Trainer.Threshold: above 1, the tokenizers were learned from a
	// sample of the words. It is 0 for given tokenizers.
	WordThreshold int64

	TrainPairs   int // training pairs
	ValidPairs   int // validation pairs, held out or of Options.Valid; 0 without validation
	HeldOutEvery int // one of this many pairs is held out; 0: none
	Unscored     int // validation pairs without a loss, see unscored
	Windows      int // windows of an epoch; 1 if all pairs are in memory
	WindowPairs  int // pairs of a window, held-out pairs included
}

// Read reads a corpus for a training with the options o. It uses their ValidEvery (0: no
// validation), ShuffleWindow, BPEDropout, MaxLen and Seed. It reads the training pairs twice: once
// to validate and count them and to learn the tokenizers, and once to encode them. If they exceed
// one window or BPE-dropout is on, they become a stream, which the training reads again in every
// epoch.
//
// The result depends only on the texts and the options. Errors name file and line. When ctx ends,
// Read returns its cause.
func Read(ctx context.Context, c Options, o train.Options) (*Corpus, error) {
	if c.Progress == nil {
		c.Progress = func(Stage, int) {}
	}
	r := reader{in: c, options: o, out: new(Corpus)}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	return r.out, nil
}

// Close closes the files of a stream.
func (c *Corpus) Close() {
	if s, ok := c.Stream.(*stream); ok {
		s.close()
	}
}

// reader is the state of Read.
type reader struct {
	in      Options
	options train.Options
	out     *Corpus

	src, tgt []int32
}

func (r *reader) read(ctx context.Context) error {
	validate := r.options.ValidEvery > 0
	if validate && r.in.Valid != nil { // reports its errors before the longer corpus is read
		if err := r.in.Valid.forEach(ctx, func(text.Pair) {}); err != nil {
			return err
		}
	}
	pairs, err := r.learn(ctx)
	if err != nil {
		return err
	}
	runtime.GC() // frees the word counts before the encoded pairs are allocated
	c := r.out
	if c.Tokenizers, err = c.Vocab.Marshal(); err != nil {
		return err
	}
	c.Detokenize, c.DetokenizeSource = c.Vocab.Target.Decode, c.Vocab.Source.Decode
	var heldOut holdout
	if validate && r.in.Valid == nil {
		heldOut = newHoldout(pairs)
	}
	c.TrainPairs, c.HeldOutEvery = pairs-heldOut.count, heldOut.every
	if err := r.encode(ctx, pairs, heldOut); err != nil {
		return err
	}
	if validate && r.in.Valid != nil {
		if err := r.in.Valid.forEach(ctx, r.addValid); err != nil {
			return err
		}
	}
	c.ValidPairs = len(c.References)
	if c.Valid != nil {
		c.Unscored = unscored(c.Valid, r.options.MaxLen)
	}
	return nil
}

// learn counts the training pairs and learns the tokenizers, unless they are given.
func (r *reader) learn(ctx context.Context) (pairs int, err error) {
	trainer := vocab.Trainer{Joint: r.in.Joint}
	err = r.in.Train.forEach(ctx, func(p text.Pair) {
		pairs++
		r.progress(Reading, pairs)
		if r.in.Tokenizers == nil {
			trainer.Add(p)
		}
	})
	switch {
	case err != nil:
		return 0, err
	case r.in.Tokenizers != nil:
		r.out.Vocab = *r.in.Tokenizers
	default:
		r.out.Vocab, err = trainer.Train(r.in.VocabSize)
		r.out.WordThreshold = trainer.Threshold()
	}
	return pairs, err
}

// encode opens the training pairs as a stream or encodes them, and encodes the held-out pairs.
func (r *reader) encode(ctx context.Context, pairs int, heldOut holdout) error {
	c, o, files := r.out, r.options, r.in.Train.files
	c.Windows, c.WindowPairs = 1, pairs
	switch {
	case files == nil && o.BPEDropout > 0:
		return errors.New("corpus: found training pairs in memory, expected files: BPE-dropout reads them in every epoch")
	case files != nil && (o.BPEDropout > 0 || o.ShuffleWindow > 0 && pairs > o.ShuffleWindow):
		s, err := newStream(files, c.Vocab, heldOut, pairs, o)
		if err != nil {
			return err
		}
		c.Stream, c.Windows, c.WindowPairs = s, s.windows, s.start(1)
		if heldOut.count == 0 {
			return nil
		}
	default:
		c.Train = new(train.Pairs)
	}
	i := 0
	return r.in.Train.forEach(ctx, func(p text.Pair) {
		if heldOut.has(i) {
			r.addValid(p)
		} else if c.Train != nil {
			r.add(c.Train, p)
		}
		i++
		r.progress(Encoding, i)
		if i == growAfter && c.Train != nil {
			c.Train.Grow(pairs - i)
		}
	})
}

// add encodes p and appends it to dst.
func (r *reader) add(dst *train.Pairs, p text.Pair) {
	r.src = r.out.Vocab.Source.Encode(r.src[:0], p.Source)
	r.tgt = r.out.Vocab.Target.Encode(r.tgt[:0], p.Target)
	dst.Add(r.src, r.tgt)
}

// addValid adds p to the validation pairs.
func (r *reader) addValid(p text.Pair) {
	if r.out.Valid == nil {
		r.out.Valid = new(train.Pairs)
	}
	r.add(r.out.Valid, p)
	r.out.References = append(r.out.References, strings.Clone(p.Target))
}

func (r *reader) progress(stage Stage, pairs int) {
	if pairs%progressEvery == 0 {
		r.in.Progress(stage, pairs)
	}
}

// unscored counts the validation pairs without a loss, because a side is empty or has more than
// maxLen tokens. They count for BLEU only.
func unscored(p *train.Pairs, maxLen int) int {
	n := 0
	for i := range p.Len() {
		if src, tgt := len(p.Src(i)), len(p.Tgt(i)); min(src, tgt) == 0 || max(src, tgt) > maxLen {
			n++
		}
	}
	return n
}
