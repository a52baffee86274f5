package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/release"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/cmd/tfm/internal/training"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text/tokenizer/vocab"
	"tfm/train"
	"tfm/train/corpus"
	"tfm/train/runlog"
)

func trainCommand(f *cli.Flags) cli.Action {
	t := newTrainer(settings.NewRun(f))
	for _, g := range f.All() {
		if g.Name != "threads" {
			g.Not("plan")
		}
	}
	f.Group("Rounds")
	f.StringVar(&t.rounds, "plan", "", "`folder` of 'tfm plan': make all its rounds in turn on this machine; only -threads goes with it").Action()
	f.StringVar(&t.replay, "replay", "", "`file` of the weights of a training with the same plan, whose rounds were merged without some workers: leave out the same").Action().Needs("plan")
	return t.run
}

// trainer is the command with its flags, and what it reads before it trains.
type trainer struct {
	*settings.Run
	progress *terminal.Progress
	job      training.Job

	tokenizers *vocab.Tokenizers // nil trains them
	init       *training.Init    // the model to fine-tune, or nil
	resumed    *train.Checkpoint // the checkpoint of -resume, or nil

	mix       *corpus.Mix // of -mix, or nil
	languages [2]string   // that -src-lang and -tgt-lang name, unlike those of a model

	rounds, replay string // -plan, -replay
}

func newTrainer(r *settings.Run) *trainer {
	return &trainer{Run: r, progress: terminal.NewProgress(os.Stderr)}
}

func (t *trainer) run(ctx context.Context, _ []string) error {
	if err := t.Flags().CheckModes(""); err != nil {
		return err
	}
	if t.rounds != "" {
		return (&rounds{threads: t.Threads, replay: t.replay, prints: true}).all(ctx, t.rounds)
	}
	if err := t.settle(); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	if err := t.inspect(ctx); err != nil {
		return t.finish(ctx, training.Result{}, err)
	}
	if t.Dump {
		return t.Write(os.Stdout)
	}
	return t.train(ctx)
}

