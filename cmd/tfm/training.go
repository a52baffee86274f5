package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/internal/format"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
	"tfm/model/safetensors"
	"tfm/text/score"
	"tfm/text/vocab"
	"tfm/train"
	"tfm/train/corpus"
)

// training is a model to be trained: what `tfm train` and `tfm demo` have in common.
type training struct {
	corpus    *corpus.Text
	valid     *corpus.Text // nil to hold a part of the corpus out
	config    model.Config
	options   train.Options
	tokens    *vocab.Pair // nil to train them
	vocabSize int
	joint     bool
	threads   int
	progress  *terminal.Progress
	record    func(train.Event) // is told of every event too; nil for nobody
	from      *trainedBefore    // the model that training begins with; nil to draw its weights

	pairs        int // that it is trained on, once the corpus has been read
	skippedLines int // lines shown of dropped updates
}

// trained is a model that has been trained.
type trained struct {
	model  *model.Transformer
	tokens vocab.Pair
	pool   *mat.Pool
	result train.Result
	info   string // one line on the training

	srcLang, tgtLang string
}

// trainingInfo is the name of that line in the model file.
const trainingInfo = "training"

// run reads the corpora, trains tokenizers and model, and shows how far it is. An interrupted ctx ends it with
// a checkpoint, if there is a folder for one, and no error.
func (t *training) run(ctx context.Context) (trained, error) {
	c, err := corpus.Read(ctx, corpus.Options{Train: t.corpus, Valid: t.valid, Tokenizers: t.tokens, VocabSize: t.vocabSize, Joint: t.joint, Progress: t.showReading}, t.options)
	t.progress.Clear()
	if err != nil {
		return trained{}, err
	}
	defer c.Close()
	t.tokens, t.pairs = &c.Tokens, c.TrainPairs
	t.config.SrcVocab, t.config.TgtVocab = c.Tokens.Source.Size(), c.Tokens.Target.Size()
	chosen := t.options.Tokenize == score.Auto
	if c.References != nil { // a run without validation leaves the choice to one with it
		t.options.Tokenize = t.options.Tokenize.For(c.References)
	}
	t.tell(c)
	if c.References != nil {
		t.progress.Line("validation BLEU:  %s", tokenizeNote(t.options.Tokenize, chosen))
	}
	m, err := model.New(t.config)
	if err != nil {
		return trained{}, err
	}
	m.Allocate(true)
	m.Init(t.options.Seed)
	if t.from != nil {
		if err := t.carryOver(m); err != nil {
			return trained{}, err
		}
	}
	pool := mat.NewPool(t.threads)
	result, err := train.Run(ctx, m, pool, c.Data, t.options, t.show)
	t.progress.Clear()
	if err != nil {
		return trained{}, err
	}
	if n := result.Skipped; n > 0 {
		t.progress.Line("updates dropped:  %s of %s, whose loss or gradient was not a finite number (-on-nan skip)", format.Thousands(n), format.Thousands(result.Step))
	}
	info := fmt.Sprintf("%s steps on %s pairs", format.Thousands(result.Step), format.Thousands(t.pairs))
	if t.options.Init != "" {
		info += ", begun with the weights of " + strings.ToValidUTF8(filepath.Base(t.options.Init), "?")
	}
	switch {
	case result.Averaged > 0:
		info += fmt.Sprintf("; the mean of the last %d checkpoints", result.Averaged)
	case result.Best.Step > 0:
		info += fmt.Sprintf("; the weights of step %s", format.Thousands(result.Best.Step))
	}
	if result.Best.Step > 0 {
		info += ", " + validation(result.Best)
	}
	return trained{m, *t.tokens, pool, result, info, result.SrcLang, result.TgtLang}, nil
}

// showReading shows how many pairs have been read: a large corpus takes a while.
func (t *training) showReading(stage corpus.Stage, pairs int) {
	t.progress.Update(time.Now(), fmt.Sprintf("%s: %s pairs", stage, format.Thousands(pairs)))
}

// tell describes what is going to be trained, on what.
func (t *training) tell(c *corpus.Corpus) {
	p := t.progress
	p.Line("training pairs:   %s from %s", format.Thousands(c.TrainPairs), t.corpus.Name)
	if c.Windows > 1 {
		p.Line("                  %s at a time are in memory and shuffled (-shuffle-window)", format.Thousands(c.WindowPairs))
	}
	if d := t.options.BPEDropout; d > 0 {
		p.Line("                  encoded anew in every epoch, with merges dropped with probability %v (-bpe-dropout)", d)
	}
	switch {
	case t.options.ValidEvery == 0:
	case t.valid != nil:
		p.Line("validation pairs: %s from %s", format.Thousands(c.ValidPairs), t.valid.Name)
	case c.HeldOutEvery > 0:
		p.Line("validation pairs: %s, one in %d held out of the training (-valid-src and -valid-tgt name others)", format.Thousands(c.ValidPairs), c.HeldOutEvery)
	default:
		p.Line("validation pairs: none, the corpus is too small to hold some out")
	}
	if c.Unscored > 0 {
		p.Line("                  %s of them count only for BLEU: a side is empty or has more than %d pieces (-max-len)", format.Thousands(c.Unscored), t.options.MaxLen)
	}
	if t.tokens.Joint() {
		p.Line("vocabulary:       %s pieces, joint", format.Thousands(t.config.SrcVocab))
	} else {
		p.Line("vocabularies:     %s and %s pieces", format.Thousands(t.config.SrcVocab), format.Thousands(t.config.TgtVocab))
	}
	if note := sampleNote(c.WordThreshold); note != "" {
		p.Line("                  %s", note)
	}
	p.Line("parameters:       %s", format.Thousands(t.config.CountParams()))
	p.Line("optimizer:        %s", optimizer(t.options))
	if n := t.options.Accumulate; n > 1 {
		p.Line("a step:           %d batches", n)
	}
	if t.options.OnNaN == train.OnNaNSkip {
		p.Line("on NaN:           the update is dropped")
	}
	if t.options.RDrop != 0 {
		p.Line("R-Drop:           alpha %v", t.options.RDrop)
	}
	if t.options.EMA != 0 {
		p.Line("weights:          their moving average, decay %v", t.options.EMA)
	}
	p.Line("learning rate:    %s", t.options.LearningRate(t.config.DModel))
	p.Line("kernels:          %s, %s", mat.Kernel(), format.Count(t.threads, "thread"))
	if t.options.BF16 {
		p.Line("products:         %s", products())
	}
}

