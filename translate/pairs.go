package translate

import (
	"context"
	"fmt"
	"slices"

	"tfm/internal/exact"
	"tfm/model/decode"
	"tfm/text"
)

// PairScore holds the log-probability of a given translation.
type PairScore struct {
	// LogProb is the natural logarithm of the probability of the translation: the sum of
	// LogProbs.
	LogProb float64

	// LogProbs are the log-probabilities of Tokens, each after the tokens before it, and of
	// EOS.
	LogProbs []float64

	Tokens []Token // of the translation

	// Err reports that a side is longer than the model's limit. The pair then has no other
	// field.
	Err error
}

// Perplexity returns the exponential of the mean of -LogProbs, or NaN if Err is not nil.
func (s PairScore) Perplexity() float64 { return exact.Exp(-s.LogProb / float64(len(s.LogProbs))) }

// ScorePairs returns the log-probability of the target of each pair as a translation of its source.
// The values are those of the training loss without label smoothing, and depend neither on the
// other pairs nor on the number of threads. A translation that the model found has a Score that is
// its LogProb divided by the length penalty, except for the probability that Pad and BOS have here.
// Blank texts have no tokens but EOS. Calls that score wait for each other. The languages of a
// pair are those of a Request that names none. The error is that of ctx, or of a language.
func (t *Translator) ScorePairs(ctx context.Context, pairs []text.Pair) ([]PairScore, error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	defer t.end()
	scores := make([]PairScore, len(pairs))
	var srcs, tgts [][]int32
	var scored []int // index of each of srcs in pairs
	known := affixesByCodes{}
	for i, p := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		src, a, err := t.encodeSource(known, p.Source)
		if err != nil {
			return nil, err
		}
		tgt, ranges := t.tokenizers.Target.EncodeRanges(nil, nil, p.Target)
		switch limit := t.MaxSource(); {
		case len(src) > limit:
			scores[i].Err = fmt.Errorf("source of %d tokens, expected up to %d", len(src), limit)
		case len(a.Begin)+len(tgt) > limit:
			scores[i].Err = fmt.Errorf("target of %d tokens, expected up to %d", len(tgt), limit-len(a.Begin))
		default:
			scores[i].Tokens = tokens(tgt, ranges)
			srcs, tgts, scored = append(srcs, src), append(tgts, slices.Concat(a.Begin, tgt)), append(scored, i)
		}
	}
	var logProbs [][]float64
	err := t.withDecoder(ctx, func(d *decode.Decoder) (err error) {
		logProbs, err = d.LogProbs(ctx, srcs, tgts)
		return err
	})
	if err != nil {
		return nil, err
	}
	for k, i := range scored {
		scores[i].LogProbs = logProbs[k][len(logProbs[k])-1-len(scores[i].Tokens):]
		for _, x := range scores[i].LogProbs {
			scores[i].LogProb += x
		}
	}
	return scores, nil
}

// withDecoder calls f with the Decoder for given translations as soon as no other call uses it. The
// error is that of f or ctx.
func (t *Translator) withDecoder(ctx context.Context, f func(*decode.Decoder) error) error {
	select {
	case d := <-t.pairs:
		defer func() { t.pairs <- d }()
		return f(d)
	case <-ctx.Done():
		return ctx.Err()
	}
}
