package decode

import (
	"context"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// LogProbs has the values of the training loss without label smoothing, for any split into calls
// and any number of threads.
func TestLogProbsAreTheTrainingLoss(t *testing.T) {
	for name, change := range map[string]func(c *model.Config){
		"paper":    func(c *model.Config) {},
		"pre-norm": func(c *model.Config) { c.Norm = model.PreNorm },
		"deep":     func(c *model.Config) { c.Norm, c.Tie = model.DeepNorm, model.TieNone },
		"biases":   func(c *model.Config) { c.OutputBias, c.EncoderLayers, c.DK, c.DV = true, 1, 3, 5 },
	} {
		c := toy()
		c.LabelSmoothing = 0
		change(&c)
		m := perturbed(t, c, 1)
		srcs, tgts := randomSources(210, 0, 5), randomSources(210, 0, 6) // more than maxPairRows
		var batch model.Batch
		for i := range srcs {
			batch.Append(srcs[i], tgts[i])
		}
		want := model.NewPass(m, nil).Evaluate(&batch)

		one := New(NewWeights(m, nil), nil)
		all, err := one.LogProbs(context.Background(), srcs, tgts)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, list := range all {
			if len(list) != len(tgts[i])+1 {
				t.Fatalf("%s: %d log-probabilities of %d tokens and EOS", name, len(list), len(tgts[i]))
			}
			for _, x := range list {
				sum += float64(float32(-x)) // the loss of a token is a float32
			}
		}
		if sum != want.NLL || sum != want.Sum {
			t.Errorf("%s: sum %v, want %v, the loss without smoothing %v", name, sum, want.NLL, want.Sum)
		}

		pool := mat.NewPool(3)
		defer pool.Close()
		for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
			want, err := New(w, nil).LogProbs(context.Background(), srcs, tgts)
			if err != nil {
				t.Fatal(err)
			}
			d := New(w, pool)
			for _, n := range []int{1, 7, 150} {
				for i := 0; i < len(srcs); i += n {
					end := min(i+n, len(srcs))
					got, err := d.LogProbs(context.Background(), srcs[i:end], tgts[i:end])
					if err != nil || !slices.EqualFunc(got, want[i:end], slices.Equal[[]float64]) {
						t.Fatalf("%s: pairs %d to %d alone: %v, %v, want %v", name, i, end, got, err, want[i:end])
					}
				}
			}
		}
	}
}