// optimizer describes how weights are moved.
func optimizer(o train.Options) string {
	s := fmt.Sprintf("%s, beta1 %v, beta2 %v, eps %v", o.Optimizer, o.Beta1, o.Beta2, o.Eps)
	switch {
	case o.Optimizer == train.OptimizerAdamW:
		s += fmt.Sprintf(", weight decay %v", o.WeightDecay)
	case o.Optimizer == train.OptimizerSGD && o.Nesterov:
		s = fmt.Sprintf("sgd, Nesterov's momentum %v", o.Momentum)
	case o.Optimizer == train.OptimizerSGD:
		s = fmt.Sprintf("sgd, momentum %v", o.Momentum)
	}
	if o.Clip > 0 {
		s += fmt.Sprintf("; gradient's norm at most %v", o.Clip)
	}
	return s
}

// products says what -bf16 does on this machine.
func products() string {
	if k := layer.BF16.InForce(); k != layer.Float32.InForce() {
		return "bf16 by " + k + ", small ones float32; the model depends on the processor"
	}
	return "float32: -bf16 changes nothing, this processor has no instructions for bfloat16 that are faster"
}

// show tells of an event of the training.
func (t *training) show(e train.Event) {
	p := t.progress
	best := ""
	if e.Best {
		best = ", the best so far"
	}
	switch e.Kind {
	case train.Started:
		if e.TooLong > 0 {
			p.Line("left out:         %s pairs with more than %d pieces on a side (-max-len)", format.Thousands(e.TooLong), t.options.MaxLen)
		}
		if e.Empty > 0 {
			p.Line("left out:         %s pairs with an empty side", format.Thousands(e.Empty))
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.Line("memory:           %d MB", m.HeapInuse>>20)
		if e.Path != "" {
			p.Line("goes on from:     %s, step %s", e.Path, format.Thousands(e.Step))
		}
		if e.Warning != nil {
			p.Line("tfm: %v", e.Warning)
		}
	case train.Stepped:
		p.Update(time.Now(), state(e))
	case train.Skipped:
		t.showSkipped(e)
	case train.Validated:
		p.Line("step %s: %s%s", format.Thousands(e.Step), validation(e.Valid), best)
	case train.Averaged:
		p.Line("average of the last checkpoints: %s%s", validation(e.Valid), best)
	}
	if t.record != nil {
		t.record(e)
	}
}

// maxSkippedLines is the number of dropped updates that are shown with a line each.
const maxSkippedLines = 10

// showSkipped shows a dropped update: the first ones with a line each, the others as the state of the run.
func (t *training) showSkipped(e train.Event) {
	p := t.progress
	said := fmt.Sprintf("step %s: update dropped, %s so far", format.Thousands(e.Step), format.Thousands(e.Skipped))
	if t.skippedLines == maxSkippedLines {
		p.Update(time.Now(), said)
		return
	}
	t.skippedLines++
	p.Line("%s: %v", said, e.Why)
	if t.skippedLines == maxSkippedLines {
		p.Line("further dropped updates are counted")
	}
}

// state is the progress line.
func state(e train.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %s", format.Thousands(e.Step))
	if e.Steps > 0 {
		fmt.Fprintf(&b, "/%s", format.Thousands(e.Steps))
	}
	fmt.Fprintf(&b, "  loss %.3f", e.Loss)
	if e.KL != 0 {
		fmt.Fprintf(&b, "  KL %.3f", e.KL)
	}
	fmt.Fprintf(&b, "  rate %.2e  %s tokens/s", e.Rate, format.Thousands(int(e.TokensPerSec())))
	if e.Left > 0 {
		fmt.Fprintf(&b, "  %v left", e.Left.Round(time.Second))
	}
	return b.String()
}

func validation(v train.Validation) string {
	s := fmt.Sprintf("validation perplexity %.2f, accuracy %.1f%%", v.Perplexity(), 100*v.Accuracy)
	if v.HasBLEU {
		s += fmt.Sprintf(", BLEU %.2f", v.BLEU)
	}
	return s
}

// save writes the model file.
func (t trained) save(path string) error {
	files, err := t.tokens.Marshal()
	if err != nil {
		return err
	}
	safetensors.RemoveStale(path) // what a killed run left of it
	file := model.File{Model: t.model, Tokenizers: files, SrcLang: t.srcLang, TgtLang: t.tgtLang, Info: map[string]string{trainingInfo: t.info}}
	if err := file.Save(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s; %.1f MB\n", path, t.info, float64(info.Size())/1e6)
	return nil
}
