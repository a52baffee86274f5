package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/model"
	"tfm/text/bpe"
	"tfm/text/vocab"
	"tfm/train"
	"tfm/train/corpus"
)

func trainCommand() cli.Command {
	return cli.Command{
		Name:  "train",
		Short: "train a model on pairs of sentences",
		Usage: "-src F -tgt F [-valid-src F -valid-tgt F] -model OUT.safetensors [flags]",
		Example: `
			tfm train -src train.en -tgt train.de -valid-src val.en -valid-tgt val.de -preset tiny -time 15m -model en-de.safetensors
			tfm train -src train.en -tgt train.de -valid-src val.en -valid-tgt val.de -model en-de.safetensors -resume`,
		Notes: `Line n of -tgt translates line n of -src; files may be gzipped. Without -tokenizer one is trained on them too, and
without validation files a small part of the pairs is held out. Checkpoints go to the folder OUT.ckpt, the model of
the best validation to OUT.safetensors at the end. The tokens/s that are shown count source and target.

-init MODEL goes on with a trained model: its configuration and tokenizers, a new optimizer and schedule; -dropout, -attention-dropout,
-ff-dropout, -label-smoothing and -smoothing-over may be others. Without -preset the settings are those of the preset of its size.

A file for -config has lines such as "steps = 5000", and # begins a comment. What is on the command line comes before it, and it comes before
the preset. What -dump-config prints of a run, made with the same files, gives the same weights.

Ctrl-C (or SIGTERM) finishes the step, saves a checkpoint, says how to go on, and exits with 128 + the signal's number;
a second one ends at once. -resume goes on from the newest checkpoint as if nothing had happened: it needs -model and
the corpora, validation files included; the other settings are those of the run, and flags may repeat them. Only -steps, -time, -patience,
-valid-every, -save-every, -keep, -average, -on-nan, -tensorboard and -threads may be changed. A -steps or -time that is already over ends
the run and writes the model of the best validation.

The model that a run ends with has the same bits on every processor, except with -bf16: then products with the weights are computed by
instructions that other processors lack or carry out in another order. It does not depend on the number of threads, and a run that
is resumed on such a processor ends as if nothing had happened; on another one the run goes on and says so. The weights, the
optimizer and the validations are float32, and so is the model, which everyone computes with as without -bf16. What is in force
stands behind "products:" when the run begins.`,
		Groups: trainFlags,
		Setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			s := newTrainSettings(f)
			return func(ctx context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				return s.run(ctx)
			}
		},
	}
}

type trainSettings struct {
	training
	layers
	flags *flag.FlagSet

	src, tgt, tsv                string
	validSrc, validTgt, validTSV string
	model, preset                string
	tokenizer, vocab             string
	configFile                   string
	resume, force, dump          bool

	resumedFrom string // with -resume: the checkpoint, and its step
	resumedStep int

	log   *runLog
	board board
}

