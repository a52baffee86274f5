package corpus

import (
	"context"
	"math/rand/v2"
	"strings"

	"tfm/internal/hash"
	"tfm/model"
	"tfm/text"
	"tfm/text/augment"
	"tfm/text/holdout"
	"tfm/text/tokenizer/vocab"
)

// Survey is a corpus that has been read once, by Inspect: the facts that it found, and the word
// counts from which Read learns the tokenizers. VocabSize, Joint, Tokenizers, SrcLang and TgtLang
// can be set between Inspect and Read.
type Survey struct {
	Options
	Facts // of the training pairs, held-out pairs included

	// Validation is nil without Options.Valid.
	Validation *Validation

	sum     uint64 // hash of the training pairs, in order
	affixes affixes
	words   *vocab.Trainer         // nil for given tokenizers and after Read
	heldOut *holdout.ValidationSet // nil with Options.Valid
	chosen  bool                   // whether heldOut has its pairs
}

// Validation describes the validation pairs of Options.Valid.
type Validation struct {
	Facts
	Overlap Overlap // with the training pairs
}

// Inspect reads all pairs once, the validation pairs first, because their errors are found sooner.
// It counts the words of the training pairs unless c has Tokenizers, which it trims with Trim. It
// does not use c's VocabSize and Joint. Errors name file and line. When ctx ends, Inspect returns
// its cause.
func Inspect(ctx context.Context, c Options) (*Survey, error) {
	s := &Survey{Options: c}
	if c.Tagged || c.Model.HasLanguages() {
		s.affixes = affixes{c.Tagged, map[languages]model.Affixes{}}
	}
	var training, valid factsCounter
	overlap := newOverlap()
	if c.Valid != nil {
		err := text.Each(ctx, c.Valid.pairs, func(p text.Pair) error {
			overlap.addValid(valid.add(p))
			return s.addLanguages(c.Valid, p)
		})
		if err != nil {
			return nil, err
		}
	}
	if c.Valid == nil {
		s.heldOut = holdout.NewValidationSet(maxHeldOut, max(1, len(c.Train.parts)))
	}
	var used *usage
	if c.Tokenizers == nil || c.CountWords {
		s.words = new(vocab.Trainer)
	}
	if c.Tokenizers != nil && c.Trim {
		used = newUsage(*c.Tokenizers)
	}
	err := text.Each(ctx, c.Train.pairs, func(p text.Pair) error {
		h := training.add(p)
		s.sum = hash.Mix(s.sum ^ h.pair)
		overlap.addTrain(h)
		if s.words != nil {
			s.addWords(p, training.Pairs)
		}
		if used != nil {
			_, source := s.affixes.cut(p.Source)
			used.add(source, p.Target)
		}
		if s.heldOut != nil {
			s.heldOut.Draw(p, c.Train.part())
		}
		s.progress(Reading, training.Pairs)
		return s.addLanguages(c.Train, p)
	})
	if err != nil {
		return nil, err
	}
	if used != nil {
		if err := s.trim(used); err != nil {
			return nil, err
		}
	}
	s.Facts = *training.end()
	if c.Valid != nil {
		s.Validation = &Validation{Facts: *valid.end(), Overlap: overlap.count()}
	}
	return s, nil
}

// addWords counts the words of training pair n as the modifiers of its first stage change it. With
// pieces of plain text a model hardly learns capitals, which they split into letters
// (BENCHMARKS.md). A Merge joins nothing.
func (s *Survey) addWords(p text.Pair, n int) {
	part := s.Train.part()
	modifiers := firstModifiers(s.Train.stages, part)
	if modifiers == nil {
		s.words.Add(p)
		return
	}
	whole, rest := p.Source, ""
	if tag := s.Train.dataset(part).Tag; tag != "" {
		rest = strings.TrimPrefix(whole, tag+" ")
	} else {
		_, rest = s.affixes.cut(whole)
	}
	p.Source = rest
	none := func() (text.Pair, bool) { return text.Pair{}, false }
	p = augment.Apply(modifiers, rand.New(rand.NewPCG(1, uint64(n))), p, none)
	p.Source = whole[:len(whole)-len(rest)] + p.Source
	s.words.Add(p)
}

// firstModifiers returns the modifiers of the first of the stages that has pairs of a source.
func firstModifiers(stages []Stage, source int) []augment.Modifier {
	for _, stage := range stages {
		if stage.Shares == nil || stage.Shares[source] > 0 {
			return stage.Modifiers
		}
	}
	return nil
}

// Learn learns tokenizers of size pieces from the training pairs, whose words Options.CountWords
// counted. more is the ratio of the tokens of a sample with Options.Tokenizers to those with them.
// It can be called once.
func (s *Survey) Learn(ctx context.Context, size int, joint bool) (learned vocab.Tokenizers, more float64, err error) {
	words := s.words
	s.words = nil
	if learned, err = words.Train(size, joint); err != nil {
		return learned, 0, err
	}
	const sample = 5000 // pairs
	i, before, after := 0, 0, 0
	var ids []int32
	count := func(t vocab.Tokenizers, p text.Pair) int {
		_, source := s.affixes.cut(p.Source)
		ids = t.Target.Encode(t.Source.Encode(ids[:0], source), p.Target)
		return len(ids)
	}
	err = text.Each(ctx, s.Train.pairs, func(p text.Pair) error {
		if i++; i%max(1, s.Pairs/sample) == 0 {
			before += count(*s.Tokenizers, p)
			after += count(learned, p)
		}
		return nil
	})
	return learned, float64(before) / float64(max(after, 1)), err
}

// progressEvery is the number of pairs between calls of Options.Progress.
const progressEvery = 1 << 14

func (s *Survey) progress(phase Phase, pairs int) {
	if s.Progress != nil && pairs%progressEvery == 0 {
		s.Progress(phase, pairs)
	}
}
