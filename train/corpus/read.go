package corpus

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"tfm/model"
	"tfm/text"
	"tfm/text/holdout"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
)

// Options are the inputs of Read and Inspect.
type Options struct {
	Train *Text // training pairs
	Valid *Text // validation pairs; nil holds out some of Train: see MaxHeldOut

	// Model is the Config of a model to train further, else zero. Only its tokens of languages
	// are used. If it has some, SrcLang and TgtLang are codes of the languages of the pairs.
	Model            model.Config
	SrcLang, TgtLang string

	// Tagged says that every source begins with >>id<<, the language of its target, see
	// lang.CutCode. Without tokens of languages in Model each is split into pieces.
	Tagged bool

	Tokenizers *vocab.Tokenizers // nil learns them from Train
	VocabSize  int               // pieces of each tokenizer to learn
	Joint      bool              // learn one tokenizer for both sides instead of one for each
	Trim       bool              // drop pieces of Tokenizers that Train does not use
	CountWords bool              // also with Tokenizers, for Survey.Learn

	// Progress, if not nil, is called from time to time on the caller's goroutine with the
	// number of pairs that are done.
	Progress func(phase Phase, pairs int)
}

// Phase is a reading of the training pairs.
type Phase string

// The phases: Inspect reads the pairs once, Survey.Read once more, or twice to hold pairs out.
const (
	Reading    Phase = "reading"     // validating and counting pairs, counting words
	HoldingOut Phase = "holding out" // finding near-duplicates of pairs that were drawn
	Encoding   Phase = "encoding"    // encoding pairs as token ids
)

// minBLEUPairs is the number of validation pairs below which the loss chooses the best step.
const minBLEUPairs = 100

// growAfter is the number of pairs whose average length predicts the memory of the others.
const growAfter = 256

// Corpus is the data of a training and the counts of its preparation. Close it after the training.
type Corpus struct {
	train.Data
	Vocab vocab.Tokenizers // Data.Tokenizers are its encoded form

	// WordThreshold is vocab.Trainer.Threshold: above 1, the tokenizers were learned from a
	// sample of the words. It is 0 for given tokenizers.
	WordThreshold int64

	// The languages of model.Config: those of Options.Model, renumbered if its tokenizers were
	// trimmed, or of Options.Tagged; "" for pairs without.
	SrcLanguages, TgtLanguages model.Languages

	TrainPairs  int // training pairs
	ValidPairs  int // validation pairs, held out or of Options.Valid; 0 without validation
	Unscored    int // validation pairs without a loss, see unscored
	Windows     int // windows of an epoch; 1 if all pairs are in memory
	WindowPairs int // pairs of a window, held-out pairs included

	HeldOut *holdout.ValidationSet // the held-out pairs; nil unless ValidPairs are of Train
}

// Read reads a corpus for a training with the options o. It is Inspect and Survey.Read in one call,
// for callers who know all settings beforehand.
func Read(ctx context.Context, c Options, o train.Options) (*Corpus, error) {
	if o.ValidEvery <= 0 {
		c.Valid = nil // unused
	}
	s, err := Inspect(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, o)
}

// Read reads the corpus of the survey for a training with the options o. It uses their ValidEvery
// (0: no validation), ShuffleWindow, MaxLen and Seed. It learns the tokenizers from the
// word counts of the survey, which it frees, so that it can be called once, and reads the training
// pairs again to encode them. If they are a Mix or exceed one window, they
// become a stream, which the training reads again in every epoch.
//
// The result depends only on the texts and the options. Errors name file and line. When ctx ends,
// Read returns its cause.
func (s *Survey) Read(ctx context.Context, o train.Options) (*Corpus, error) {
	r := reader{Survey: s, options: o, out: new(Corpus)}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	return r.out, nil
}

// Drawn returns how many pairs of each source of a stream a training has read before a position, up
// to the end of its window; nil for pairs in memory.
func (c *Corpus) Drawn(at train.Position) []int {
	s, ok := c.Stream.(*stream)
	if !ok {
		return nil
	}
	if at.Batch > 0 {
		at.Window++
	}
	return s.schedule.drawn(s.start(at.Epoch, at.Window))
}

// Close closes the files of a stream.
func (c *Corpus) Close() {
	if s, ok := c.Stream.(*stream); ok {
		s.close()
	}
}

// reader is the state of Survey.Read.
type reader struct {
	*Survey
	options train.Options
	out     *Corpus

	encoders [2]encoder
	ids      [2][]int32 // of a pair
}

