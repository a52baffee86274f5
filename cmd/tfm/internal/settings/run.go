package settings

import (
	"encoding"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/model"
	"tfm/text/score"
	"tfm/train"
)

// Run holds the settings of a training. Its flags set its fields.
type Run struct {
	Src, Tgt, TSV, Mix           string // the training pairs
	ValidSrc, ValidTgt, ValidTSV string // the validation pairs
	Tagged                       bool   // sources begin with the language of their target
	SrcLang, TgtLang             string // BCP 47; "" if unknown
	Out                          string // the model file
	Resume, Force                bool

	Preset string // of model.PresetNames, a recipe, or Auto
	Config model.Config

	Vocab     string // file of tokenizers; "" trains them, or keeps those of Options.Init
	VocabSize int
	Joint     bool
	Trim      bool // drop the pieces of Options.Init that the training pairs do not use

	Options     train.Options
	TensorBoard string // folder of event files; "" is none
	Threads     int

	ConfigFile string // file of settings
	Dump       bool   // print the settings and exit

	flags   *cli.Flags
	given   map[string]Origin // of the settings above Default, by name
	choices []Choice

	// After Resolve.
	budget    budget
	fineTuned *Trained // the model of Options.Init
}

// Origin is the source of a setting's value. Higher origins override lower ones.
type Origin int

const (
	Default     Origin = iota // a preset, model or checkpoint; chosen; by a rule
	Recipe                    // the recipe that -preset names
	File                      // the file that -config names
	CommandLine               // a flag
)

// Origin returns the origin of a setting.
func (r *Run) Origin(name string) Origin { return r.given[name] }

// hold returns a function that gives the settings that are given now their present values again,
// after others have been set from a lower origin.
func (r *Run) hold() (restore func()) {
	return r.flags.Hold(slices.Collect(maps.Keys(r.given))...)
}

// basePreset is the preset that a recipe replaces.
const basePreset = "tiny"

// Defaults in the help, of flags whose default is not one value.
const (
	byPreset      = "depends on -preset"
	chosenDefault = "chosen from the corpus and -time"
)

// DefaultModel is the model file of a command line that names none.
const DefaultModel = "model.safetensors"

// NewRun returns the settings of a run that names none, and declares its flags on f.
func NewRun(f *cli.Flags) *Run {
	r := newRun(f)
	r.declare(f)
	return r
}

func newRun(f *cli.Flags) *Run {
	r := &Run{flags: f, given: map[string]Origin{}, Options: train.OptionsFor(basePreset)}
	r.Config, _ = model.Preset(basePreset)
	return r
}

// declare declares the flags of a training.
func (r *Run) declare(f *cli.Flags) {
	r.fileFlags(f)
	r.courseFlags(f)
	r.dataFlags(f)
	optimizerFlags(f, &r.Options)
	regularizationFlags(f, &r.Config)
	f.Lookup("dropout").Common().Default(chosenDefault)
	trainingRegularizationFlags(f, &r.Options)
	modelFlags(f, &r.Config)
}

// The traits of a setting, beside those of every flag. The settings of train.Options that may
// differ in a resumed run have the tag resume:"free" there.
const (
	free      cli.Trait = 1 << iota // may differ in a resumed run from the checkpoint
	notInPlan                       // a training in rounds does not have it
	local                           // of the machine, of files or of what these contain: no recipe has it
)

// fileFlags declares the flags of the files of a run.
func (r *Run) fileFlags(f *cli.Flags) {
	f.Group("Files")
	f.StringVar(&r.Src, "src", "", "`file` of source sentences, one a line, or .gz").Common().With(free | local)
	f.StringVar(&r.Tgt, "tgt", "", "`file` of their translations, line by line").Common().With(free | local)
	f.StringVar(&r.TSV, "tsv", "", "`file` of lines with source, tab, target, or translation memory (TMX), or .gz; replaces -src and -tgt").Common().With(free | local)
	f.StringVar(&r.Mix, "mix", "", "`file` that lists several sources of pairs with their shares, in OpusTrainer's form; replaces -src and -tgt").With(free | local)
	f.StringVar(&r.ValidSrc, "valid-src", "", "`file` of validation source sentences; without it some of the pairs are held out").Common().With(free | local)
	f.StringVar(&r.ValidTgt, "valid-tgt", "", "`file` of their translations").Common().With(free | local)
	f.StringVar(&r.ValidTSV, "valid-tsv", "", "`file` as of -tsv; replaces -valid-src and -valid-tgt").With(free | local)
	f.StringVar(&r.SrcLang, "src-lang", "", "source `language` recorded in the model, a BCP 47 tag such as en or zh-Hant; with -init of a model of several that of the pairs, also as eng_Latn").Default("detected").With(free | local)
	f.StringVar(&r.TgtLang, "tgt-lang", "", "target `language` recorded in the model").Default("detected").With(free | local)
	f.BoolVar(&r.Tagged, "tag", false, "each source begins with >>id<<, such as >>fra<<, the language of its target: the model translates to all these languages, by -to").With(local)
	f.StringVar(&r.Out, "o", DefaultModel, "model `file` to write; its checkpoints go to a folder of the same name with .ckpt").Common().With(free | local).With(notInPlan)
	f.BoolVar(&r.Resume, "resume", false, "continue from the newest checkpoint").Common().Action().With(notInPlan)
	f.BoolVar(&r.Force, "force", false, "replace an existing model and its checkpoints").Common().Action().With(notInPlan)

	f.Group("Presets and settings files")
	presets := append(append(model.PresetNames(), recipes.Names()...), Auto)
	f.StringVar(&r.Preset, "preset", Auto, "model size with its settings: auto (chosen from -time), demo, tiny, small, base, big, or a row of the paper's Table 3, A1 to E; "+
		"or a recipe with all settings of a run: "+strings.Join(recipes.Names(), ", ")).Choices(presets...).Common().With(free | local)
	f.StringVar(&r.ConfigFile, "config", "", "settings `file` with lines 'name = value'; flags override it").Action()
	f.BoolVar(&r.Dump, "dump-config", false, "print all settings as a -config file and exit").Action()
}

