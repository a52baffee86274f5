package digits

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/train"
)

// Progress is the state of a training.
type Progress struct {
	Epoch, Epochs int        // current epoch, from 1, and number of epochs
	Step, Steps   int        // steps done, and number of steps
	Loss          model.Loss // of this epoch so far, with dropout and shifts
	EpochEnded    bool       // this is the last step of the epoch
	Elapsed, Left time.Duration
}

// Train trains the model of a recipe and calls report after each step. The weights depend on the
// recipe, the images and the seed, not on the threads of pool. When ctx ends, Train returns its
// cause.
func Train(ctx context.Context, r Recipe, s Set, seed uint64, pool *mat.Pool, report func(Progress)) (*model.Classifier, error) {
	m, err := model.NewClassifier(r.Model)
	if err != nil {
		return nil, err
	}
	m.Params.AllocForTraining()
	m.Init(seed)
	pass := model.NewClassifierPass(m, pool)
	perEpoch := (s.Len() + r.Batch - 1) / r.Batch
	steps := perEpoch * r.Epochs
	rate := train.Schedule{Name: train.ScheduleConstant, Peak: r.Peak, Warmup: min(r.Warmup, steps/4)}
	if r.Falls {
		rate.Cooldown = train.Cooldown{From: rate.Warmup, End: steps}
	}
	optimizer := r.optimizer(m.Params)
	b := newBatches(r, s, min(r.Batch, s.Len()))
	dropout := rand.NewPCG(seed, 1<<63) // deal uses the streams of small numbers
	start := time.Now()
	for epoch := range r.Epochs {
		b.deal(seed, epoch+1)
		at := Progress{Epoch: epoch + 1, Epochs: r.Epochs, Steps: steps}
		for i := range perEpoch {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			x, labels := b.at(i*r.Batch, min((i+1)*r.Batch, s.Len()))
			loss := pass.Train(x, labels, dropout.Uint64(), 1/float32(len(labels)))
			at.Step = epoch*perEpoch + i + 1
			if math.IsNaN(loss.Sum) || math.IsInf(loss.Sum, 0) {
				return nil, fmt.Errorf("digits: the loss of step %d is %v", at.Step, loss.Sum)
			}
			optimizer.StepAndClear(pool, m.Params.W, m.Params.G, rate.Rate(at.Step), 1)
			at.Loss, at.EpochEnded = at.Loss.Plus(loss), i+1 == perEpoch
			at.Elapsed = time.Since(start)
			at.Left = time.Duration(float64(at.Elapsed) / float64(at.Step) * float64(steps-at.Step))
			report(at)
		}
	}
	return m, nil
}

// Evaluate returns the loss of a set and the number of images that m classifies correctly, without
// dropout and shifts. When ctx ends, Evaluate returns its cause.
func Evaluate(ctx context.Context, m *model.Classifier, r Recipe, s Set, pool *mat.Pool) (model.Loss, error) {
	const images = 256
	pass, b := model.NewClassifierPass(m, pool), newBatches(r, s, min(images, s.Len()))
	var loss model.Loss
	for lo := 0; lo < s.Len(); lo += images {
		if ctx.Err() != nil {
			return model.Loss{}, context.Cause(ctx)
		}
		x, labels := b.at(lo, min(lo+images, s.Len()))
		loss = loss.Plus(pass.Evaluate(x, labels))
	}
	return loss, nil
}
