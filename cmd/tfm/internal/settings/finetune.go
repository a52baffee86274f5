package settings

import (
	"fmt"
	"math"
	"path/filepath"

	"tfm/cmd/tfm/internal/cli"
	"tfm/internal/format"
	"tfm/model"
	"tfm/text/tokenizer/bpe"
	"tfm/train"
	"tfm/train/corpus"
)

// The plan of fine-tuning, see BENCHMARKS.md. A higher rate learns more of the new texts, until it
// learns a few of them by heart, and forgets more of the old ones. It rises with the square root of
// the tokens of the new texts, and falls with the width, because the updates of a wider layer add
// up over more inputs.
const (
	fineTuningRate     = 0.064 // divided by d_model, for fineTuningTokens
	maxFineTuningRate  = 0.512 // divided by d_model
	fineTuningTokens   = 4000
	fineTuningWarmup   = 100 // steps; at most a tenth of the run
	fineTuningCooldown = 0.4

	// Few validation pairs of few pairs do not show when to stop. Pairs like those of the model
	// are learned by heart sooner than others.
	likeEpochs, unlikeEpochs, fewFineTuningPairs = 30, 100, 10_000

	// New tokenizers are worth it from this ratio of the tokens, which tells that the pairs are
	// unlike those of the model. The vocabulary of few pairs is smaller than the model's; that of
	// fewer than minVocabularyPairs too small.
	minNewVocabulary, minSmallVocabulary, minVocabularyPairs = 1.25, 1, 2000

	// A run of fewer steps has smaller batches.
	minFineTuningSteps, fineTuningBatch = 1000, 2000

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
//	optimizer                           the preset's, adam for an imported model
//	schedule of the learning rate       the plan's, unless schedule or factor is given
//	batches, validations, checkpoints   the preset, by default that of the model's size
func (r *Run) fineTune(init *Trained, named bool) {
	defer r.hold()()
	o := &r.Options
	r.fineTuned = init
	r.SrcLang, r.TgtLang = init.SrcLang, init.TgtLang
	o.Imported = init.Imported
	o.Search.Penalty, o.Search.Alpha, o.Search.Suppressed = init.Decoding.LengthPenalty, init.Decoding.Alpha, init.Decoding.Suppressed
	if !named {
		r.Config = init.Config
		r.regularizeLike(init)
	}
	r.Config.MaxLen = init.Config.MaxLen
	if r.languagesOf(init); r.Tagged {
		r.TgtLang = "" // several
	}
	r.VocabSize = 0 // those of the model are kept
	preset := r.flags.Values()
	if r.Origin("optimizer") == Default && init.Imported != "" {
		o.Optimizer, o.Momentum, o.MuonScale = train.OptimizerAdam, 0, 0
	}
	if r.Origin("schedule") == Default && r.Origin("factor") == Default {
		o.Schedule, o.Cooldown, o.Warmup = train.ScheduleConstant, fineTuningCooldown, fineTuningWarmup
		o.LR = r.fineTuningRate(0)
		if o.Steps > 0 {
			o.Warmup = max(1, min(fineTuningWarmup, o.Steps/10))
		}
	}
	for _, name := range []string{"optimizer", "schedule", "lr", "warmup", "cooldown"} {
		if r.flags.Lookup(name).Value.String() != preset[name] {
			r.chosen(name, "suits trained weights of d_model %d", r.Config.DModel)
		}
	}
}

// fineTuningRate returns the learning rate for the given number of tokens of text.
func (r *Run) fineTuningRate(tokens float64) float64 {
	rate := fineTuningRate * math.Sqrt(max(tokens/fineTuningTokens, 1))
	if r.fineTuned.Imported != "" {
		rate = fineTuningRate // trained for days
	}
	return threeDigits(min(rate, maxFineTuningRate) / float64(r.Config.DModel))
}

// chooseFineTuning is Choose for a run that starts from the weights of a model: it sets the steps,
// the rate and the validations, except given ones.
func (r *Run) chooseFineTuning(s *corpus.Survey) {
	o, rounds := &r.Options, r.Options.Rounds.Workers > 0
	total := corpusTokens(s)
	stepTokens := func() float64 { return 2 * float64(o.BatchTokens*o.Accumulate*max(1, o.Rounds.Workers)) }
	steps := float64(o.Steps)
	if timed := o.Time > 0 || !rounds && (o.Steps == 0 || r.Origin("steps") == Default); timed {
		possible := r.budget.time.Seconds() * trainingSpeed(r.fineTuned.Config)
		if possible < minFineTuningSteps*stepTokens() && o.BatchTokens > fineTuningBatch && r.chosen("batch-tokens", "%s: for more steps", r.budget.why) {
			o.BatchTokens = max(fineTuningBatch, o.MaxLen+1)
		}
		steps = possible / stepTokens()
		if limit := likeEpochs * total / stepTokens(); s.Pairs < fewFineTuningPairs && (limit < steps || o.Time == 0) && r.chosen("steps", "%d epochs of %s", likeEpochs, format.Count(s.Pairs, "pair")) {
			o.Steps = max(1, int(math.Ceil(limit)))
			steps = float64(o.Steps)
		}
		if o.Steps > 0 {
			steps = min(steps, float64(o.Steps))
		}
	}
	seen := min(total, steps*stepTokens())
	if !r.sizeGiven() { // at most that of the model, which is compared
		size := vocabSize(total*min(1, steps*stepTokens()/max(total, 1)/fullVocabEpochs), maxVocab)
		r.VocabSize = max(min(size, r.fineTuned.Config.TgtVocab), bpe.MinSize)
	}
	if epochs := steps * stepTokens() / max(total, 1); dropout(epochs) < r.Config.Dropout && r.rechosen("dropout", "%s", aboutEpochs(epochs)) {
		r.Config.Dropout = dropout(epochs)
	}
	if o.Schedule == train.ScheduleConstant && r.Origin("schedule") == Default {
		if r.Origin("lr") == Default {
			o.LR = r.fineTuningRate(seen)
			r.rechosen("lr", "suits trained weights of d_model %d and %s", r.Config.DModel, tokensOfText(seen))
		}
		if warmup := max(1, min(fineTuningWarmup, int(steps/10))); warmup != o.Warmup && r.Origin("warmup") == Default {
			r.chosen("warmup", "%s", format.Count(int(steps), "step"))
			o.Warmup = warmup
		}
	}
	if !rounds && r.chosen("valid-every", "a validation takes about 3%% of the time") {
		o.ValidEvery = validEvery(s, steps, o.BatchTokens, 5)
	}
}

// LearnsVocabulary reports whether a fine-tuning may have new tokenizers, learned from its text.
// can reports whether those of the model are of the kind that is learned. The error is that of a
// given size of others.
func (r *Run) LearnsVocabulary(can bool) (bool, error) {
	if r.Options.Init == "" || r.Resume {
		return false, nil
	}
	kept := r.Vocab != "" || r.Trim || r.Config.HasLanguages() || !can
	return !kept && (r.VocabSize > 0 || !r.sizeGiven()), cli.UsageIf(kept && r.sizeGiven() && r.VocabSize > 0, "-vocab-size %d needs -init with a model of one pair of languages and tokenizers of tfm, without -vocab and -trim", r.VocabSize)
}

// sizeGiven reports whether the size of new tokenizers is given, beside -init or closer to the
// command line; 0 keeps those of the model.
func (r *Run) sizeGiven() bool { return r.Origin("vocab-size") >= max(File, r.Origin("init")) }

// SuitsLearning reports whether a text is enough to learn tokenizers from, or their size is given.
func (r *Run) SuitsLearning(s *corpus.Survey) bool {
	return r.sizeGiven() || s.Pairs >= minVocabularyPairs && r.fineTuned.Imported == ""
}

// NewVocabulary reports whether new tokenizers replace those of the model, with which the text has
// more times as many tokens. Few pairs that are so unlike those of the model have more epochs.
func (r *Run) NewVocabulary(s *corpus.Survey, more float64) bool {
	unlike := more > minNewVocabulary || more > minSmallVocabulary && s.Pairs < fewFineTuningPairs
	if o := &r.Options; unlike && r.rechosen("steps", "%d epochs of pairs unlike those of %s", unlikeEpochs, filepath.Base(r.fineTuned.Path)) {
		o.Steps = o.Steps * unlikeEpochs / likeEpochs
		if r.Origin("valid-every") == Default {
			o.ValidEvery = validEvery(s, float64(o.Steps), o.BatchTokens, 5)
		}
	}
	if r.sizeGiven() {
		return true
	}
	if unlike {
		why := fmt.Sprintf("%.0f%% fewer tokens than with the pieces of %s", 100-100/more, filepath.Base(r.fineTuned.Path))
		r.choices = append(r.choices, Choice{Name: "vocab-size", Why: why})
	}
	return unlike
}

// languagesOf sets the languages to those of a model. The pairs of one whose sources name the
// language of the target are tagged too.
func (r *Run) languagesOf(t *Trained) {
	c := &r.Config
	c.Source, c.SrcLanguages, c.TgtLanguages, c.TargetBegins = t.Config.Source, t.Config.SrcLanguages, t.Config.TgtLanguages, t.Config.TargetBegins
	r.Tagged = r.Tagged || c.TgtLanguages != "" && !c.TargetBegins
}

// regularizeLike sets dropout and label smoothing to those of the training of a model. An imported
// model may not have them.
func (r *Run) regularizeLike(init *Trained) {
	file := filepath.Base(init.Path)
	for _, c := range []struct {
		name  string
		value *float32
	}{{"dropout", &r.Config.Dropout}, {"label-smoothing", &r.Config.LabelSmoothing}} {
		if init.Imported != "" && *c.value == 0 {
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
	if before.Tie == model.TieAll && !r.Joint && !r.sharesIDs(init) {
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