// courseFlags declares the flags of the end of a run, its validations and checkpoints, and the
// machine.
func (r *Run) courseFlags(f *cli.Flags) {
	o := &r.Options
	f.Group("End of the run")
	f.IntVar(&o.Steps, "steps", o.Steps, "maximum number of steps; 0 is no maximum").Default(byPreset).Common().With(notInPlan)
	f.DurationVar(&o.Time, "time", "maximum training `time`, such as 15m, time before a resume included; 0 is no maximum").Common().With(notInPlan)
	f.IntVar(&o.Patience, "patience", o.Patience, "limit of validations in a row without a new best; 0 is none").Setting().With(notInPlan)

	f.Group("Validation and checkpoints")
	f.IntVar(&o.ValidEvery, "valid-every", o.ValidEvery, "steps between validations; 0 is none").Default(chosenDefault)
	TokenizeFlag(f, &o.Tokenize)
	f.IntVar(&o.SaveEvery, "save-every", o.SaveEvery, "steps between checkpoints; 0 saves only the best and the last").Default(byPreset).With(notInPlan)
	f.IntVar(&o.Keep, "keep", o.Keep, "newest checkpoints to keep, in addition to the best").Default(byPreset).Setting()
	f.IntVar(&o.Average, "average", o.Average, "newest checkpoints to average at the end; the mean is kept if it validates better; 0 is none").Default(byPreset).Setting()
	for _, g := range penaltyFlags(f, &o.Search, "divisor of the log-probability of a translation, recorded in the model for 'tfm translate'") {
		g.Default(byPreset).With(free)
	}
	f.StringVar(&r.TensorBoard, "tensorboard", "", "`folder` for TensorBoard event files: losses, rates, speeds, and histograms of each head's attention entropy; one folder a run").With(free | local).With(notInPlan)

	f.Group("Machine")
	cli.ThreadsFlag(f, &r.Threads).Common().With(free | local)
	f.BoolVar(&o.BF16, "bf16", o.BF16, "multiply by the weights in bfloat16 where that is faster than float32; the weights then depend on the processor").With(notInPlan)
}

// dataFlags declares the flags of the initial weights, the vocabulary and the batches.
func (r *Run) dataFlags(f *cli.Flags) {
	o := &r.Options
	f.Group("Initial weights")
	f.StringVar(&o.Init, "init", "", "model or checkpoint `file` to fine-tune").Common().With(local)
	initFlag(f, &r.Config)
	f.Uint64Var(&o.Seed, "seed", o.Seed, "random seed of initial weights, order of the pairs and dropout")

	f.Group("Vocabulary and batches")
	f.StringVar(&r.Vocab, "vocab", "", "`file` of 'tfm vocab' or sentencepiece, two of them (SOURCE,TARGET), model, or CODES,VOCABULARY of subword-nmt, whose tokenizers to use; without it tokenizers are trained. With -init it replaces the "+
		"model's tokenizers: pieces that both have keep their embeddings").With(free | local)
	f.BoolVar(&r.Trim, "trim", false, "with -init, drop the pieces that the training pairs do not use, and their embeddings: a smaller and faster model").With(free | local)
	f.IntVar(&r.VocabSize, "vocab-size", 8000, "vocabulary size: number of pieces of the tokenizer that is trained").Common().Default(chosenDefault).With(free)
	f.BoolVar(&r.Joint, "joint", true, "train one tokenizer for both sides; -joint=false: one for each")
	f.IntVar(&o.BatchTokens, "batch-tokens", o.BatchTokens, "limit of target tokens in a batch").Default(byPreset)
	f.IntVar(&o.Accumulate, "accumulate", o.Accumulate, "batches of a step; each token has the same weight").Setting()
	f.IntVar(&o.MaxLen, "max-len", o.MaxLen, "limit of tokens on a side; longer pairs are skipped")
	f.IntVar(&o.ShuffleWindow, "shuffle-window", o.ShuffleWindow, "pairs in memory that are shuffled together; a larger corpus is read again in each epoch, so "+
		"shuffle a sorted corpus beforehand; 0 is all").Setting()
}

