package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/model"
	"tfm/text/score"
	"tfm/train"
	"tfm/train/corpus"
)

// Origin is the source of a setting's value.
type Origin int

// The origins in ascending precedence.
const (
	Default     Origin = iota // the program or the preset
	Chosen                    // the corpus and the time, see choose
	Init                      // the model that -init names
	Checkpoint                // the run that -resume continues
	Recipe                    // the recipe that -preset names
	File                      // the file that -config names
	CommandLine               // a flag
	Derived                   // another setting, by one of the rules
)

func (o Origin) String() string {
	return [...]string{"default", "chosen", "init", "checkpoint", "recipe", "file", "command line", "derived"}[o]
}

// Setting is the name of a flag and its value.
type Setting struct {
	Name, Value string
	At          string // FILE:LINE; "" on the command line
}

// Overrides holds the settings of one origin: Recipe, File or CommandLine.
type Overrides struct {
	Origin   Origin
	Settings []Setting
}

// Typed returns the settings of the command line with the flags in given.
func Typed(given map[string]string) Overrides {
	typed := Overrides{Origin: CommandLine}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		typed.Settings = append(typed.Settings, Setting{Name: name, Value: given[name]})
	}
	return typed
}

// Load returns the overrides of a run in ascending precedence: of the recipe, the settings file and
// the command line. The file may name the recipe.
func Load(given map[string]string) (overrides []Overrides, err error) {
	file := Overrides{Origin: File}
	if path := given["config"]; path != "" {
		if file.Settings, err = ReadFile(path); err != nil {
			return nil, err
		}
	}
	typed := Typed(given)
	named, err := Apply([]Overrides{file, typed})
	if err != nil {
		return nil, err
	}
	recipe := Overrides{Origin: Recipe}
	if lines, name := recipes.Lines(named.Preset); lines != nil {
		if recipe.Settings, err = Parse(name, lines); err != nil {
			return nil, err
		}
	}
	return []Overrides{recipe, file, typed}, nil
}

// Apply returns the defaults with the settings of overrides, without the rules of Resolve. The
// result names the files of a run.
func Apply(overrides []Overrides) (*Run, error) {
	r := NewRun(cli.NewFlags())
	return r, r.apply(overrides)
}

// apply sets the flags of r to the values of overrides, in their order, and records the origins.
func (r *Run) apply(overrides []Overrides) error {
	if r.origins == nil {
		r.origins = map[string]Origin{}
	}
	for _, o := range overrides {
		for _, s := range o.Settings {
			if err := r.flags.Set(s.Name, s.Value); err != nil {
				return r.flags.Refused(err, "%s: invalid value %q for %s", s.At, s.Value, s.Name)
			}
			r.origins[s.Name] = o.Origin
		}
	}
	return nil
}

// Origin returns the origin of a setting.
func (r *Run) Origin(name string) Origin { return r.origins[name] }

// given returns the origin of a setting in the overrides, Default for others. The rules compare
// these origins.
func (r *Run) given(name string) Origin {
	if o := r.origins[name]; o >= Recipe {
		return o
	}
	return Default
}

// Facts are the contents of the files that the settings of a run name.
type Facts struct {
	Resume     *Trained    // the newest checkpoint, with Run.Resume
	Init       *Trained    // the model of Options.Init
	Tokenizers *Tokenizers // of Run.Vocab, else of Options.Init

	Corpus *corpus.Survey // of the training and validation files; nil if they are not known
	Kernel string         // of package mat
}

// Trained is a model or a checkpoint.
type Trained struct {
	Path    string
	Config  model.Config
	Options train.Options // of a checkpoint
	Joint   bool          // of a checkpoint: one tokenizer for both sides

	SrcLang, TgtLang string // "" if unknown
	Decoding         model.Decoding
}

// Tokenizers describes the tokenizers of a file.
type Tokenizers struct {
	Path  string
	Joint bool
}

// Resolve returns the settings of a run. The overrides, in ascending precedence, replace those of
// the preset or of the model of -init; then the rules derive settings from others. In a resumed run
// the checkpoint takes the place of the preset, and a setting that could change the weights must be
// the checkpoint's. Resolve reads no file.
func Resolve(overrides []Overrides, facts Facts) (*Run, error) {
	named, err := Apply(overrides)
	if err != nil {
		return nil, err
	}
	if facts.Resume != nil {
		return resume(overrides, named, facts.Resume)
	}
	return begin(overrides, named, facts)
}

// Model returns the settings of the model of a preset or recipe with the flags in given, for tfm
// info. It ignores flags that are not settings of a model, and derives no settings of a training.
func Model(preset string, given map[string]string) (*Run, error) {
	own := map[string]string{"preset": preset}
	for _, name := range append(modelNames(), "init") {
		if value, ok := given[name]; ok {
			own[name] = value
		}
	}
	overrides, err := Load(own)
	if err != nil {
		return nil, err
	}
	r := NewRun(cli.NewFlags())
	if r.Config, err = presetConfig(preset); err != nil {
		return nil, err
	}
	r.Options = train.OptionsFor(preset)
	if err := r.apply(overrides); err != nil {
		return nil, err
	}
	r.outputBias()
	return r, nil
}

