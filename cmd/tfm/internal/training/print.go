package training

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/internal/format"
	"tfm/layer"
	"tfm/mat"
	"tfm/train"
	"tfm/train/corpus"
)

// printReading shows how many pairs have been read: a large corpus takes a while.
func (j *Job) printReading(stage corpus.Stage, pairs int) {
	j.Progress.Update(time.Now(), fmt.Sprintf("%s: %s pairs", stage, format.Thousands(pairs)))
}

// printPlan describes what is trained on what.
func (j *Job) printPlan(c *corpus.Corpus) {
	p := j.Progress
	p.Line("training pairs:   %s from %s", format.Thousands(c.TrainPairs), j.Corpus.Train.Name)
	if c.Windows > 1 {
		p.Line("                  %s in memory at a time (-shuffle-window)", format.Thousands(c.WindowPairs))
	}
	if d := j.Options.BPEDropout; d > 0 {
		p.Line("                  BPE-dropout %v", d)
	}
	switch {
	case j.Options.ValidEvery == 0:
	case j.Corpus.Valid != nil:
		p.Line("validation pairs: %s from %s", format.Thousands(c.ValidPairs), j.Corpus.Valid.Name)
	case c.HeldOutEvery > 0:
		p.Line("validation pairs: %s, one in %d held out (-valid-src)", format.Thousands(c.ValidPairs), c.HeldOutEvery)
	default:
		p.Line("validation pairs: none, because the corpus is too small")
	}
	if c.Unscored > 0 {
		p.Line("                  %s of them count only for BLEU: an empty side, or over %d tokens", format.Thousands(c.Unscored), j.Options.MaxLen)
	}
	if j.SrcLang != "" || j.TgtLang != "" {
		p.Line("languages:        %s to %s", cmp.Or(j.SrcLang, "unknown"), cmp.Or(j.TgtLang, "unknown"))
	}
	if c.Vocab.Joint() {
		p.Line("vocabulary:       %s pieces, joint", format.Thousands(j.Config.SrcVocab))
	} else {
		p.Line("vocabularies:     %s and %s pieces", format.Thousands(j.Config.SrcVocab), format.Thousands(j.Config.TgtVocab))
	}
	if note := tokenizers.SampleNote(c.WordThreshold); note != "" {
		p.Line("                  %s", note)
	}
	p.Line("parameters:       %s", format.Thousands(j.Config.CountParams()))
	p.Line("optimizer:        %s", optimizer(j.Options))
	if n := j.Options.Accumulate; n > 1 {
		p.Line("a step:           %d batches", n)
	}
	if j.Options.OnNaN == train.OnNaNSkip {
		p.Line("on NaN:           the update is skipped")
	}
	if j.Options.RDrop != 0 {
		p.Line("R-Drop:           alpha %v", j.Options.RDrop)
	}
	if j.Options.EMA != 0 {
		p.Line("weights:          moving average, decay %v", j.Options.EMA)
	}
	p.Line("learning rate:    %s", j.Options.LearningRate(j.Config.DModel))
	p.Line("kernels:          %s, %s", mat.Kernel(), format.Count(j.Threads, "thread"))
	if j.Options.BF16 {
		p.Line("products:         %s", products())
	}
}

// printTokenize shows how the BLEU of validations cuts text, and whether the text chose that.
func (j *Job) printTokenize(c *corpus.Corpus, chosen bool) {
	if c.References == nil {
		return
	}
	note := ""
	if chosen {
		note = ", chosen from the text (-tokenize)"
	}
	j.Progress.Line("validation BLEU:  tokenize %v%s", j.Options.Tokenize, note)
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
	if o.ClipNorm > 0 {
		s += fmt.Sprintf("; gradient norm limited to %v", o.ClipNorm)
	}
	return s
}

// products says what -bf16 does on this machine.
func products() string {
	if k := layer.BF16.Kernel(); k != layer.Float32.Kernel() {
		return "bf16 by " + k + "; the weights depend on the processor"
	}
	return "float32, because bf16 is not faster on this processor"
}

// printEvent shows an event of the training.
func (j *Job) printEvent(e train.Event) {
	p := j.Progress
	best := ""
	if e.Best {
		best = ", the best so far"
	}
	switch e.Kind {
	case train.Started:
		if e.TooLong > 0 {
			p.Line("skipped:          %s pairs with more than %d tokens on a side (-max-len)", format.Thousands(e.TooLong), j.Options.MaxLen)
		}
		if e.Empty > 0 {
			p.Line("skipped:          %s pairs with an empty side", format.Thousands(e.Empty))
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.Line("memory:           %d MB", m.HeapInuse>>20)
		if e.Path != "" {
			p.Line("resumed from:     %s, step %s", e.Path, format.Thousands(e.Step))
		}
		if e.Warning != nil {
			p.Line("tfm: %v", e.Warning)
		}
	case train.Stepped:
		p.Update(time.Now(), state(e))
	case train.Skipped:
		j.printSkipped(e)
	case train.Validated:
		p.Line("step %s: %s%s", format.Thousands(e.Step), validation(e.Valid), best)
	case train.Averaged:
		p.Line("average of the last checkpoints: %s%s", validation(e.Valid), best)
	}
}

// maxSkippedLines is the number of dropped updates that are shown with a line each.
const maxSkippedLines = 10

// printSkipped shows a dropped update: the first ones with a line each, the others as the state of
// the run.
func (j *Job) printSkipped(e train.Event) {
	p := j.Progress
	said := fmt.Sprintf("step %s: update skipped, %s so far", format.Thousands(e.Step), format.Thousands(e.Skipped))
	if j.skippedLines == maxSkippedLines {
		p.Update(time.Now(), said)
		return
	}
	j.skippedLines++
	p.Line("%s: %v", said, e.Why)
	if j.skippedLines == maxSkippedLines {
		p.Line("further skipped updates are only counted")
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