// optimizerFlags declares the flags of the optimizer and the learning rate.
func optimizerFlags(f *cli.Flags, o *train.Options) {
	f.Group("Optimizer and learning rate")
	f.StringVar(&o.Optimizer, "optimizer", o.Optimizer, "adam, adamw (weight decay), sgd (momentum), or muon (orthogonal updates of matrices, adam for all else)").Choices(train.OptimizerAdam, train.OptimizerAdamW, train.OptimizerSGD, train.OptimizerMuon).Default(byPreset)
	f.Float64Var(&o.Beta1, "beta1", o.Beta1, "Adam's decay of the first moment").Setting()
	f.Float64Var(&o.Beta2, "beta2", o.Beta2, "Adam's decay of the second moment").Setting()
	f.Float64Var(&o.Eps, "eps", o.Eps, "Adam's epsilon").Setting()
	f.Float64Var(&o.WeightDecay, "weight-decay", o.WeightDecay, fmt.Sprintf("weight decay of adamw, which is multiplied by the learning rate; with adamw %v unless given", usualWeightDecay)).Setting()
	f.Float64Var(&o.Momentum, "momentum", o.Momentum, fmt.Sprintf("momentum of sgd, or muon; with muon %v unless given", usualMuonMomentum)).Default(byPreset).Setting()
	f.Float64Var(&o.MuonScale, "muon-scale", o.MuonScale, fmt.Sprintf("root mean square of muon's update of a matrix at a learning rate of 1; with muon %v unless given", usualMuonScale)).Default(byPreset).Setting()
	f.Float64Var(&o.ClipNorm, "clip-norm", o.ClipNorm, "limit of the gradient's norm; 0 is none").Setting()
	f.StringVar(&o.Schedule, "schedule", o.Schedule, "learning rate after the warmup:\n"+
		"  paper         ~ 1/sqrt(step) from the paper's peak\n"+
		"  inverse-sqrt  ~ 1/sqrt(step) from -lr\n"+
		"  constant      -lr\n"+
		"Unless given: inverse-sqrt with -lr, else paper").
		Choices(train.SchedulePaper, train.ScheduleInverseSqrt, train.ScheduleConstant).Default(byPreset).Setting()
	f.Float64Var(&o.LR, "lr", o.LR, "peak learning rate; 0 is the paper's").Default(byPreset)
	f.Float64Var(&o.Factor, "factor", o.Factor, "factor of the paper's learning rate").Setting()
	f.IntVar(&o.Warmup, "warmup", o.Warmup, "steps in which the learning rate rises to its peak").Default(chosenDefault).Setting()
	f.Float64Var(&o.Cooldown, "cooldown", o.Cooldown, "`share` of the run, at its end, in which the learning rate falls linearly to 0; 0 is none").Default(byPreset).Setting()
}

// trainingRegularizationFlags declares the flags of the regularization that is no setting of the
// model.
func trainingRegularizationFlags(f *cli.Flags, o *train.Options) {
	f.Float64Var(&o.RDrop, "r-drop", o.RDrop, "alpha of R-Drop, such as 5: two passes of each batch with different dropout, and a loss for their KL divergence; doubles "+
		"time and memory of a step; 0 is none")
}

// Flags returns the flags of r, whose values are those of its fields.
func (r *Run) Flags() *cli.Flags { return r.flags }

// CheckpointDir returns the folder of the checkpoints of a run that writes a model to r.Out.
func (r *Run) CheckpointDir() string { return strings.TrimSuffix(r.Out, ".safetensors") + ".ckpt" }

// TokenizeFlag declares -tokenize.
func TokenizeFlag(f *cli.Flags, t *score.Tokenizer) *cli.Flag {
	return f.TextVar(t, "tokenize", *t, "how BLEU splits text:\n"+
		"  13a   sacreBLEU's default\n"+
		"  intl  splits at all Unicode punctuation\n"+
		"  zh    splits Chinese characters\n"+
		"  char  splits all characters\n"+
		"  none  text that is already tokenized\n"+
		"  auto  zh for Chinese; char for Japanese, Thai, Lao, Khmer, Burmese and Tibetan; else 13a").Choices(names[score.Tokenizer]()...)
}

// names returns the names of the values of an enumeration, which begin at 0.
func names[V interface {
	~uint8 | ~int
	encoding.TextMarshaler
}]() (names []string) {
	for v := V(0); ; v++ {
		text, err := v.MarshalText()
		if err != nil {
			return names
		}
		names = append(names, string(text))
	}
}
