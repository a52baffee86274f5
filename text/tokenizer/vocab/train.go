package vocab

import (
	"tfm/text"
	"tfm/text/tokenizer/bpe"
)

// Trainer learns the tokenizers of a model from the pairs of its corpus, a joint one or one for
// each side. The zero value is ready to use. A Trainer is not safe for concurrent use.
type Trainer struct{ source, target, joint bpe.Trainer }

// Add counts the words of a pair. It does not retain the strings.
func (t *Trainer) Add(p text.Pair) {
	t.source.Add(p.Source)
	t.target.Add(p.Target)
	t.joint.Add(p.Source)
	t.joint.Add(p.Target)
}

// Threshold returns the bpe.Trainer.Threshold of the joint vocabulary, or the larger one of the two
// sides: 1 if all counts are exact, T if words less frequent than T were sampled.
func (t *Trainer) Threshold(joint bool) int64 {
	if joint {
		return t.joint.Threshold()
	}
	return max(t.source.Threshold(), t.target.Threshold())
}

// Train returns tokenizers of size ids each, or fewer if the corpus has too few merges: a joint
// one, or one for each side. It fails if size is less than bpe.MinSize.
func (t *Trainer) Train(size int, joint bool) (Tokenizers, error) {
	trainers := []*bpe.Trainer{&t.source, &t.target}
	if joint {
		trainers = []*bpe.Trainer{&t.joint}
	}
	var learned []text.Tokenizer
	for _, trainer := range trainers {
		tokenizer, err := trainer.Train(size)
		if err != nil {
			return Tokenizers{}, err
		}
		learned = append(learned, tokenizer)
	}
	return Tokenizers{learned[0], learned[len(learned)-1]}, nil
}
