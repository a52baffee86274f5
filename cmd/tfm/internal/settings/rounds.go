package settings

import (
	"math"
	"path/filepath"
	"strconv"

	"tfm/cmd/tfm/internal/cli"
)

// NewPlan returns the settings of a training in rounds, and declares its flags on f. Its length is
// fixed, its files are in one folder, and its bits must not depend on the processor or the time.
func NewPlan(f *cli.Flags) *Run {
	r := newRun(f)
	r.roundFlags(f)
	r.declare(f)
	f.RemoveFunc(func(g *cli.Flag) bool { return g.Has(notInPlan) })
	return r
}

// roundFlags declares the flags of rounds.
func (r *Run) roundFlags(f *cli.Flags) {
	o := &r.Options.Rounds
	f.Group("Rounds")
	f.IntVar(&o.Workers, "workers", 4, "workers, whose number the result depends on; that of machines is free").Range(1, 1024).Common()
	f.IntVar(&o.LocalSteps, "local-steps", 20, "steps that a worker makes on its own in a round").Range(1, 1<<20).Common()
	f.IntVar(&o.Rounds, "rounds", 500, "number of rounds").Range(1, 9999).Common()
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
}

// maxRateWorkers is the number of workers above which the learning rate no longer grows, because
// more were not measured.
const maxRateWorkers = 8

// roundRate raises the learning rate of weights that begin at random by the root of the number of
// workers K, whose mean has 1/√K of the noise. BENCHMARKS.md has the measurements.
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
