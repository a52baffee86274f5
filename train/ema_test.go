package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
)

// The moving average follows its formula and does not change the training. The run ends with it,
// and checkpoints contain it and the weights.
func TestEMA(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"adam":  func(o *Options) {},
		"adamw": func(o *Options) { o.Optimizer, o.WeightDecay = OptimizerAdamW, 0.1 },
		"sgd":   func(o *Options) { o.Optimizer = OptimizerSGD },
	} {
		t.Run(name, func(t *testing.T) {
			o := smallOptions(20)
			change(&o)
			weights := func(decay float64, dir string, threads int) (each [][]float32, last []float32) {
				m := newModel(t, smallConfig())
				each = append(each, slices.Clone(m.Params.W))
				o.EMA, o.Dir = decay, dir
				mustRun(t, context.Background(), m, pool(t, threads), copyData(), o, func(e Event) {
					if e.Kind == Stepped {
						each = append(each, slices.Clone(m.Params.W))
					}
				})
				return each, m.Params.W
			}
			const decay = 0.6 // (1+n)/(10+n) reaches it in the 13th step
			dir := t.TempDir()
			plain, _ := weights(0, "", 1)
			each, got := weights(decay, dir, 3)
			for i := range each {
				wantSameWeights(t, fmt.Sprint("step ", i), each[i], plain[i])
			}
			for i := range got {
				want := float64(each[0][i])
				for n, w := range each[1:] {
					d := min(decay, float64(1+n)/float64(10+n))
					want = d*want + (1-d)*float64(w[i])
				}
				// Three roundings per step, which decay: about 1/(1-decay) steps
				// contribute.
				if math.Abs(float64(got[i])-want) > 1e-6*math.Abs(want)+1e-8 {
					t.Fatalf("average[%d] = %v, want %v", i, got[i], want)
				}
			}
			c, m := open(t, checkpointPath(dir, 20)), newModel(t, smallConfig())
			if err := c.Weights(m.Params); err != nil {
				t.Fatal(err)
			}
			wantSameWeights(t, "averages in the checkpoint", m.Params.W, got)
			if err := c.copyTo(m.Params.List, "raw.", m.Params.W); err != nil {
				t.Fatal(err)
			}
			wantSameWeights(t, "weights in the checkpoint", m.Params.W, each[20])
		})
	}
}

// A run with a moving average ends with the average of the best validation, from a checkpoint or
// from memory. During the event of a validation, the model has the validated weights.
func TestBestMovingAverageIsLeft(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		o := smallOptions(8)
		o.ValidEvery, o.EMA, o.Dir = 2, 0.9, dir
		m := newModel(t, smallConfig())
		d, count := scripted(2)
		var fourth, raw []float32
		r := mustRun(t, context.Background(), m, nil, d, o, func(e Event) {
			count(e)
			switch {
			case e.Step != 4:
			case e.Kind == Validated:
				fourth = slices.Clone(m.Params.W)
			case e.Kind == Stepped:
				raw = slices.Clone(m.Params.W)
			}
		})
		if r.Best.Step != 4 || slices.Equal(raw, fourth) {
			t.Fatalf("result %+v, want best step 4 with an average that differs from the weights", r)
		}
		wantSameWeights(t, "after the run", m.Params.W, fourth)
	}
}

// Options.Average averages the moving averages of checkpoints, also after a resume.
func TestAverageOfAverages(t *testing.T) {
	o := smallOptions(6)
	o.SaveEvery, o.Average, o.EMA, o.Dir = 2, 3, 0.9, t.TempDir()
	d := copyData()
	d.Valid, d.References = nil, nil
	m := newModel(t, smallConfig())
	if r := mustRun(t, context.Background(), m, nil, d, o, nil); r.Averaged != 3 {
		t.Fatalf("result %+v, want 3 averaged", r)
	}
	want := newModel(t, smallConfig())
	if err := Average(context.Background(), want, []string{checkpointPath(o.Dir, 2), checkpointPath(o.Dir, 4), checkpointPath(o.Dir, 6)}, nil); err != nil {
		t.Fatal(err)
	}
	wantSameWeights(t, "average", m.Params.W, want.Params.W)

	o.Dir = t.TempDir()
	stopAt(t, 3, newModel(t, smallConfig()), pool(t, 2), o)
	o.Resume = true
	resumed := newModel(t, smallConfig())
	mustRun(t, context.Background(), resumed, nil, d, o, nil)
	wantSameWeights(t, "resumed", resumed.Params.W, want.Params.W)
}

// The average of constant weights is constant, because the factors add up to exactly 1.
func TestEMAOfConstantWeights(t *testing.T) {
	w := []float32{1, -3, 1e-30, 1e30, 0, 0.1}
	e := newMovingAverage(NewSGD(len(w), 0, false), w, 0.9999)
	e.steps = 1 << 20
	for range 20000 {
		e.StepAndClear(nil, w, make([]float32, len(w)), 0, 1)
	}
	for i, v := range e.Values {
		// An error of 2^-26 in the sum of the factors would change the average by 1e-4.
		if math.Abs(float64(v-w[i])) > 1e-6*math.Abs(float64(w[i])) {
			t.Errorf("average %v of the constant %v", v, w[i])
		}
	}
}