// begin resolves the settings of a new run.
func begin(overrides []Overrides, named *Run, facts Facts) (*Run, error) {
	r := NewRun(cli.NewFlags())
	preset, isGiven := named.Preset, named.Preset != Auto
	plan := newPlan(named, facts)
	if !isGiven {
		preset = plan.size.preset
	}
	var err error
	if init := facts.Init; init != nil && !isGiven {
		preset = presetLike(init.Config, preset)
		r.Config = init.Config
		r.base(Init, append(modelNames(), "preset"))
	} else if r.Config, err = presetConfig(preset); err != nil {
		return nil, err
	}
	r.Preset, r.Options = preset, train.OptionsFor(preset)
	if facts.Init != nil {
		r.SrcLang, r.TgtLang = facts.Init.SrcLang, facts.Init.TgtLang
		r.Options.Search.Penalty, r.Options.Search.Alpha = facts.Init.Decoding.LengthPenalty, facts.Init.Decoding.Alpha
		r.Options.Search.Suppressed = facts.Init.Decoding.Suppressed
		r.base(Init, carried)
	}
	r.choose(plan)
	if err := r.apply(overrides); err != nil {
		return nil, err
	}
	r.Preset = preset // in place of Auto
	before := r.flags.Values()
	r.Options.Dir = r.CheckpointDir()
	if err := r.joint(facts.Tokenizers); err != nil {
		return nil, err
	}
	if facts.Init == nil || isGiven {
		r.outputBias()
	} else if r.given("tie") > r.given("output-bias") {
		r.Config.OutputBias = r.Config.Tie == model.TieNone
	}
	r.tie()
	if err := r.optionRules(); err != nil {
		return nil, err
	}
	r.lengths()
	if !r.Joint && r.Config.Tie == model.TieAll {
		return nil, cli.Usagef("-tie all needs a joint vocabulary")
	}
	if facts.Init != nil {
		if err := r.checkCompatible(facts.Init); err != nil {
			return nil, err
		}
		if err := r.keepLengths(facts.Init); err != nil {
			return nil, err
		}
	}
	c := r.Config
	c.SrcVocab, c.TgtVocab = 1000, 1000 // not known yet
	if err := Error(c.Validate(), r.Options.Validate(), r.languages()); err != nil {
		return nil, err
	}
	if r.Options.RDrop != 0 && max(c.Dropout, c.AttentionDropout, c.FFDropout) == 0 {
		return nil, cli.Usagef("-r-drop %v needs dropout, so that the two passes differ", r.Options.RDrop)
	}
	r.derive(before)
	return r, nil
}

// resume resolves the settings of a resumed run.
func resume(overrides []Overrides, named *Run, c *Trained) (*Run, error) {
	r := NewRun(cli.NewFlags())
	r.Config, r.Options, r.Joint = c.Config, c.Options, c.Joint
	r.SrcLang, r.TgtLang = c.SrcLang, c.TgtLang
	r.base(Checkpoint, checkpointNames())
	run := r.flags.Values()
	if named.given("preset") != Default {
		var err error
		if r.Config, err = presetConfig(named.Preset); err != nil {
			return nil, err
		}
	}
	if err := r.apply(overrides); err != nil {
		return nil, err
	}
	before := r.flags.Values()
	r.Options.Dir, r.Options.Resume = r.CheckpointDir(), true
	if most := max(c.Config.SrcVocab, c.Config.TgtVocab); r.given("vocab-size") != Default && r.Vocab == "" && named.Options.Init == "" && r.VocabSize < most {
		return nil, conflict("vocab-size", fmt.Sprint(r.VocabSize), fmt.Sprint(most), c.Path)
	}
	if r.given("joint") < r.tokenizersGiven() {
		r.Joint = c.Joint
	}
	if named.given("preset") != Default {
		r.outputBias()
		r.tie()
	}
	if err := r.optionRules(); err != nil {
		return nil, err
	}
	r.Config.SrcVocab, r.Config.TgtVocab, r.Config.MaxLen = c.Config.SrcVocab, c.Config.TgtVocab, c.Config.MaxLen
	if c.Options.Tokenize == score.Auto { // nothing has been validated yet
		run["tokenize"] = r.Options.Tokenize.String()
	} else if r.Options.Tokenize == score.Auto { // keeps what was chosen
		r.Options.Tokenize = c.Options.Tokenize
	}
	if err := r.sameRun(run, c.Path); err != nil {
		return nil, err
	}
	if err := Error(r.Options.Validate(), r.languages()); err != nil {
		return nil, err
	}
	r.derive(before)
	return r, nil
}

// base records the origin of settings that no override sets.
func (r *Run) base(o Origin, names ...[]string) {
	if r.origins == nil {
		r.origins = map[string]Origin{}
	}
	for _, name := range slices.Concat(names...) {
		r.origins[name] = o
	}
}

// derive records Derived as the origin of the settings that differ from before.
func (r *Run) derive(before map[string]string) {
	for name, value := range r.flags.Values() {
		if value != before[name] {
			r.origins[name] = Derived
		}
	}
}

// modelNames returns the names of the flags of a model's configuration.
func modelNames() []string {
	f := cli.NewFlags()
	ModelFlags(f, new(model.Config))
	return slices.Sorted(maps.Keys(f.Values()))
}

// checkpointNames returns the names of the settings in a checkpoint.
func checkpointNames() []string {
	names := slices.Collect(maps.Keys(NewRun(cli.NewFlags()).flags.Values()))
	return slices.DeleteFunc(names, func(name string) bool { return notInCheckpoint[name] })
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

// sameRun reports the first setting that differs from the run's and could change the weights. Given
// settings are reported before derived ones.
func (r *Run) sameRun(run map[string]string, checkpoint string) error {
	now := r.flags.Values()
	var own []string
	for _, name := range checkpointNames() {
		if !changeable[name] && now[name] != run[name] {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	for _, given := range []bool{true, false} {
		for _, name := range own {
			if (r.given(name) != Default) == given {
				return conflict(name, now[name], run[name], checkpoint)
			}
		}
	}
	return nil
}

func conflict(name, found, expected, checkpoint string) error {
	return cli.Usagef("-%s %s conflicts with the run to resume: -%s %s in %s", name, found, name, expected, checkpoint)
}
