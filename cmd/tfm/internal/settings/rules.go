package settings

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
	"tfm/train"
)

// The rules derive settings from other settings. A rule changes a setting only if its origin is
// below that of the setting it follows.

// usualWeightDecay is the default weight decay of adamw.
const usualWeightDecay = 0.01

// Default momentum and scale of muon.
const (
	usualMuonMomentum = 0.95
	usualMuonScale    = 0.2
)

// notInCheckpoint are the settings that a checkpoint does not hold: files, sources of settings, and
// the machine.
var notInCheckpoint = set("src", "tgt", "tsv", "valid-src", "valid-tgt", "valid-tsv", "o", "resume", "force", "preset", "config", "dump-config",
	"vocab", "vocab-size", "tensorboard", "threads")

// changeable are the settings that a resumed run may change, because the weights do not depend on
// them.
var changeable = set("steps", "time", "patience", "valid-every", "save-every", "keep", "average", "on-nan", "src-lang", "tgt-lang", "length-penalty", "alpha")

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, name := range names {
		m[name] = true
	}
	return m
}

// joint derives -joint from the tokenizers of a file.
func (r *Run) joint(t *Tokenizers) error {
	if t == nil {
		return nil
	}
	if r.Origin("joint") >= r.tokenizersGiven() && r.Joint != t.Joint {
		return cli.Usagef("-joint=%v, but in %s it is %v", r.Joint, t.Path, t.Joint)
	}
	r.Joint = t.Joint
	return nil
}

// tokenizersGiven returns the highest origin of the settings that choose the tokenizers.
func (r *Run) tokenizersGiven() Origin {
	return max(r.Origin("joint"), r.Origin("vocab"), r.Origin("init"))
}

// outputBias derives -output-bias: a separate output projection has a bias, unless -output-bias has
// the same origin as -tie or a higher one.
func (r *Run) outputBias() {
	c := &r.Config
	if r.Origin("output-bias") == Default && c.Tie == model.TieNone {
		c.OutputBias = true
	}
	if r.Origin("tie") > r.Origin("output-bias") {
		c.OutputBias = c.Tie == model.TieNone
	}
}

// tie derives -tie: without a joint vocabulary the source embedding is not tied. An explicit -tie
// all stays, and is refused later.
func (r *Run) tie() {
	if level := r.Origin("tie"); (level == Default || level < r.tokenizersGiven()) && !r.Joint && r.Config.Tie == model.TieAll {
		r.Config.Tie = model.TieDecoder
	}
}

// optionRules derives the settings of learning rate, optimizer and average.
func (r *Run) optionRules() error {
	o := &r.Options
	// over reports whether name has a higher origin than other. In a resumed run a setting that
	// is not given stays.
	over := func(name, other string) bool {
		return r.Origin(name) > r.Origin(other) && !(o.Resume && r.Origin(other) == Default)
	}
	if level := r.Origin("factor"); level > Default && level == r.Origin("lr") && o.LR != 0 && o.Factor != 1 {
		return cli.Usagef("either -lr or -factor")
	}
	if over("factor", "lr") || over("schedule", "lr") && o.Schedule == train.SchedulePaper {
		o.LR = 0
	}
	if over("lr", "schedule") && o.Schedule == train.SchedulePaper ||
		over("factor", "schedule") && (o.Schedule == train.ScheduleInverseSqrt || o.Schedule == train.ScheduleConstant) && o.LR == 0 ||
		over("decay-steps", "schedule") && o.Schedule != train.ScheduleLinear && o.Schedule != train.ScheduleCosine {
		o.Schedule = "" // derived below
	}
	if name := o.LearningRate(r.Config.DModel).Name; r.Origin("cooldown") == Default && (name == train.ScheduleLinear || name == train.ScheduleCosine) {
		o.Cooldown = 0
	}
	if over("optimizer", "weight-decay") {
		o.WeightDecay = 0
		if o.Optimizer == train.OptimizerAdamW {
			o.WeightDecay = usualWeightDecay
		}
	}
	if over("optimizer", "momentum") && (o.Optimizer != train.OptimizerSGD || r.Origin("momentum") == Default) {
		o.Momentum = 0
		if o.Optimizer == train.OptimizerMuon {
			o.Momentum = usualMuonMomentum
		}
	}
	if over("optimizer", "muon-scale") {
		o.MuonScale = 0
		if o.Optimizer == train.OptimizerMuon {
			o.MuonScale = usualMuonScale
		}
	}
	if over("optimizer", "nesterov") && o.Optimizer != train.OptimizerSGD {
		o.Nesterov = false
	}
	for _, name := range []string{"beta1", "beta2", "eps"} {
		if r.Origin(name) == CommandLine && o.Optimizer == train.OptimizerSGD {
			return cli.Usagef("-%s needs -optimizer adam, adamw or muon, found sgd", name)
		}
	}
	if r.Origin("average") == Default && !o.Resume || over("keep", "average") {
		o.Average = min(o.Average, o.Keep)
	}
	o.Schedule = o.LearningRate(r.Config.DModel).Name
	return nil
}

// smoothing derives -smoothing-over: without label smoothing nothing is spread.
func (r *Run) smoothing() {
	if r.Config.LabelSmoothing == 0 && r.Origin("label-smoothing") > r.Origin("smoothing-over") {
		r.Config.Smoothing = model.SmoothOthers
	}
}

// lengths derives the model's number of positions from -max-len.
func (r *Run) lengths() {
	r.Config.MaxLen = max(r.Config.MaxLen, r.Options.MaxLen+1)
	if r.Config.Positions == model.Learned {
		r.Config.MaxLen = r.Options.MaxLen + 1 // longer sentences train no position
	}
}

// languages replaces the language tags by their canonical forms.
func (r *Run) languages() (err error) {
	r.SrcLang, r.TgtLang, err = model.CanonicalLanguages(r.SrcLang, r.TgtLang)
	return err
}