func newTrainSettings(f *flag.FlagSet) *trainSettings {
	s := &trainSettings{flags: f}
	f.StringVar(&s.src, "src", "", "`file` with the sentences to translate, one a line")
	f.StringVar(&s.tgt, "tgt", "", "`file` with their translations")
	f.StringVar(&s.tsv, "tsv", "", "`file` with both, a tab between them, instead of -src and -tgt")
	f.StringVar(&s.validSrc, "valid-src", "", "`file` with the validation's sentences")
	f.StringVar(&s.validTgt, "valid-tgt", "", "`file` with their translations")
	f.StringVar(&s.validTSV, "valid-tsv", "", "`file` with both, instead of -valid-src and -valid-tgt")
	f.StringVar(&s.model, "model", "", "`file` to write the model to")
	f.BoolVar(&s.resume, "resume", false, "go on from the newest checkpoint in OUT.ckpt")
	f.BoolVar(&s.force, "force", false, "replace a model and checkpoints that are there already")

	f.StringVar(&s.tokenizer, "tokenizer", "", "tokenizer `file` from 'tfm vocab', or a model whose tokenizers to use; none trains them")
	f.IntVar(&s.vocabSize, "vocab-size", 8000, "pieces of a tokenizer that is trained")
	f.BoolVar(&s.joint, "joint", true, "train one tokenizer on both languages; false: one on each")

	s.config, _ = model.Preset("tiny")
	f.StringVar(&s.preset, "preset", "tiny", presetOrRecipeUsage())
	f.StringVar(&s.configFile, "config", "", "`file` with settings, in lines of name = value with the names of flags; what is on the command line overrules it")
	f.BoolVar(&s.dump, "dump-config", false, "print all settings, as -config reads them, and do nothing")
	configFlags(f, &s.config)
	f.Var(initValue{&s.config.Start, &s.options.Init}, "init", startUsage+";\n"+
		"or a model or checkpoint whose weights to begin with, and whose configuration and tokenizers to take")
	f.StringVar(&s.vocab, "vocab", "", "`file` with other tokenizers, as of -tokenizer, for the model of -init: pieces that both have keep what they have learned")

	const preset = "; the default is the preset's"
	s.options = train.OptionsFor("tiny")
	o := &s.options
	f.IntVar(&o.Steps, "steps", o.Steps, "steps after which training ends; 0 is no limit")
	f.Var((*cli.DurationValue)(&o.Time), "time", "`duration` of the training, resumed runs counted together, after which it ends, such as 15m; 0 is no limit")
	f.IntVar(&o.Patience, "patience", o.Patience, "validations in a row without a new best after which it ends; 0 is no limit")
	f.IntVar(&o.Tokens, "tokens", o.Tokens, "target pieces of a batch, at most"+preset)
	f.IntVar(&o.Accumulate, "accumulate", o.Accumulate, "batches of a step, in which each piece weighs the same")
	f.IntVar(&o.MaxLen, "max-len", o.MaxLen, "pairs with more pieces on a side are left out")
	f.IntVar(&o.ShuffleWindow, "shuffle-window", o.ShuffleWindow, "pairs that are in memory and shuffled together, at most; a larger corpus is read again in every epoch, with two\n"+
		"windows in memory: 250 to 300 MB for two of 500,000 pairs of 15 + 15 words. 0 is no limit: all stay in memory, at up to\n400 MB a million. A window holds neighbours: shuffle files that are sorted by origin or length beforehand")
	f.Float64Var(&o.BPEDropout, "bpe-dropout", o.BPEDropout, "`probability` that a merge is dropped when the training pairs are encoded, anew in every epoch (BPE-dropout); 0 is none")
	optimizerFlags(f, o)
	f.IntVar(&o.ValidEvery, "valid-every", o.ValidEvery, "steps between validations; 0 is none")
	tokenizeFlag(f, &o.Tokenize)
	f.IntVar(&o.SaveEvery, "save-every", o.SaveEvery, "steps between checkpoints; 0 is only for the best and the last step"+preset)
	f.IntVar(&o.Keep, "keep", o.Keep, "newest checkpoints to keep, beside the best"+preset)
	f.IntVar(&o.Average, "average", o.Average, "newest checkpoints whose mean to try at the end; 0 is none"+preset)
	f.BoolVar(&o.BF16, "bf16", o.BF16, "multiply by the weights in bfloat16 where the processor does that faster than in float32: the model then depends on the\n"+
		"processor, though not on -threads; where it is not faster, nothing changes")
	f.StringVar(&s.board.dir, "tensorboard", "", "`folder` to write event files for TensorBoard to: scalars of each step and validation, and at each validation\nhistograms of each attention head's entropy; a folder for each run, to be named again with -resume")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "what the first weights, the order of the pairs and dropout are drawn from")
	cli.ThreadsFlag(f, &s.threads)
	return s
}

