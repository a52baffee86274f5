package settings

import (
	"math"
	"path/filepath"
	"strconv"

	"tfm/cmd/tfm/internal/cli"
	"tfm/train"
)

// notInPlans are the flags of a training that one in rounds does not have: its length is fixed, its
// files are in one folder, and its bits must not depend on the processor or the time.
var notInPlans = []string{"o", "resume", "force", "steps", "time", "patience", "save-every", "bf16", "tensorboard"}

// NewPlan returns the settings of a training in rounds, and declares its flags on f.
func NewPlan(f *cli.Flags) *Run {
	r := newRun(f)
	r.roundFlags(f)
	r.declare(f)
	f.Remove(notInPlans...)
	return r
}

// roundFlags declares the flags of rounds.
func (r *Run) roundFlags(f *cli.Flags) {
	o := &r.Options.Rounds
	f.Group("Rounds")
	f.IntVar(&o.Workers, "workers", 4, "workers, whose number the result depends on; that of machines is free").Range(1, 1024).Common()
	f.IntVar(&o.LocalSteps, "local-steps", 20, "steps that a worker makes on its own in a round").Range(1, 1<<20).Common()
	f.IntVar(&o.Rounds, "rounds", 500, "number of rounds").Range(1, 9999).Common()
	f.StringVar(&o.Outer, "outer", train.OuterAverage, "the step from the weights of a round to those of the next: average, the mean of the workers, nesterov (DiLoCo), or slowmo").
		Choices(train.OuterAverage, train.OuterNesterov, train.OuterSlowMo)
	f.Float64Var(&o.OuterLR, "outer-lr", 0, "learning rate of the outer step").Default("depends on -outer and -workers")
	f.Float64Var(&o.OuterMomentum, "outer-momentum", 0, "momentum of the outer step").Default("depends on -outer")
	f.BoolVar(&o.ResetMoments, "reset-moments", false, "begin each round without moments instead of the mean of those of the workers' optimizers; the files of the workers are a third as large")
}

// roundRules derives the settings of a training in rounds.
func (r *Run) roundRules() {
	o := &r.Options
	rounds := &o.Rounds
	if rounds.Workers == 0 {
		return
	}
	o.Steps, o.SaveEvery, o.Time, o.Patience = rounds.LocalSteps*rounds.Rounds, rounds.LocalSteps, 0, 0
	if o.ValidEvery > 0 {
		o.ValidEvery = rounds.LocalSteps
	}
	o.Dir = filepath.Dir(r.Out)
	if r.Origin("outer-lr") == Default {
		rounds.OuterLR = outerLR(*rounds)
	}
	if r.Origin("outer-momentum") == Default {
		rounds.OuterMomentum = map[string]float64{train.OuterNesterov: 0.9, train.OuterSlowMo: 0.5}[rounds.Outer]
	}
}

// maxRateWorkers is the number of workers above which the learning rate no longer grows, because
// more were not measured.
const maxRateWorkers = 8

// roundRate raises the learning rate of weights that begin at random by the root of the number of
// workers K, whose mean has 1/√K of the noise. docs/rounds.md has the measurements.
func (r *Run) roundRate() {
	if o := &r.Options; o.Rounds.Workers > 1 && o.LR > 0 && o.Init == "" && r.chosen("lr", "suits %d workers", o.Rounds.Workers) {
		o.LR = threeDigits(o.LR * math.Sqrt(float64(min(o.Rounds.Workers, maxRateWorkers))))
	}
}

// threeDigits rounds x.
func threeDigits(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return rounded
}

// outerLR returns the learning rate of the outer step. That of nesterov grows with the workers,
// whose mean has less noise than each (Charles et al., 2025, "Communication-Efficient Language
// Model Training Scales Reliably and Robustly").
func outerLR(r train.Rounds) float64 {
	switch {
	case r.Outer == train.OuterAverage:
		return 0
	case r.Outer == train.OuterSlowMo:
		return 1
	case r.Workers == 1:
		return 0.4
	case r.Workers < 8:
		return 0.6
	}
	return 0.8
}
