package settings

import (
	"path/filepath"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
	"tfm/train"
)

// The plan of fine-tuning, see BENCHMARKS.md. A higher rate learns more of the new texts and
// forgets more of the old ones. It falls with the width, because the updates of a wider layer add
// up over more inputs.
const (
	fineTuningRate     = 0.064 // divided by d_model
	maxFineTuningRate  = 1e-3
	fineTuningWarmup   = 100 // steps; at most a quarter of the run
	fineTuningCooldown = 0.4

	// usualRegularization is the dropout and the label smoothing of the paper's base model, for
	// models whose own are not known.
	usualRegularization = 0.1
)

// fineTune sets the settings of a run that starts from the weights of a model, except given ones.
// What it chooses is printed with the reason.
//
//	languages, length penalty           the model's
//	configuration                       the model's
//	dropout, label smoothing            a named preset's, else those of the model's training,
//	                                    else usualRegularization
//	optimizer                           adam, unless one is given
//	schedule of the learning rate       the plan's, unless -schedule or factor is given
//	batches, validations, checkpoints   the preset, by default that of the model's size
func (r *Run) fineTune(init *Trained, named bool) {
	defer r.hold()()
	o := &r.Options
	r.SrcLang, r.TgtLang = init.SrcLang, init.TgtLang
	o.Search.Penalty, o.Search.Alpha, o.Search.Suppressed = init.Decoding.LengthPenalty, init.Decoding.Alpha, init.Decoding.Suppressed
	if !named {
		r.Config = init.Config
		r.regularizeLike(init)
	}
	r.languagesOf(init)
	preset := r.flags.Values()
	if r.Origin("optimizer") == Default {
		o.Optimizer, o.Momentum, o.MuonScale = train.OptimizerAdam, 0, 0
	}
	if r.Origin("schedule") == Default && r.Origin("factor") == Default {
		o.Schedule, o.Cooldown, o.Warmup = train.ScheduleConstant, fineTuningCooldown, fineTuningWarmup
		o.LR = min(threeDigits(fineTuningRate/float64(r.Config.DModel)), maxFineTuningRate)
		if o.Steps > 0 {
			o.Warmup = max(1, min(fineTuningWarmup, o.Steps/4))
		}
	}
	for _, name := range []string{"optimizer", "schedule", "lr", "warmup", "cooldown"} {
		if r.flags.Lookup(name).Value.String() != preset[name] {
			r.chosen(name, "suits trained weights of d_model %d", r.Config.DModel)
		}
	}
}

// languagesOf sets the languages of the targets to those of a model, whose pairs are tagged too.
func (r *Run) languagesOf(t *Trained) {
	if r.Config.Source, r.Config.TgtLanguages = t.Config.Source, t.Config.TgtLanguages; r.Config.TgtLanguages != "" {
		r.Tagged = true
	}
}

// regularizeLike sets dropout and label smoothing to those of the training of a model. An imported
// model may not have them.
func (r *Run) regularizeLike(init *Trained) {
	file := filepath.Base(init.Path)
	for _, c := range []struct {
		name  string
		value *float32
	}{{"dropout", &r.Config.Dropout}, {"label-smoothing", &r.Config.LabelSmoothing}} {
		if init.Imported && *c.value == 0 {
			*c.value = usualRegularization
			r.chosen(c.name, "%s does not have the value of its training", file)
		} else {
			r.chosen(c.name, "as in the training of %s", file)
		}
	}
}

// checkModel reports the first setting that differs from the model of -init although its weights
// depend on it, and keeps its positions. Learned positions limit -max-len.
func (r *Run) checkModel(init *Trained) error {
	before, now := init.Config, r.Config
	if before.Tie == model.TieAll && !r.Joint {
		before.Tie = model.TieDecoder // one matrix becomes two, equal at first
	}
	r.Config = before
	was := r.flags.Values()
	r.Config = now
	if err := r.checkSame("model of -init", init.Path, was, func(f *cli.Flag) bool { return f.Group == modelGroup }); err != nil {
		return err
	}
	most := before.MaxLen
	r.Config.MaxLen = max(r.Config.MaxLen, most)
	if before.Positions != model.Learned {
		return nil
	}
	if r.Origin("max-len") == Default {
		r.Options.MaxLen = min(r.Options.MaxLen, before.MaxSource())
	}
	if r.Options.MaxLen > before.MaxSource() {
		return cli.Usagef("-max-len is %d, expected at most %d, the learned positions of %s", r.Options.MaxLen, before.MaxSource(), init.Path)
	}
	r.Config.MaxLen = most
	return nil
}

// presetLike returns the preset with the size of c, other if no preset has it.
func presetLike(c model.Config, other string) string {
	size := func(c model.Config) [5]int {
		return [5]int{c.DModel, c.Heads, c.DFF, c.EncoderLayers, c.DecoderLayers}
	}
	for _, name := range model.PresetNames() {
		if p, err := model.Preset(name); err == nil && size(p) == size(c) {
			return name
		}
	}
	return other
}
