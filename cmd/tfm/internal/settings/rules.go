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
	return max(r.Origin("joint"), r.Origin("vocab"), r.Origin("init"), r.Origin("trim"))
}

// outputBias derives output-bias: a separate output projection has a bias, unless output-bias has
// the same origin as tie or a higher one. With preset this holds for the tie of a preset too.
func (r *Run) outputBias(preset bool) {
	separate := r.Config.Tie == model.TieNone
	if r.Origin("tie") > r.Origin("output-bias") || preset && separate && r.Origin("output-bias") == Default {
		r.Config.OutputBias = separate
	}
}

// sharesIDs reports whether two tokenizers have the ids of one matrix: a model of OPUS-MT has a
// tokenizer for each side, and one vocabulary.
func (r *Run) sharesIDs(init *Trained) bool {
	return init != nil && init.Config.Tie == model.TieAll && r.Vocab == "" && !r.Trim
}

// tie derives tie: without a joint vocabulary, or shared ids, the source embedding is not tied. An
// explicit tie=all stays, and is refused later.
func (r *Run) tie(sharesIDs bool) {
	if sharesIDs {
		return
	}
	if level := r.Origin("tie"); (level == Default || level < r.tokenizersGiven()) && !r.Joint && r.Config.Tie == model.TieAll {
		r.Config.Tie = model.TieDecoder
	}
}

// over reports whether a setting has a higher origin than another one. In a resumed run a setting
// that is not given stays.
func (r *Run) over(name, other string) bool {
	return r.Origin(name) > r.Origin(other) && !(r.Options.Resume && r.Origin(other) == Default)
}

// optionRules derives the settings of learning rate, optimizer and average.
func (r *Run) optionRules() error {
	if err := r.scheduleRules(); err != nil {
		return err
	}
	if r.Origin("average") == Default && !r.Options.Resume || r.over("keep", "average") {
		r.Options.Average = min(r.Options.Average, r.Options.Keep) // only those that are kept
	}
	return r.optimizerRules()
}

// scheduleRules derives the schedule of the learning rate and its peak.
func (r *Run) scheduleRules() error {
	o := &r.Options
	if level := r.Origin("factor"); level > Default && level == r.Origin("lr") && o.LR != 0 && o.Factor != 1 {
		return cli.Usagef("either -lr or the setting factor")
	}
	if r.over("factor", "lr") || r.over("schedule", "lr") && o.Schedule == train.SchedulePaper {
		o.LR = 0
	}
	if r.over("lr", "schedule") && o.Schedule == train.SchedulePaper ||
		r.over("factor", "schedule") && (o.Schedule == train.ScheduleInverseSqrt || o.Schedule == train.ScheduleConstant) && o.LR == 0 {
		o.Schedule = "" // the default of the other settings
	}
	o.Schedule = o.LearningRate(r.Config.DModel).Name
	return nil
}

// optimizerRules derives the settings that only some optimizers have.
func (r *Run) optimizerRules() error {
	o := &r.Options
	sgd := o.Optimizer == train.OptimizerSGD
	for _, s := range []struct {
		name      string
		value     *float64
		optimizer string // that has it
		usual     float64
	}{
		{"weight-decay", &o.WeightDecay, train.OptimizerAdamW, usualWeightDecay},
		{"momentum", &o.Momentum, train.OptimizerMuon, usualMuonMomentum},
		{"muon-scale", &o.MuonScale, train.OptimizerMuon, usualMuonScale},
	} {
		switch keeps := sgd && s.name == "momentum" && r.Origin("momentum") != Default; {
		case !r.over("optimizer", s.name) || keeps:
		case o.Optimizer == s.optimizer:
			*s.value = s.usual
		default:
			*s.value = 0
		}
	}
	for _, name := range []string{"beta1", "beta2", "eps"} {
		if r.Origin(name) == CommandLine && sgd {
			return cli.Usagef("%s needs -optimizer adam, adamw or muon, found sgd", name)
		}
	}
	return nil
}

// smoothing derives smoothing-over: without label smoothing nothing is spread.
func (r *Run) smoothing() {
	if r.Config.LabelSmoothing == 0 && r.Origin("label-smoothing") > r.Origin("smoothing-over") {
		r.Config.Smoothing = model.SmoothOthers
	}
}

// lengths derives the model's number of positions from -max-len.
func (r *Run) lengths() {
	limit := r.Options.MaxLen + max(1, r.Config.Source.Marks())
	r.Config.MaxLen = max(r.Config.MaxLen, limit)
	if r.Config.Positions == model.Learned {
		r.Config.MaxLen = limit // longer sentences train no position
	}
}

// languages replaces the language tags by their canonical forms.
func (r *Run) languages() (err error) {
	r.SrcLang, r.TgtLang, err = model.NamedLanguages(r.SrcLang, r.TgtLang)
	return err
}
