package corpus

import (
	"context"

	"tfm/text"
	"tfm/text/vocab"
)

// Survey is a corpus that has been read once, by Inspect: its size, and the word counts from which
// Read learns the tokenizers. VocabSize, Joint and Tokenizers can be set between Inspect and Read.
type Survey struct {
	Options

	Pairs int // training pairs, held-out pairs included

	words *vocab.Trainer // nil for given tokenizers and after Read
}

// Inspect reads all pairs once, the validation pairs first, because their errors are found sooner.
// It validates and counts them, and counts the words of the training pairs unless c has Tokenizers.
// It does not use c's VocabSize and Joint. Errors name file and line. When ctx ends, Inspect
// returns its cause.
func Inspect(ctx context.Context, c Options) (*Survey, error) {
	s := &Survey{Options: c}
	if c.Tokenizers == nil {
		s.words = new(vocab.Trainer)
	}
	if c.Valid != nil {
		if err := c.Valid.forEach(ctx, func(text.Pair) {}); err != nil {
			return nil, err
		}
	}
	err := c.Train.forEach(ctx, func(p text.Pair) {
		s.Pairs++
		s.progress(Reading, s.Pairs)
		if s.words != nil {
			s.words.Add(p)
		}
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// progressEvery is the number of pairs between calls of Options.Progress.
const progressEvery = 1 << 14

func (s *Survey) progress(stage Stage, pairs int) {
	if s.Progress != nil && pairs%progressEvery == 0 {
		s.Progress(stage, pairs)
	}
}