// optimizerFlags declares the flags of the learning rate and the optimizer.
func optimizerFlags(f *flag.FlagSet, o *train.Options) {
	const preset = "; the default is the preset's"
	f.StringVar(&o.Schedule, "schedule", o.Schedule, "how the learning rate goes on after the warmup: paper and inverse-sqrt, with the inverse square root of the step;\n"+
		"linear, in a straight line to 0 at -decay; cosine, to -floor at -decay; constant. Without it it is linear if there is\na -decay, else inverse-sqrt if there is a -peak, else the paper's")
	f.Float64Var(&o.Factor, "factor", o.Factor, "learning rate: the paper's times this")
	f.Float64Var(&o.Peak, "peak", o.Peak, "learning rate after the warmup; 0 is the paper's"+preset)
	f.IntVar(&o.Warmup, "warmup", o.Warmup, "steps in which the learning rate rises"+preset)
	f.IntVar(&o.Decay, "decay", o.Decay, "step at which the schedule linear or cosine ends")
	f.Float64Var(&o.Floor, "floor", o.Floor, "learning rate that the schedule cosine ends at")
	f.StringVar(&o.Optimizer, "optimizer", o.Optimizer, "adam, adamw (with weight decay) or sgd (with momentum)")
	f.Float64Var(&o.Beta1, "beta1", o.Beta1, "Adam's decay of the first moment")
	f.Float64Var(&o.Beta2, "beta2", o.Beta2, "Adam's decay of the second moment")
	f.Float64Var(&o.Eps, "eps", o.Eps, "Adam's epsilon")
	f.Float64Var(&o.WeightDecay, "weight-decay", o.WeightDecay, fmt.Sprintf("part of a matrix that a step of adamw takes away, times the learning rate; the default with adamw is %v", usualWeightDecay))
	f.Float64Var(&o.Momentum, "momentum", o.Momentum, "momentum of sgd")
	f.BoolVar(&o.Nesterov, "nesterov", o.Nesterov, "use Nesterov's momentum in sgd")
	f.Float64Var(&o.RDrop, "r-drop", o.RDrop, "R-Drop's alpha, such as 5: each batch goes through the model twice with other dropout, and what it says of a\n"+
		"piece both times is made alike; twice the time and memory of a step, -tokens counts one copy; 0 is none")
	f.Float64Var(&o.EMA, "ema", o.EMA, "decay of a moving average of the weights, such as 0.999, which then is what is validated, kept, taken for\n"+
		"-average, and written at the end; 0 is none")
	f.Float64Var(&o.Clip, "clip", o.Clip, "norm to which the gradient is clipped; 0 is none")
	f.StringVar(&o.OnNaN, "on-nan", o.OnNaN, "what to do with an update whose loss or gradient is not a finite number: stop the run, or skip the update")
}

const usualWeightDecay = 0.01

func (s *trainSettings) run(ctx context.Context) error {
	if err := s.layer(); err != nil {
		return err
	}
	given := cli.Given(s.flags)
	if err := s.check(); err != nil {
		return err
	}
	if !s.dump {
		for _, t := range []*corpus.Text{s.corpus, s.valid} {
			if t == nil {
				continue
			}
			if err := t.Check(); err != nil {
				return err
			}
		}
		if err := cli.CheckWritable(s.model); err != nil {
			return err
		}
	}
	s.options.Dir, s.options.Resume = s.model+".ckpt", s.resume
	if base, ok := strings.CutSuffix(s.model, ".safetensors"); ok {
		s.options.Dir = base + ".ckpt"
	}
	if _, err := os.Stat(s.options.Dir); err == nil && !s.dump {
		if err := cli.CheckWritable(filepath.Join(s.options.Dir, "a checkpoint")); err != nil {
			return err
		}
		unlock, err := train.Lock(s.options.Dir) // the run locks it, but only after the corpora have been read
		if err != nil {
			return err
		}
		unlock()
	}
	if err := s.board.makeDir(); err != nil {
		return err
	}
	s.progress = terminal.NewProgress(os.Stderr)
	var err error
	if s.resume {
		err = s.takeUp(given)
	} else {
		err = s.begin(given)
	}
	if err != nil {
		return err
	}
	if s.dump {
		return dumpSettings(os.Stdout, s.flags)
	}
	s.options.Entropies = s.board.dir != ""
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	s.log = &runLog{settings: s}
	s.board.warn = func(err error) { s.progress.Line("tfm: the run goes on without -tensorboard: %v", err) }
	s.record = func(e train.Event) {
		s.log.record(e)
		s.board.record(e)
	}
	t, err := s.training.run(ctx)
	err = s.finish(ctx, t, err)
	s.log.end(t.result, err)
	s.board.close()
	return err
}

// finish tells how the training ended, which is t or the error err, and writes the model.
func (s *trainSettings) finish(ctx context.Context, t trained, err error) error {
	switch r := t.result; {
	case err == nil && r.Reason == train.OutOfTime && r.Step == 0:
		return fmt.Errorf("-time %v is too short for a first step and what comes after it: nothing is trained, and no model is written", s.options.Time)
	case err == nil && r.Reason != train.Interrupted:
		s.progress.Line("end after %v: %s", r.Trained.Round(time.Second), r.Reason)
	case r.Checkpoint != "":
		return s.interrupted(ctx, r.Step, r.Checkpoint)
	case errors.As(err, new(cli.InterruptError)) && s.resume: // while the corpora were read
		return s.interrupted(ctx, s.resumedStep, s.resumedFrom)
	case err == nil || errors.As(err, new(cli.InterruptError)):
		s.progress.Line("interrupted before the first step, so nothing is saved")
		return cli.Interruption(ctx)
	case errors.Is(err, train.ErrOtherPairs):
		return fmt.Errorf("%w; -resume needs the corpora of that run, and if it held pairs out, still no validation files and no -valid-every 0", err)
	default:
		return err
	}
	if err := t.save(s.model); err != nil {
		return fmt.Errorf("%w; the weights are not lost, they are in %s: make room, then run %s", err, s.options.Dir, s.resumeCommand())
	}
	return nil
}

