package vocab

import (
	"tfm/text"
	"tfm/text/tokenizer/bpe"
)

// Trainer learns the tokenizers of a model from the pairs of its corpus, a joint one or one for
// each side. The zero value is ready to use. A Trainer is not safe for concurrent use.
type Trainer struct{ source, target bpe.Trainer }

// Add counts the words of a pair. It does not retain the strings.
func (t *Trainer) Add(p text.Pair) {
	t.source.Add(p.Source)
	t.target.Add(p.Target)
}

// Threshold returns the larger bpe.Trainer.Threshold of the two sides, and after Train that of the
// words it learned from: 1 if all counts are exact, T if words less frequent than T were sampled.
func (t *Trainer) Threshold() int64 { return max(t.source.Threshold(), t.target.Threshold()) }

// Train returns tokenizers of size ids each, or fewer if the corpus has too few merges: a joint
// one, or one for each side. It fails if size is less than bpe.MinSize. It can be called once.
func (t *Trainer) Train(size int, joint bool) (Tokenizers, error) {
	if joint {
		t.source.Merge(&t.target)
	}
	source, err := t.source.Train(size)
	if err != nil {
		return Tokenizers{}, err
	}
	if joint {
		return Tokenizers{source, source}, nil
	}
	target, err := t.target.Train(size)
	if err != nil {
		return Tokenizers{}, err
	}
	return Tokenizers{source, target}, nil
}
