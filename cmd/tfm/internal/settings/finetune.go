package settings

import (
	"path/filepath"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// usualRegularization is the dropout and the label smoothing of fine-tuning where the model's are
// not known: those of the paper's base model.
const usualRegularization = 0.1

// fineTune sets the settings of a run that starts from the weights of a model, except given ones.
// What it chooses is printed with the reason.
//
//	languages, length penalty           the model's
//	with a named preset, all others     the preset's, as for random weights
//	configuration                       the model's
//	dropout, label smoothing            the model's training, else usualRegularization
//	batches, optimizer, learning rate   the preset of the model's size, as for random weights
func (r *Run) fineTune(init *Trained, named bool) {
	defer r.hold()()
	r.SrcLang, r.TgtLang = init.SrcLang, init.TgtLang
	search := &r.Options.Search
	search.Penalty, search.Alpha, search.Suppressed = init.Decoding.LengthPenalty, init.Decoding.Alpha, init.Decoding.Suppressed
	if named {
		return
	}
	r.Config = init.Config
	file := filepath.Base(init.Path)
	for _, c := range []struct {
		name  string
		value *float32
	}{{"dropout", &r.Config.Dropout}, {"label-smoothing", &r.Config.LabelSmoothing}} {
		if init.Imported && *c.value == 0 { // a format without it
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
		r.Options.MaxLen = min(r.Options.MaxLen, most-1)
	}
	if r.Options.MaxLen >= most {
		return cli.Usagef("-max-len %d: expected at most %d, the learned positions of %s", r.Options.MaxLen, most-1, init.Path)
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