func (r *reader) read(ctx context.Context) error {
	if err := r.learn(); err != nil {
		return err
	}
	runtime.GC() // frees the word counts before the encoded pairs are allocated
	c := r.out
	var err error
	r.encoders = [2]encoder{c.Vocab.Source.Encode, c.Vocab.Target.Encode}
	if c.SrcLanguages, c.TgtLanguages, err = r.setAffixes(c.Vocab); err != nil {
		return err
	}
	if c.Tokenizers, err = c.Vocab.Marshal(); err != nil {
		return err
	}
	c.Detokenize, c.DetokenizeSource = c.Vocab.Target.Decode, c.Vocab.Source.Decode
	c.TargetPiece = c.Vocab.Target.Bytes
	validate := r.options.ValidEvery > 0
	heldOut := map[int]bool{} // by index in the corpus
	if validate && r.Valid == nil {
		if err := r.holdOut(ctx, heldOut); err != nil {
			return err
		}
	}
	c.TrainPairs = r.Pairs - len(heldOut)
	if err := r.encode(ctx, heldOut); err != nil {
		return err
	}
	if validate && r.Valid != nil {
		err := text.Each(ctx, r.Valid.pairs, func(p text.Pair) error {
			r.addValid(r.Valid.dataset(r.Valid.part()), p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.ValidPairs = len(c.References)
	c.ByLoss = c.ValidPairs < minBLEUPairs
	if c.Valid != nil {
		c.Unscored = unscored(c.Valid, r.options.MaxLen)
	}
	return nil
}

// holdOut chooses the held-out pairs, encodes them, and adds their indices to heldOut.
func (r *reader) holdOut(ctx context.Context, heldOut map[int]bool) error {
	if n := r.heldOutOf(); !r.chosen && slices.Max(n) > 0 {
		pairs := func(yield func(text.Pair, error) bool) {
			i := 0
			for p, err := range r.Train.pairs {
				if !yield(p, err) {
					return
				}
				i++
				r.progress(HoldingOut, i)
			}
		}
		if err := r.heldOut.Choose(ctx, pairs, n); err != nil {
			return err
		}
		r.chosen = true
	}
	r.out.HeldOut = r.heldOut
	r.out.ValidParts = r.validParts()
	for _, p := range r.heldOut.Pairs {
		heldOut[p.Line-1] = true
		part, _ := r.Train.locate(p.Line)
		r.addValid(r.Train.dataset(part), p)
	}
	return nil
}

// validParts returns the held-out pairs of each source of a Mix, nil if they are of one.
func (r *reader) validParts() (parts []train.ValidPart) {
	mix, _ := r.Train.Mix()
	if mix == nil {
		return nil
	}
	for _, s := range mix.Datasets {
		parts = append(parts, train.ValidPart{Name: s.Name})
	}
	for _, p := range r.heldOut.Pairs {
		part, _ := r.Train.locate(p.Line)
		parts[part].Pairs++
	}
	if parts = slices.DeleteFunc(parts, func(p train.ValidPart) bool { return p.Pairs == 0 }); len(parts) < 2 {
		return nil
	}
	return parts
}

// learn learns the tokenizers, unless they are given.
func (r *reader) learn() (err error) {
	words := r.words
	r.words = nil
	switch {
	case r.Tokenizers != nil:
		r.out.Vocab = *r.Tokenizers
	case words == nil:
		return errors.New("corpus: found no word counts, expected Tokenizers or the first Read of a Survey that counted words")
	default:
		r.out.Vocab, err = words.Train(r.VocabSize, r.Joint)
		r.out.WordThreshold = words.Threshold()
	}
	return err
}

// encode opens the training pairs as a stream or encodes them.
func (r *reader) encode(ctx context.Context, heldOut map[int]bool) error {
	c, o, pairs, files := r.out, r.options, r.Pairs, r.Train.parts != nil
	c.Windows, c.WindowPairs = 1, pairs
	if files && (r.Train.stages != nil || o.ShuffleWindow > 0 && pairs > o.ShuffleWindow) {
		s, err := newStream(r.Train, r.encoders, r.affixes, heldOut, o)
		if err != nil {
			return err
		}
		c.Stream, c.Windows, c.WindowPairs = s, s.windows, s.start(0, 1)
		if r.Train.stages != nil {
			c.StreamFingerprint = fmt.Sprint(r.sum, r.Train.counts, s.schedule)
			for i, part := range r.Train.parts {
				if l := part.languages(); r.affixes.of != nil && l != (languages{}) {
					c.StreamFingerprint += fmt.Sprint(i, l)
				}
			}
		}
		return nil
	}
	c.Train = new(train.Pairs)
	i := 0
	return text.Each(ctx, r.Train.pairs, func(p text.Pair) error {
		if !heldOut[i] {
			r.add(c.Train, r.Train.dataset(r.Train.part()), p)
		}
		i++
		r.progress(Encoding, i)
		if i == growAfter {
			c.Train.Grow(pairs - i)
		}
		return nil
	})
}

// add encodes a pair of a part of the corpus and appends it to dst.
func (r *reader) add(dst *train.Pairs, part Dataset, p text.Pair) {
	r.affixes.encode(&r.ids, part, p.Source, p.Target, r.encoders)
	dst.Add(r.ids[0], r.ids[1])
}

// addValid adds a pair of a part to the validation pairs.
func (r *reader) addValid(part Dataset, p text.Pair) {
	if r.out.Valid == nil {
		r.out.Valid = new(train.Pairs)
	}
	r.add(r.out.Valid, part, p)
	r.out.References = append(r.out.References, strings.Clone(p.Target))
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
