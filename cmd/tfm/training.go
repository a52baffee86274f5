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
	"tfm/text"
	"tfm/text/vocab"
	"tfm/train"
)

// training is a model to be trained: what `tfm train` and `tfm demo` have in common.
type training struct {
	corpus    *corpus
	valid     *corpus // nil to hold a part of the corpus out
	config    model.Config
	options   train.Options
	tokens    *vocab.Pair // nil to train them
	vocabSize int
	joint     bool
	threads   int
	progress  *terminal.Progress
	record    func(train.Event) // is told of every event too; nil for nobody
	from      *trainedBefore    // the model that training begins with; nil to draw its weights

	pairs int // that it is trained on, once the corpus has been read
}

// trained is a model that has been trained.
type trained struct {
	model  *model.Transformer
	tokens vocab.Pair
	pool   *mat.Pool
	result train.Result
	info   string // one line on the training
}

// trainingInfo is the name of that line in the model file.
const trainingInfo = "training"

// run reads the corpora, trains tokenizers and model, and shows how far it is. An interrupted ctx ends it with
// a checkpoint, if there is a folder for one, and no error.
func (t *training) run(ctx context.Context) (trained, error) {
	data, err := t.read(ctx)
	t.progress.Clear()
	if err != nil {
		return trained{}, err
	}
	if s, ok := data.Source.(*stream); ok {
		defer s.close()
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
	result, err := train.Run(ctx, m, pool, data, t.options, t.show)
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
	return trained{m, *t.tokens, pool, result, info}, nil
}

// read reads the corpora twice: to find what is wrong with them, count and learn the tokenizers, and to encode. The training
// pairs become a stream if they are more than one window, or others in every epoch.
func (t *training) read(ctx context.Context) (train.Data, error) {
	validate := t.options.ValidEvery > 0
	if validate && t.valid != nil {
		if err := t.valid.each(ctx, func(text.Pair) {}); err != nil {
			return train.Data{}, err
		}
	}
	pairs, err := t.learn(ctx)
	if err != nil {
		return train.Data{}, err
	}
	runtime.GC() // what learning needed makes room for the pairs
	t.config.SrcVocab, t.config.TgtVocab = t.tokens.Source.Size(), t.tokens.Target.Size()
	files, err := t.tokens.Marshal()
	if err != nil {
		return train.Data{}, err
	}
	data := train.Data{Tokenizers: files, Detokenize: t.tokens.Target.Decode, DetokenizeSource: t.tokens.Source.Decode}
	if validate {
		data.Valid = new(train.Pairs)
	}
	var src, tgt []int32
	add := func(to *train.Pairs, p text.Pair) {
		src, tgt = t.tokens.Source.Encode(src[:0], p.Source), t.tokens.Target.Encode(tgt[:0], p.Target)
		to.Add(src, tgt)
	}
	addValid := func(p text.Pair) {
		add(data.Valid, p)
		data.References = append(data.References, strings.Clone(p.Target))
	}
	var out holdOut
	if validate && t.valid == nil {
		out = holdOutOf(pairs)
	}
	t.pairs = pairs - out.count
	if o := t.options; t.corpus.files != nil && (o.BPEDropout > 0 || o.ShuffleWindow > 0 && pairs > o.ShuffleWindow) {
		data.Source = newStream(t.corpus.files, *t.tokens, out, pairs, o.ShuffleWindow, o.BPEDropout, o.Seed)
	} else {
		data.Train = new(train.Pairs)
	}
	i := 0
	if data.Source == nil || out.count > 0 {
		err = t.corpus.each(ctx, func(p text.Pair) {
			if out.has(i) {
				addValid(p)
			} else if data.Train != nil {
				add(data.Train, p)
			}
			t.showReading("encoding: %s pairs", i+1)
			if i++; i == changeBlock && data.Train != nil {
				data.Train.Expect(pairs - i)
			}
		})
		if err != nil {
			return train.Data{}, err
		}
	}
	if validate && t.valid != nil {
		if err := t.valid.each(ctx, addValid); err != nil {
			return train.Data{}, err
		}
	}
	t.tell(data, out)
	if len(data.References) == 0 {
		data.Valid, data.References = nil, nil
	}
	return data, nil
}

// learn counts the pairs of the corpus and, if they are not given, trains the tokenizers.
func (t *training) learn(ctx context.Context) (pairs int, err error) {
	trainer := vocab.Trainer{Joint: t.joint}
	err = t.corpus.each(ctx, func(p text.Pair) {
		pairs++
		t.showReading("reading: %s pairs", pairs)
		if t.tokens == nil {
			trainer.Add(p)
		}
	})
	if err != nil || t.tokens != nil {
		return pairs, err
	}
	tokens, err := trainer.Train(t.vocabSize)
	if err != nil {
		return 0, err
	}
	t.tokens = &tokens
	return pairs, nil
}

// showReading shows now and then how many pairs have been read, for a large corpus takes a while.
func (t *training) showReading(message string, pairs int) {
	if pairs%(1<<14) == 0 {
		t.progress.Update(time.Now(), fmt.Sprintf(message, format.Thousands(pairs)))
	}
}

// tell describes what is going to be trained, on what.
func (t *training) tell(data train.Data, out holdOut) {
	p := t.progress
	p.Line("training pairs:   %s from %s", format.Thousands(t.pairs), t.corpus.name)
	if s, ok := data.Source.(*stream); ok && s.windows > 1 {
		p.Line("                  %s at a time are in memory and shuffled (-shuffle-window)", format.Thousands(s.start(1)))
	}
	if d := t.options.BPEDropout; d > 0 {
		p.Line("                  encoded anew in every epoch, with merges dropped with probability %v (-bpe-dropout)", d)
	}
	switch {
	case t.options.ValidEvery == 0:
	case t.valid != nil:
		p.Line("validation pairs: %s from %s", format.Thousands(len(data.References)), t.valid.name)
	case out.count > 0:
		p.Line("validation pairs: %s, one in %d held out of the training (-valid-src and -valid-tgt name others)", format.Thousands(out.count), out.every)
	default:
		p.Line("validation pairs: none, the corpus is too small to hold some out")
	}
	if data.Valid != nil {
		if n := unscored(data.Valid, t.options.MaxLen); n > 0 {
			p.Line("                  %s of them count only for BLEU: a side is empty or has more than %d pieces (-max-len)", format.Thousands(n), t.options.MaxLen)
		}
	}
	if t.tokens.Joint() {
		p.Line("vocabulary:       %s pieces, joint", format.Thousands(t.config.SrcVocab))
	} else {
		p.Line("vocabularies:     %s and %s pieces", format.Thousands(t.config.SrcVocab), format.Thousands(t.config.TgtVocab))
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

// unscored is how many of the pairs have no part in the validation's loss.
func unscored(p *train.Pairs, maxLen int) int {
	n := 0
	for i := range p.Len() {
		if src, tgt := len(p.Src(i)), len(p.Tgt(i)); min(src, tgt) == 0 || max(src, tgt) > maxLen {
			n++
		}
	}
	return n
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
		p.Line("step %s: update dropped, %s so far: %v", format.Thousands(e.Step), format.Thousands(e.Skipped), e.Why)
	case train.Validated:
		p.Line("step %s: %s%s", format.Thousands(e.Step), validation(e.Valid), best)
	case train.Averaged:
		p.Line("average of the last checkpoints: %s%s", validation(e.Valid), best)
	}
	if t.record != nil {
		t.record(e)
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
	if err := (model.File{Model: t.model, Tokenizers: files, Info: map[string]string{trainingInfo: t.info}}).Save(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s: %s; %.1f MB\n", path, t.info, float64(info.Size())/1e6)
	return nil
}
