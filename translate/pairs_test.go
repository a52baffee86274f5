package translate_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"tfm/internal/exact"
	"tfm/model"
	"tfm/text"
	"tfm/translate"
)

// ScorePairs gives the loss of training, for any division into calls, and the pairs of the corpus
// score higher than others.
func TestScorePairs(t *testing.T) {
	tr := open(t, translate.Options{Threads: 2, KeepModel: true})
	sources, targets := phrases()
	var pairs []text.Pair
	var batch model.Batch
	for i, s := range sources {
		for _, target := range []string{targets[i], targets[(i+5)%len(targets)], "日本語", ""} {
			pairs = append(pairs, text.Pair{Source: s, Target: target})
			batch.Append(tr.Tokenizers().Source.Encode(nil, s), tr.Tokenizers().Target.Encode(nil, target))
		}
	}
	scores, err := tr.ScorePairs(background, pairs)
	if err != nil {
		t.Fatal(err)
	}
	nll := 0.0
	for i, s := range scores {
		sum := 0.0
		for _, x := range s.LogProbs {
			sum += x
			nll += float64(float32(-x)) // the loss of a token is a float32
		}
		if s.LogProb != sum || len(s.LogProbs) != len(s.Tokens)+1 || s.Err != nil {
			t.Errorf("%+v: %+v, want the sum %v", pairs[i], s, sum)
		}
		contiguous(t, pairs[i].Target, s.Tokens, true)
		if want := exact.Exp(-sum / float64(len(s.LogProbs))); s.Perplexity() != want {
			t.Errorf("%+v: perplexity %v, want %v", pairs[i], s.Perplexity(), want)
		}
		if i%4 > 0 && s.LogProb > scores[i-i%4].LogProb-1 {
			t.Errorf("%+v: log-probability %v, want less than %v of the translation", pairs[i], s.LogProb, scores[i-i%4].LogProb)
		}
		alone, err := tr.ScorePairs(background, pairs[i:i+1])
		if err != nil || !reflect.DeepEqual(alone[0], s) {
			t.Errorf("%+v alone: %+v, %v, want %+v", pairs[i], alone, err, s)
		}
	}
	if want := model.NewPass(tr.Model(), nil).Evaluate(&batch); nll != want.NLL {
		t.Errorf("sum %v, want the training loss %v", nll, want.NLL)
	}
}

func TestScorePairsOfWrongLength(t *testing.T) {
	tr := open(t, translate.Options{Threads: 1})
	long := strings.Repeat("the cat ", 100)
	scores, err := tr.ScorePairs(background, []text.Pair{{Source: long, Target: "le chat"}, {Source: "the cat", Target: long}, {}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"source of ", "target of "} {
		if s := scores[i]; s.Err == nil || !strings.HasPrefix(s.Err.Error(), want) || !strings.HasSuffix(s.Err.Error(), " tokens, expected up to 31") || s.LogProbs != nil || !math.IsNaN(s.Perplexity()) {
			t.Errorf("pair %d: %+v, want the error %q", i, s, want)
		}
	}
	if s := scores[2]; s.Err != nil || len(s.LogProbs) != 1 || !(s.LogProb < 0) {
		t.Errorf("empty pair: %+v, want the log-probability of EOS", s)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := tr.ScorePairs(ctx, []text.Pair{{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	tr.Close()
	if _, err := tr.ScorePairs(background, nil); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: error %v, want \"closed\"", err)
	}
}
