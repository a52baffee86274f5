package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/score"
	"tfm/train"
)

// Facts are the contents of the files that the settings of a run name.
type Facts struct {
	Resume     *Trained    // the newest checkpoint, with Run.Resume
	Init       *Trained    // the model of Options.Init
	Tokenizers *Tokenizers // of Run.Vocab, else of Options.Init
}

// Trained is a model or a checkpoint.
type Trained struct {
	Path     string
	Config   model.Config
	Options  train.Options // of a checkpoint
	Joint    bool          // of a checkpoint: one tokenizer for both sides
	Imported string        // the system of its first training; "" is this one

	SrcLang, TgtLang string // "" if unknown
	Decoding         decode.Settings
}

// Tokenizers describes the tokenizers of a file.
type Tokenizers struct {
	Path  string
	Joint bool
}

// Resolve sets the settings that are not given to those of the preset, of the model of -init or of
// the checkpoint of -resume, applies the rules, and validates the result. In a resumed run a
// setting that could change the weights must be the checkpoint's. Resolve reads no file.
func (r *Run) Resolve(facts Facts) error {
	if facts.Resume != nil {
		return r.resume(facts.Resume)
	}
	named := r.Preset != Auto
	if err := r.base(facts, named); err != nil {
		return err
	}
	before := r.flags.Values()
	r.Options.Dir = r.CheckpointDir()
	if err := r.joint(facts.Tokenizers); err != nil {
		return err
	}
	r.outputBias(facts.Init == nil || named)
	r.tie(r.sharesIDs(facts.Init))
	r.smoothing()
	if err := r.optionRules(); err != nil {
		return err
	}
	r.roundRules()
	r.lengths()
	r.choices = slices.DeleteFunc(r.choices, func(c Choice) bool { // those that a rule has replaced
		return r.flags.Lookup(c.Name).Value.String() != before[c.Name]
	})
	r.roundRate()
	if !r.Joint && r.Config.Tie == model.TieAll && !r.sharesIDs(facts.Init) {
		return cli.Usagef("tie all needs a joint vocabulary")
	}
	if facts.Init != nil {
		if err := r.checkModel(facts.Init); err != nil {
			return err
		}
	}
	return r.validate()
}

// usePreset sets the model and the options, except given ones, to those of r.Preset.
func (r *Run) usePreset() (err error) {
	defer r.hold()()
	r.Config, err = presetConfig(r.Preset)
	rounds := r.Options.Rounds
	r.Options = train.OptionsFor(r.Preset)
	r.Options.Rounds = rounds
	return err
}

// base sets the settings of the preset and of the model of -init. A run that names no preset has
// the one of the model's size, or the one that suits its time.
func (r *Run) base(facts Facts, named bool) error {
	r.budget = newBudget(r.Options.Time)
	r.budget.newVocabulary = facts.Tokenizers == nil
	switch {
	case !named && facts.Init != nil:
		r.Preset = presetLike(facts.Init.Config, r.budget.size.preset)
	case !named:
		r.Preset = r.budget.size.preset
		r.choices = append(r.choices, Choice{Name: "preset", Why: r.budget.why})
	}
	if err := r.usePreset(); err != nil {
		return err
	}
	if facts.Init != nil {
		r.fineTune(facts.Init, named)
	}
	r.budget.choose = r.choosing()
	return nil
}

// validate reports the invalid settings of a new run.
func (r *Run) validate() error {
	c := r.Config
	c.SrcVocab, c.TgtVocab = 1000, 1000 // not known yet, as are the tokens of languages
	c.Source, c.SrcLanguages, c.TgtLanguages, c.TargetBegins = model.EOSLast, "", "", false
	drops := max(c.Dropout, c.AttentionDropout, c.FFDropout) != 0
	return cmp.Or(
		Error(c.Validate(), r.Options.Validate(), r.languages()),
		cli.UsageIf(r.Options.RDrop != 0 && !drops, "-r-drop %v needs dropout, so that the two passes differ", r.Options.RDrop),
	)
}

// resume resolves the settings of a resumed run.
func (r *Run) resume(c *Trained) error {
	restore := r.hold()
	r.Config, r.Options, r.Joint = c.Config, c.Options, c.Joint
	r.SrcLang, r.TgtLang = c.SrcLang, c.TgtLang
	r.languagesOf(c)
	run := r.flags.Values()
	named := r.Preset != Auto
	if named {
		var err error
		if r.Config, err = presetConfig(r.Preset); err != nil {
			return err
		}
	}
	restore()
	r.Options.Dir, r.Options.Resume = r.CheckpointDir(), true
	if most := max(c.Config.SrcVocab, c.Config.TgtVocab); r.Origin("vocab-size") >= File && r.Vocab == "" && r.VocabSize < most && !(r.VocabSize == 0 && c.Options.Init != "") {
		return conflict("run to resume", "-vocab-size", fmt.Sprint(r.VocabSize), fmt.Sprint(most), c.Path)
	}
	if r.Origin("joint") < r.tokenizersGiven() {
		r.Joint = c.Joint
	}
	if named {
		r.outputBias(true)
		r.tie(c.Config.Tie == model.TieAll && !c.Joint)
	}
	if err := r.optionRules(); err != nil {
		return err
	}
	r.Config.SrcVocab, r.Config.TgtVocab, r.Config.MaxLen = c.Config.SrcVocab, c.Config.TgtVocab, c.Config.MaxLen
	r.languagesOf(c)
	if c.Options.Tokenize == score.Auto { // nothing has been validated yet
		run["tokenize"] = r.Options.Tokenize.String()
	} else if r.Options.Tokenize == score.Auto { // keeps what was chosen
		r.Options.Tokenize = c.Options.Tokenize
	}
	if err := r.languages(); err != nil {
		return Error(err)
	}
	same := func(f *cli.Flag) bool {
		return compared(f) || r.Config.HasLanguages() && (f.Name == "src-lang" || f.Name == "tgt-lang")
	}
	if err := r.checkSame("run to resume", c.Path, run, same); err != nil {
		return err
	}
	return Error(r.Options.Validate())
}

// presetConfig returns the configuration of a preset, or that of the default preset for a recipe.
func presetConfig(name string) (model.Config, error) {
	if lines, _ := recipes.Lines(name); lines != nil {
		name = basePreset
	}
	c, err := model.Preset(name)
	if err != nil {
		return c, cli.Usagef("%v; and the recipes %s", err, strings.Join(recipes.Names(), ", "))
	}
	return c, nil
}