// settle reads the files of settings, validates the settings and checks that the files that they
// name can be read and written.
func (t *trainer) settle() error {
	for _, step := range []func() error{t.load, t.Check, t.checkOutput, t.resolve, t.checkCorpora, t.checkOverwrite} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// load reads the files of settings.
func (t *trainer) load() (err error) {
	if err = t.Load(); err != nil {
		return err
	}
	if t.languages[0], t.languages[1], err = model.NamedLanguages(t.SrcLang, t.TgtLang); err != nil {
		return settings.Error(err)
	}
	if t.Mix != "" {
		if t.mix, err = corpus.ReadMix(t.Mix); err != nil {
			return err
		}
		untagged := t.mix.Untagged()
		if n := len(untagged); n > 0 && n < len(t.mix.Datasets) && !t.Tagged {
			return cli.Usagef("%s: the dataset %s has no tag >>id<< of a language, as others have: give it one, or -tag if its sources begin with them", t.Mix, untagged[0])
		}
		t.Tagged = t.Tagged || len(untagged) == 0
		if t.Trim && slices.ContainsFunc(t.mix.Stages, func(s corpus.Stage) bool { return s.Modifiers != nil }) {
			err = cli.Usagef("-trim keeps the pieces of the pairs as they are: %s has modifiers, which make others", t.Mix)
		}
	}
	return err
}

// inspect reads the corpora once and chooses the settings that depend on them. Those of a resumed
// run do not; -dump-config needs no corpora.
func (t *trainer) inspect(ctx context.Context) (err error) {
	t.job = training.Job{Progress: t.progress, Threads: t.Threads}
	c := &t.job.Corpus
	c.Train, c.Tokenizers = t.corpus(), t.tokenizers
	c.Trim = t.Trim && !t.Resume
	if c.Tagged, c.Model = t.Tagged, t.Config; t.Config.HasLanguages() && t.Vocab != "" && t.Options.Init != "" && !t.Resume {
		return fmt.Errorf("-vocab: %s is a model of several languages, whose tokens are of its own vocabulary", t.Options.Init)
	}
	if c.Train == nil || t.Dump && t.Resume {
		return nil
	}
	if c.CountWords, err = t.LearnsVocabulary(vocab.CanLearn(t.tokenizers)); err != nil {
		return err
	}
	if t.Options.ValidEvery > 0 {
		c.Valid = t.validation()
	}
	if err := t.job.Inspect(ctx); err != nil {
		return err
	}
	t.Choose(t.job.Survey)
	if t.Options.Init == "" || t.Resume {
		return nil
	}
	return t.chooseVocabulary(ctx)
}

// chooseVocabulary replaces the tokenizers of the model to fine-tune by ones that are learned from
// the new text, if these suit it better or their size is given.
func (t *trainer) chooseVocabulary(ctx context.Context) error {
	if c := &t.job.Corpus; c.CountWords && t.SuitsLearning(t.job.Survey) {
		learned, more, err := t.job.Survey.Learn(ctx, t.VocabSize, t.Joint)
		if err != nil {
			return err
		}
		if t.NewVocabulary(t.job.Survey, more) {
			c.Tokenizers = &learned
			return nil
		}
	}
	t.VocabSize = 0 // those of the model
	return nil
}

// checkCorpora checks that the corpora can be read.
func (t *trainer) checkCorpora() (err error) {
	for _, c := range []*corpus.Text{t.corpus(), t.validation()} {
		if c != nil && err == nil {
			err = c.Check()
		}
	}
	return err
}

// checkOutput checks that the results can be written. -dump-config has none.
func (t *trainer) checkOutput() error {
	if t.Dump {
		return nil
	}
	inputs := []string{t.Src, t.Tgt, t.TSV, t.Mix, t.ValidSrc, t.ValidTgt, t.ValidTSV, t.ConfigFile, t.Vocab, t.Options.Init}
	if t.mix != nil {
		inputs = append(inputs, t.mix.Text("").Paths()...)
	}
	if err := cli.CheckDistinct(t.Out, inputs...); err != nil {
		return err
	}
	dir := t.CheckpointDir()
	if _, err := os.Stat(dir); err != nil {
		return nil // the training creates it
	}
	if err := cli.CheckWritable(filepath.Join(dir, "a checkpoint")); err != nil {
		return err
	}
	unlock, err := train.Lock(dir) // train.Run locks it only after the corpora are read
	if err != nil {
		return err
	}
	unlock()
	return nil
}

// corpus returns the training files, nil if -dump-config is given none.
func (t *trainer) corpus() *corpus.Text {
	if t.mix != nil {
		return t.in(t.mix.Text(t.Mix))
	}
	return t.in(pairs(t.TSV, t.Src, t.Tgt))
}

// validation returns the validation files, nil to hold pairs out.
func (t *trainer) validation() *corpus.Text { return t.in(pairs(t.ValidTSV, t.ValidSrc, t.ValidTgt)) }

// in returns a text in the languages that were named. Those of the model to fine-tune, whose tags
// may be others than those of a translation memory, are likely, unless the pairs have its tokens.
func (t *trainer) in(text *corpus.Text) *corpus.Text {
	if t.languages == [2]string{} && t.Options.Init != "" {
		return text.In(t.SrcLang, t.TgtLang, !t.Config.HasLanguages())
	}
	return text.In(t.languages[0], t.languages[1], false)
}

// pairs returns the pairs of the files that are named, or nil.
func pairs(tsv, src, tgt string) *corpus.Text {
	switch {
	case tsv != "":
		return corpus.TSV(tsv)
	case src != "":
		return corpus.Files(src, tgt)
	}
	return nil
}

// resolve reads the checkpoint, model or tokenizers that the flags name, and resolves the settings.
func (t *trainer) resolve() (err error) {
	facts := settings.Facts{}
	switch {
	case t.Resume:
		facts.Resume, err = t.loadRun()
	case t.Options.Init != "":
		facts.Init, facts.Tokenizers, err = t.initialModel()
	case t.Vocab != "":
		facts.Tokenizers, err = t.loadTokenizers(t.Vocab)
	}
	if err != nil {
		return err
	}
	return t.Resolve(facts)
}

// loadRun opens the newest checkpoint of the run to resume.
func (t *trainer) loadRun() (*settings.Trained, error) {
	dir := t.CheckpointDir()
	if paths, err := train.Checkpoints(dir); err == nil && len(paths) == 0 {
		return nil, fmt.Errorf("found no checkpoint in %s: check -o, or start again without -resume if the run ended before its first checkpoint", dir)
	}
	c, err := train.Newest(dir)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	read, err := tokenizers.Read(c.Path)
	if err != nil {
		return nil, err
	}
	if t.Vocab != "" {
		if same, err := tokenizers.Same(read, t.Vocab); err != nil {
			return nil, err
		} else if !same {
			return nil, cli.Usagef("-vocab %s conflicts with the run to resume: %s has other tokenizers", t.Vocab, c.Path)
		}
	}
	t.resumed, t.tokenizers = c, &read
	return &settings.Trained{Path: c.Path, Config: c.Config, Options: c.Options, Joint: read.Joint(), SrcLang: c.SrcLang, TgtLang: c.TgtLang}, nil
}

// initialModel loads the model to fine-tune, and the tokenizers of -vocab if given.
func (t *trainer) initialModel() (*settings.Trained, *settings.Tokenizers, error) {
	path := t.Options.Init
	file, err := model.Load(path, false)
	if err != nil {
		return nil, nil, fmt.Errorf("-init: %w", err)
	}
	own, err := tokenizers.Of(path, file.Tokenizers, file.Model.Config)
	if err != nil {
		return nil, nil, err
	}
	decoding, err := decode.ParseSettings(file.Decoding)
	if err != nil {
		return nil, nil, fmt.Errorf("-init: %s: %w", path, err)
	}
	t.init, t.tokenizers = &training.Init{Path: path, Model: file.Model, Tokenizers: own, SrcLang: file.SrcLang, TgtLang: file.TgtLang, Shortlist: file.Shortlist != nil}, &own
	of := &settings.Tokenizers{Path: path, Joint: own.Joint()}
	if t.Vocab != "" {
		if of, err = t.loadTokenizers(t.Vocab); err != nil {
			return nil, nil, err
		}
	}
	return &settings.Trained{Path: path, Config: file.Model.Config, Imported: file.Info[train.SourceKey], SrcLang: file.SrcLang, TgtLang: file.TgtLang, Decoding: decoding}, of, nil
}

func (t *trainer) loadTokenizers(path string) (*settings.Tokenizers, error) {
	read, err := tokenizers.Read(path)
	if err != nil {
		return nil, err
	}
	t.tokenizers = &read
	return &settings.Tokenizers{Path: path, Joint: read.Joint()}, nil
}

// checkOverwrite reports an existing model or checkpoint, which only -force replaces.
func (t *trainer) checkOverwrite() error {
	if t.Dump || t.Resume || t.Force {
		return nil
	}
	exists := t.Out
	if _, err := os.Stat(t.Out); errors.Is(err, os.ErrNotExist) {
		checkpoints, err := train.Checkpoints(t.CheckpointDir())
		if err != nil {
			return err
		}
		if len(checkpoints) == 0 {
			return nil
		}
		exists = checkpoints[len(checkpoints)-1]
	} else if err != nil {
		return err
	}
	return fmt.Errorf("%s already exists: -resume continues its training, -force replaces it", exists)
}

// train trains the model, with a log and event files, and writes the model file.
func (t *trainer) train(ctx context.Context) error {
	t.prepare()
	job := &t.job
	warn := func(what string) func(error) {
		return func(err error) { t.progress.Line("tfm: the run continues without %s: %v", what, err) }
	}
	board := &training.Board{Dir: t.TensorBoard, Warn: warn("-tensorboard")}
	if err := board.MakeDir(); err != nil {
		return err
	}
	job.Options.Entropies = t.TensorBoard != ""
	log := &training.Log{Dir: t.Options.Dir, Model: t.Out, Warn: warn("its log"), Start: func() runlog.Start {
		t.Options.Tokenize = job.Options.Tokenize // auto has been replaced
		return runlog.Start{Version: release.Current().String(), Settings: t.Flags().Values(), Vocabulary: job.Config.TgtVocab, Parameters: job.Config.CountParams(),
			Threads: t.Threads, Kernels: mat.Kernel()}
	}}
	job.Record = func(e train.Event) {
		log.Record(e)
		board.Record(e)
	}
	t.printChoices()
	result, err := job.Run(ctx)
	err = t.finish(ctx, result, err)
	log.End(result.Result, err)
	board.Close()
	return err
}

// prepare gives the job the settings.
func (t *trainer) prepare() {
	job := &t.job
	job.Corpus.VocabSize, job.Corpus.Joint = t.VocabSize, t.Joint
	job.Config, job.Options = t.Config, t.Options
	job.Options.Replace = t.Force
	job.SrcLang, job.TgtLang, job.Init = t.SrcLang, t.TgtLang, t.init
	t.init = nil // so that the job can free its weights
}

// printChoices prints the settings that were chosen, with the reasons.
func (t *trainer) printChoices() {
	choices := t.Choices()
	if len(choices) == 0 {
		return
	}
	t.progress.Text("chosen for these files (each is a flag; -dump-config prints all settings):")
	width := 18
	for _, c := range choices {
		width = max(width, len("- ")+len(c.Name+c.Value))
	}
	for _, c := range choices {
		t.progress.Text("  %-*s %s", width, "-"+c.Name+" "+c.Value, c.Why)
	}
}

// finish prints how the training ended, with r or err, and writes the model.
func (t *trainer) finish(ctx context.Context, r training.Result, err error) error {
	switch {
	case err == nil && r.Reason == train.OutOfTime && r.Step == 0:
		return fmt.Errorf("-time %v is too short for one step; no model is written", t.Options.Time)
	case err == nil && r.Reason != train.Interrupted:
		t.progress.Line("ended after %v: %s", r.Trained.Round(time.Second), r.Reason)
	case r.Checkpoint != "":
		return t.interrupted(ctx, r.Step, r.Checkpoint)
	case errors.As(err, new(cli.InterruptError)) && t.resumed != nil: // while reading the corpora
		return t.interrupted(ctx, t.resumed.State.Step, t.resumed.Path)
	case err == nil || errors.As(err, new(cli.InterruptError)):
		t.progress.Line("interrupted before the first step; nothing is saved")
		return cli.Interruption(ctx)
	case errors.Is(err, train.ErrOtherPairs), errors.Is(err, train.ErrOtherValidation):
		return fmt.Errorf("%w: -resume needs the training and validation files of the run, with the contents that they had", err)
	default:
		return languageError(err)
	}
	if err := r.Save(t.Out); err != nil {
		return fmt.Errorf("%w; the weights are saved in %s: free some space, then run %s", err, t.Options.Dir, t.resumeCommand())
	}
	t.progress.Line("translate with:   %s %s", cli.ShellWord(os.Args[0]), translator.Command(t.Out, t.job.Config, t.job.SrcLang, t.job.TgtLang))
	return nil
}

// languageError gives an error of a language of the model the name of its flag.
func languageError(err error) error {
	if _, ok := err.(*model.FieldError); ok {
		return settings.Error(err)
	}
	return err
}

// interrupted prints how to resume from a checkpoint, and returns the signal that ended ctx.
func (t *trainer) interrupted(ctx context.Context, step int, checkpoint string) error {
	t.progress.Line("interrupted: step %s is saved in %s; resume with:\n  %s", format.Thousands(step), checkpoint, t.resumeCommand())
	return cli.Interruption(ctx)
}

// resumeCommand returns the command line that resumes this run, quoted for a shell.
func (t *trainer) resumeCommand() string {
	words := []string{cli.ShellWord(os.Args[0]), "train"}
	for _, f := range t.Flags().All() {
		if t.Origin(f.Name) == settings.CommandLine && f.Name != "resume" && f.Name != "force" {
			words = append(words, f.Word(f.Value.String()))
		}
	}
	return strings.Join(append(words, "-resume"), " ")
}