// interrupted says how to go on from a checkpoint, and returns the signal that ended ctx.
func (s *trainSettings) interrupted(ctx context.Context, step int, checkpoint string) error {
	s.progress.Line("interrupted; step %s is saved in %s; go on with:\n  %s", format.Thousands(step), checkpoint, s.resumeCommand())
	return cli.Interruption(ctx)
}

// check finds what is wrong with the flags before any file is read.
func (s *trainSettings) check() error {
	either := func(tsv, src, tgt, prefix string) error {
		switch {
		case tsv != "" && (src != "" || tgt != ""):
			return cli.Usagef("either -%stsv or -%ssrc and -%stgt", prefix, prefix, prefix)
		case (src == "") != (tgt == ""):
			return cli.Usagef("-%ssrc and -%stgt belong together", prefix, prefix)
		}
		return nil
	}
	if err := errors.Join(either(s.tsv, s.src, s.tgt, ""), either(s.validTSV, s.validSrc, s.validTgt, "valid-")); err != nil {
		return err
	}
	switch {
	case s.tsv == "" && s.src == "" && !s.dump:
		return cli.Usagef("-src and -tgt are missing")
	case s.model == "" && (!s.dump || s.resume):
		return cli.Usagef("-model is missing, the file to write the model to")
	case s.resume && s.force:
		return cli.Usagef("either -resume or -force")
	}
	if err := cli.CheckThreads(s.threads); err != nil {
		return err
	}
	s.corpus = corpus.Files(s.src, s.tgt)
	if s.tsv != "" {
		s.corpus = corpus.TSV(s.tsv)
	}
	switch {
	case s.validTSV != "":
		s.valid = corpus.TSV(s.validTSV)
	case s.validSrc != "":
		s.valid = corpus.Files(s.validSrc, s.validTgt)
	}
	return nil
}

// overrule takes back what a lower layer, or the preset, says of one flag where another one that is given means something else.
func (s *trainSettings) overrule() error {
	o := &s.options
	// In a run that goes on, what is not given is the run's and stays.
	over := func(name, other string) bool {
		return s.level(name) > s.level(other) && !(s.resume && s.level(other) == 0)
	}
	if s.level("factor") > 0 && s.level("factor") == s.level("peak") && o.Peak != 0 && o.Factor != 1 {
		return cli.Usagef("either -peak or -factor")
	}
	if over("factor", "peak") || over("schedule", "peak") && o.Schedule == train.SchedulePaper {
		o.Peak = 0
	}
	if over("peak", "schedule") && o.Schedule == train.SchedulePaper ||
		over("factor", "schedule") && o.Schedule == train.ScheduleInverseSqrt && o.Peak == 0 ||
		over("decay", "schedule") && o.Schedule != train.ScheduleLinear && o.Schedule != train.ScheduleCosine {
		o.Schedule = "" // the one that goes with it
	}
	if over("optimizer", "weight-decay") {
		o.WeightDecay = 0
		if o.Optimizer == train.OptimizerAdamW {
			o.WeightDecay = usualWeightDecay
		}
	}
	if over("optimizer", "momentum") && o.Optimizer != train.OptimizerSGD {
		o.Momentum = 0
	}
	if over("optimizer", "nesterov") && o.Optimizer != train.OptimizerSGD {
		o.Nesterov = false
	}
	for _, name := range []string{"beta1", "beta2", "eps"} {
		if s.typed[name] && o.Optimizer == train.OptimizerSGD {
			return cli.Usagef("-%s is Adam's, and the optimizer is sgd", name)
		}
	}
	if s.level("average") == 0 && !s.resume || over("keep", "average") {
		o.Average = min(o.Average, o.Keep)
	}
	o.Schedule = o.LearningRate(s.config.DModel).Name
	return nil
}

