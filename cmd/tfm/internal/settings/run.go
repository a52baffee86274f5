package settings

import (
	"fmt"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/recipes"
	"tfm/model"
	"tfm/text/score"
	"tfm/train"
)

// Run is the settings of a training. Its flags are bound to its fields.
type Run struct {
	Src, Tgt, TSV                string // the training pairs
	ValidSrc, ValidTgt, ValidTSV string // the validation pairs
	SrcLang, TgtLang             string // BCP 47; "" if unknown
	Out                          string // the file to write the model to
	Resume, Force                bool

	Preset string // or recipe
	Config model.Config

	Vocab     string // the file of tokenizers, also for the model of Options.Init; "" trains or keeps them
	VocabSize int
	Joint     bool

	Options     train.Options
	TensorBoard string // the folder of its event files
	Threads     int

	ConfigFile string // from which settings are read
	Dump       bool   // print the settings and do nothing

	flags   *cli.Flags
	origins map[string]Origin // of the settings that Resolve has resolved
}

// defaultPreset is the preset of a run that names none.
const defaultPreset = "tiny"

// DefaultModel is the model file of a command line that names none.
const DefaultModel = "model.safetensors"

// NewRun returns the settings of a run that names none, and declares its flags on f.
func NewRun(f *cli.Flags) *Run {
	r := &Run{flags: f, Options: train.OptionsFor(defaultPreset)}
	r.Config, _ = model.Preset(defaultPreset)
	const preset = "; the default is the preset's"
	o := &r.Options

	f.Group("Files")
	f.StringVar(&r.Src, "src", "", "`file` with the sentences to translate, one a line")
	f.StringVar(&r.Tgt, "tgt", "", "`file` with their translations")
	f.StringVar(&r.TSV, "tsv", "", "`file` with both, a tab between them, instead of -src and -tgt")
	f.StringVar(&r.ValidSrc, "valid-src", "", "`file` with the validation's sentences")
	f.StringVar(&r.ValidTgt, "valid-tgt", "", "`file` with their translations")
	f.StringVar(&r.ValidTSV, "valid-tsv", "", "`file` with both, instead of -valid-src and -valid-tgt")
	f.StringVar(&r.SrcLang, "src-lang", "", "`language` of the source as a BCP 47 tag, such as en or zh-Hant, for the model file")
	f.StringVar(&r.TgtLang, "tgt-lang", "", "`language` of the target")
	f.StringVar(&r.Out, "o", DefaultModel, "`file` to write the model to")
	f.BoolVar(&r.Resume, "resume", false, "go on from the newest checkpoint in OUT.ckpt")
	f.BoolVar(&r.Force, "force", false, "replace a model and checkpoints that are there already")

	f.Group("Presets and files of settings")
	f.StringVar(&r.Preset, "preset", defaultPreset, PresetUsage())
	f.StringVar(&r.ConfigFile, "config", "", "`file` with settings, in lines of name = value with the names of flags; command-line flags override the file")
	f.BoolVar(&r.Dump, "dump-config", false, "print all settings, as -config reads them, and do nothing")

	f.Group("The end of the run")
	f.IntVar(&o.Steps, "steps", o.Steps, "steps after which training ends; 0 is no limit")
	f.Var((*cli.DurationValue)(&o.Time), "time", "`duration` of the training, resumed runs counted together, after which it ends, such as 15m; 0 is no limit")
	f.IntVar(&o.Patience, "patience", o.Patience, "validations in a row without a new best after which it ends; 0 is no limit")

	f.Group("Validations and checkpoints")
	f.IntVar(&o.ValidEvery, "valid-every", o.ValidEvery, "steps between validations; 0 is none")
	TokenizeFlag(f, &o.Tokenize)
	f.IntVar(&o.SaveEvery, "save-every", o.SaveEvery, "steps between checkpoints; 0 is only for the best and the last step"+preset)
	f.IntVar(&o.Keep, "keep", o.Keep, "newest checkpoints to keep, beside the best"+preset)
	f.IntVar(&o.Average, "average", o.Average, "newest checkpoints whose mean to try at the end; 0 is none"+preset)
	f.StringVar(&r.TensorBoard, "tensorboard", "", "`folder` to write event files for TensorBoard to: scalars of each step and validation, and at each validation\nhistograms of each attention head's entropy; a folder for each run, to be named again with -resume")

	f.Group("Machine")
	cli.ThreadsFlag(f, &r.Threads)
	f.BoolVar(&o.BF16, "bf16", o.BF16, "multiply by the weights in bfloat16 where the processor does that faster than in float32: the model then depends on the\n"+
		"processor, though not on -threads; where it is not faster, nothing changes")

	f.Group("First weights")
	f.Var(initValue{&r.Config.Start, &r.Options.Init}, "init", StartUsage+";\n"+
		"or a model or checkpoint whose weights to begin with, and whose configuration and tokenizers to take")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "what the first weights, the order of the pairs and dropout are drawn from")

	f.Group("Tokenizer and batches")
	f.StringVar(&r.Vocab, "vocab", "", "`file` that 'tfm vocab' wrote, or a model whose tokenizers to use; none trains them. With -init the model's new tokenizers:\npieces that both have keep their embeddings")
	f.IntVar(&r.VocabSize, "vocab-size", 8000, "pieces of a tokenizer that is trained")
	f.BoolVar(&r.Joint, "joint", true, "train one tokenizer on both languages; false: one on each")
	f.IntVar(&o.BatchTokens, "batch-tokens", o.BatchTokens, "limit of target tokens in a batch"+preset)
	f.IntVar(&o.Accumulate, "accumulate", o.Accumulate, "batches of a step, in which each piece weighs the same")
	f.IntVar(&o.MaxLen, "max-len", o.MaxLen, "pairs with more pieces on a side are left out")
	f.IntVar(&o.ShuffleWindow, "shuffle-window", o.ShuffleWindow, "pairs that are in memory and shuffled together, at most; a larger corpus is read again in every epoch, with two\n"+
		"windows in memory: 250 to 300 MB for two of 500,000 pairs of 15 + 15 words. 0 is no limit: all stay in memory, at up to\n400 MB a million. A window holds neighbours: shuffle files that are sorted by origin or length beforehand")

	f.Group("Optimizer and learning rate")
	f.StringVar(&o.Optimizer, "optimizer", o.Optimizer, "adam, adamw (with weight decay) or sgd (with momentum)")
	f.Float64Var(&o.Beta1, "beta1", o.Beta1, "Adam's decay of the first moment")
	f.Float64Var(&o.Beta2, "beta2", o.Beta2, "Adam's decay of the second moment")
	f.Float64Var(&o.Eps, "eps", o.Eps, "Adam's epsilon")
	f.Float64Var(&o.WeightDecay, "weight-decay", o.WeightDecay, fmt.Sprintf("part of a matrix that a step of adamw takes away, times the learning rate; the default with adamw is %v", usualWeightDecay))
	f.Float64Var(&o.Momentum, "momentum", o.Momentum, "momentum of sgd")
	f.BoolVar(&o.Nesterov, "nesterov", o.Nesterov, "use Nesterov's momentum in sgd")
	f.Float64Var(&o.ClipNorm, "clip-norm", o.ClipNorm, "norm to which the gradient is clipped; 0 is none")
	f.StringVar(&o.OnNaN, "on-nan", o.OnNaN, "what to do with an update whose loss or gradient is not a finite number: stop the run, or skip the update")
	f.StringVar(&o.Schedule, "schedule", o.Schedule, "how the learning rate goes on after the warmup: paper and inverse-sqrt, with the inverse square root of the step;\n"+
		"linear, in a straight line to 0 at -decay-steps; cosine, to -min-lr at -decay-steps; constant. Without it it is linear if there is\na -decay-steps, else inverse-sqrt if there is an -lr, else the paper's")
	f.Float64Var(&o.LR, "lr", o.LR, "peak learning rate, after the warmup; 0 is the paper's"+preset)
	f.Float64Var(&o.Factor, "factor", o.Factor, "learning rate: the paper's times this")
	f.IntVar(&o.Warmup, "warmup", o.Warmup, "steps in which the learning rate rises"+preset)
	f.IntVar(&o.DecaySteps, "decay-steps", o.DecaySteps, "step at which the schedule linear or cosine ends")
	f.Float64Var(&o.MinLR, "min-lr", o.MinLR, "learning rate that the schedule cosine ends at")

	regularizationFlags(f, &r.Config)
	f.Float64Var(&o.BPEDropout, "bpe-dropout", o.BPEDropout, "`probability` that a merge is dropped when the training pairs are encoded, anew in every epoch (BPE-dropout); 0 is none")
	f.Float64Var(&o.RDrop, "r-drop", o.RDrop, "R-Drop's alpha, such as 5: each batch goes through the model twice with other dropout, and what it says of a\n"+
		"piece both times is made alike; twice the time and memory of a step, -batch-tokens counts one copy; 0 is none")
	f.Float64Var(&o.EMA, "ema", o.EMA, "decay of a moving average of the weights, such as 0.999, which then is what is validated, kept, taken for\n"+
		"-average, and written at the end; 0 is none")

	modelFlags(f, &r.Config)
	return r
}

// Flags returns the flags of r, whose values are those of its fields.
func (r *Run) Flags() *cli.Flags { return r.flags }

// CheckpointDir returns the folder of the checkpoints of a run that writes a model to r.Model.
func (r *Run) CheckpointDir() string { return strings.TrimSuffix(r.Out, ".safetensors") + ".ckpt" }

// PresetUsage is the usage of -preset: the presets and the recipes.
func PresetUsage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`name` of the configuration to start from: %s;\nor of a recipe, which has every setting of a run:", strings.Join(model.PresetNames(), ", "))
	for _, name := range recipes.Names() {
		lines, _ := recipes.Lines(name)
		fmt.Fprintf(&b, "\n  %-12s %s", name, strings.TrimSpace(strings.TrimPrefix(lines[0], "#")))
	}
	return b.String() + "\n"
}

// TokenizeFlag declares -tokenize.
func TokenizeFlag(f *cli.Flags, t *score.Tokenizer) {
	f.TextVar(t, "tokenize", *t, "`how` BLEU cuts text into tokens: 13a, intl, zh, char, none for text that is tokenized already, or auto,\n"+
		"which is zh for Chinese, char for Japanese, Thai, Lao, Khmer, Burmese and Tibetan, and 13a for all others")
}
