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

// Options are what Read makes data from.
type Options struct {
	Train *Text // the training pairs
	Valid *Text // the validation pairs; nil holds some of Train out: one in a hundred, at most 1,000

	Tokenizers *vocab.Pair // nil learns them from Train
	VocabSize  int         // ids of a tokenizer that is learned
	Joint      bool        // learn one tokenizer on both languages; else one on each

	// Progress, if not nil, is called now and then, by the goroutine of Read.
	Progress func(stage Stage, pairs int)
}

// Stage is what Read is doing.
type Stage string

// The stages of Read.
const (
	Reading  Stage = "reading"  // the pairs are checked, counted, and the words of their tokenizers counted
	Encoding Stage = "encoding" // the pairs become token ids
)

// progressEvery is the number of pairs between calls of Options.Progress.
const progressEvery = 1 << 14

// Corpus is the data of a training and what was done to get it. Close it after the training.
type Corpus struct {
	train.Data
	Tokens vocab.Pair // whose files are Data.Tokenizers

	// WordThreshold is vocab.Trainer.Threshold: above 1, the tokenizers were learned from a sample
	// of the words. 0 if they were given.
	WordThreshold int64

	TrainPairs   int // pairs to train on
	ValidPairs   int // pairs to validate with, held out or of Options.Valid; 0 without validation
	HeldOutEvery int // one pair in so many is held out; 0 if none are
	Unscored     int // validation pairs that count only for BLEU: a side is empty or longer than train.Options.MaxLen
	Windows      int // windows of an epoch; 1 if all pairs are in memory
	WindowPairs  int // pairs of a window, held-out ones included
}

// Read reads a corpus for a training with the options o, of which ValidEvery (0 is no validation),
// ShuffleWindow, BPEDropout, MaxLen and Seed matter here. It reads the training pairs twice: to
// find what is wrong with them, count them and learn the tokenizers, and to encode them. They
// become a stream, which the training reads again, if they are more than one window, or if
// BPE-dropout makes others of them in every epoch.
//
// The result depends on the texts and the options alone. Errors name file and line; a ctx that ends
// is the error context.Cause(ctx).
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
	if s, ok := c.Source.(*stream); ok {
		s.close()
	}
}

// reader is one call of Read.
type reader struct {
	in      Options
	options train.Options
	out     *Corpus

	src, tgt []int32
}

func (r *reader) read(ctx context.Context) error {
	validate := r.options.ValidEvery > 0
	if validate && r.in.Valid != nil { // its errors come before the longer corpus is read
		if err := r.in.Valid.each(ctx, func(text.Pair) {}); err != nil {
			return err
		}
	}
	pairs, err := r.learn(ctx)
	if err != nil {
		return err
	}
	runtime.GC() // frees the counts of words before the encoded pairs take their place
	c := r.out
	if c.Tokenizers, err = c.Tokens.Marshal(); err != nil {
		return err
	}
	c.Detokenize, c.DetokenizeSource = c.Tokens.Target.Decode, c.Tokens.Source.Decode
	var out holdOut
	if validate && r.in.Valid == nil {
		out = holdOutOf(pairs)
	}
	c.TrainPairs, c.HeldOutEvery = pairs-out.count, out.every
	if err := r.encode(ctx, pairs, out); err != nil {
		return err
	}
	if validate && r.in.Valid != nil {
		if err := r.in.Valid.each(ctx, r.addValid); err != nil {
			return err
		}
	}
	c.ValidPairs = len(c.References)
	if c.Valid != nil {
		c.Unscored = unscored(c.Valid, r.options.MaxLen)
	}
	return nil
}

// learn counts the training pairs and, if they are not given, learns the tokenizers.
func (r *reader) learn(ctx context.Context) (pairs int, err error) {
	trainer := vocab.Trainer{Joint: r.in.Joint}
	err = r.in.Train.each(ctx, func(p text.Pair) {
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
		r.out.Tokens = *r.in.Tokenizers
	default:
		r.out.Tokens, err = trainer.Train(r.in.VocabSize)
		r.out.WordThreshold = trainer.Threshold()
	}
	return pairs, err
}

// encode makes the training pairs a stream or encodes them, and encodes those that are held out.
func (r *reader) encode(ctx context.Context, pairs int, out holdOut) error {
	c, o, files := r.out, r.options, r.in.Train.files
	c.Windows, c.WindowPairs = 1, pairs
	switch {
	case files == nil && o.BPEDropout > 0:
		return errors.New("corpus: BPE-dropout encodes the pairs anew in every epoch, so it needs them in files")
	case files != nil && (o.BPEDropout > 0 || o.ShuffleWindow > 0 && pairs > o.ShuffleWindow):
		s, err := newStream(files, c.Tokens, out, pairs, o)
		if err != nil {
			return err
		}
		c.Source, c.Windows, c.WindowPairs = s, s.windows, s.start(1)
		if out.count == 0 {
			return nil
		}
	default:
		c.Train = new(train.Pairs)
	}
	i := 0
	return r.in.Train.each(ctx, func(p text.Pair) {
		if out.has(i) {
			r.addValid(p)
		} else if c.Train != nil {
			r.add(c.Train, p)
		}
		i++
		r.progress(Encoding, i)
		if i == changeBlock && c.Train != nil {
			c.Train.Expect(pairs - i)
		}
	})
}

func (r *reader) add(to *train.Pairs, p text.Pair) {
	r.src = r.out.Tokens.Source.Encode(r.src[:0], p.Source)
	r.tgt = r.out.Tokens.Target.Encode(r.tgt[:0], p.Target)
	to.Add(r.src, r.tgt)
}

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

// unscored counts the pairs that have no part in the validation's loss.
func unscored(p *train.Pairs, maxLen int) int {
	n := 0
	for i := range p.Len() {
		if src, tgt := len(p.Src(i)), len(p.Tgt(i)); min(src, tgt) == 0 || max(src, tgt) > maxLen {
			n++
		}
	}
	return n
}
