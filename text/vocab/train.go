package vocab

import (
	"tfm/text"
	"tfm/text/bpe"
)

// Trainer learns the tokenizers of a model from the pairs of its corpus. The zero value learns one
// for each side. A Trainer is not safe for concurrent use.
type Trainer struct {
	Joint bool // learn one tokenizer from both sides; must not change after the first Add

	source, target bpe.Trainer
}

// Add counts the words of a pair. It does not retain the strings.
func (t *Trainer) Add(p text.Pair) {
	t.source.Add(p.Source)
	if t.Joint {
		t.source.Add(p.Target)
	} else {
		t.target.Add(p.Target)
	}
}

// Threshold returns the larger bpe.Trainer.Threshold of the two sides: 1 if all counts are exact, T
// if words less frequent than T were sampled.
func (t *Trainer) Threshold() int64 { return max(t.source.Threshold(), t.target.Threshold()) }

// Train returns tokenizers of size ids each, or fewer if the corpus has too few merges. It fails if
// size is less than bpe.MinSize.
func (t *Trainer) Train(size int) (Tokenizers, error) {
	src, err := t.source.Train(size)
	if err != nil {
		return Tokenizers{}, err
	}
	if t.Joint {
		return Tokenizers{src, src}, nil
	}
	tgt, err := t.target.Train(size)
	if err != nil {
		return Tokenizers{}, err
	}
	return Tokenizers{src, tgt}, nil
}
