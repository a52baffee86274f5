package settings

import (
	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
)

// useModel sets the settings that fine-tuning takes from the model of -init, except given ones: the
// languages, the length penalty and, with config, the configuration.
func (r *Run) useModel(init *Trained, config bool) {
	defer r.hold()()
	if config {
		r.Config = init.Config
	}
	r.SrcLang, r.TgtLang = init.SrcLang, init.TgtLang
	search := &r.Options.Search
	search.Penalty, search.Alpha, search.Suppressed = init.Decoding.LengthPenalty, init.Decoding.Alpha, init.Decoding.Suppressed
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