// begin prepares a new run.
func (s *trainSettings) begin(given map[string]string) error {
	switch init := s.options.Init; {
	case init != "" && s.tokenizer != "":
		return cli.Usagef("either -init %s or -tokenizer: the model brings its own, and -vocab gives it others", init)
	case init == "" && s.vocab != "":
		return cli.Usagef("-vocab is for a model that -init names; -tokenizer is for a new one")
	case init != "":
		if err := s.beginWith(init, given); err != nil {
			return err
		}
	case s.tokenizer != "":
		t, err := readTokenizers(s.tokenizer)
		if err != nil {
			return err
		}
		if err := s.take(t, s.tokenizer); err != nil {
			return err
		}
	default:
		if s.vocabSize < bpe.MinSize {
			return cli.Usagef("-vocab-size %d: at least %d are needed, for 256 bytes and 3 special ids", s.vocabSize, bpe.MinSize)
		}
	}
	dir := s.options.Dir
	s.options = train.OptionsFor(s.preset)
	s.options.Dir = dir
	if err := s.configure(given); err != nil {
		return err
	}
	if err := s.overrule(); err != nil {
		return err
	}
	s.config.MaxLen = max(s.config.MaxLen, s.options.MaxLen+1)
	if s.config.Positions == model.Learned {
		s.config.MaxLen = s.options.MaxLen + 1 // no other positions are learned
	}
	if !s.joint && s.config.Tie == model.TieAll {
		return cli.Usagef("-tie all needs a joint vocabulary")
	}
	if err := s.fitsBefore(given); err != nil {
		return err
	}
	c := s.config
	c.SrcVocab, c.TgtVocab = 1000, 1000 // not known yet
	if err := settingError(c.Validate(), s.options.Validate()); err != nil {
		return err
	}
	if s.options.RDrop != 0 && max(c.Dropout, c.AttentionDropout, c.FFDropout) == 0 {
		return cli.Usagef("-r-drop %v needs a -dropout: without one the model says the same of both copies", s.options.RDrop)
	}
	if s.dump {
		return nil
	}
	return s.makeWay()
}

// take uses the tokenizers of a file.
func (s *trainSettings) take(t vocab.Pair, path string) error {
	if s.level("joint") >= s.jointLevel() && s.joint != t.Joint() {
		return cli.Usagef("-joint=%v, but in %s it is %v", s.joint, path, t.Joint())
	}
	s.tokens, s.joint = &t, t.Joint()
	return nil
}

// jointLevel is the level of what says whether the vocabulary is a joint one.
func (s *trainSettings) jointLevel() int {
	return max(s.level("joint"), s.level("tokenizer"), s.level("vocab"), s.level("init"))
}

// configure sets the configuration to the preset, or to that of the model of -init, with the given flags over it.
func (s *trainSettings) configure(given map[string]string) error {
	joint := s.joint // given may have what a file of tokenizers has overruled
	name := s.preset
	if lines, _ := recipeLines(name); lines != nil {
		name = "tiny" // whose settings the recipe's replace
	}
	if _, ok := given["preset"]; s.from != nil && !ok {
		s.config = s.from.model.Config
		if err := cli.SetAgain(s.flags, given); err != nil {
			return err
		}
	} else if err := usePreset(s.flags, &s.config, name, given); err != nil {
		return err
	}
	if s.level("joint") < s.jointLevel() {
		s.joint = joint
	}
	if s.level("tie") > s.level("output-bias") {
		s.config.OutputBias = s.config.Tie == model.TieNone
	}
	if tie := s.level("tie"); (tie == 0 || tie < s.jointLevel()) && !s.joint && s.config.Tie == model.TieAll {
		s.config.Tie = model.TieDecoder
	}
	return nil
}

// makeWay is an error if there is a model or a run already that must not be replaced.
func (s *trainSettings) makeWay() error {
	checkpoints, err := train.Checkpoints(s.options.Dir)
	if err != nil {
		return err
	}
	there := ""
	if _, err := os.Stat(s.model); err == nil {
		there = s.model
	} else if len(checkpoints) > 0 {
		there = checkpoints[len(checkpoints)-1]
	}
	if there != "" && !s.force {
		return fmt.Errorf("%s is there already: -resume goes on with its training, -force replaces it", there)
	}
	s.options.Replace = s.force
	return nil
}
