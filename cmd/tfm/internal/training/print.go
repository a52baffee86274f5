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

// printReading shows the number of pairs read so far.
func (j *Job) printReading(stage corpus.Stage, pairs int) {
	j.Progress.Update(time.Now(), fmt.Sprintf("%s: %s pairs", stage, format.Thousands(pairs)))
}

// printPlan prints the data and the settings.
func (j *Job) printPlan(c *corpus.Corpus) {
	p := j.Progress
	p.Field("training pairs", "%s from %s", format.Thousands(c.TrainPairs), j.Corpus.Train.Name)
	if c.Windows > 1 {
		p.Field("", "%s in memory at a time (-shuffle-window)", format.Thousands(c.WindowPairs))
	}
	if d := j.Options.BPEDropout; d > 0 {
		p.Field("", "BPE-dropout %v", d)
	}
	switch {
	case j.Options.ValidEvery == 0:
	case j.Corpus.Valid != nil:
		p.Field("validation pairs", "%s from %s", format.Thousands(c.ValidPairs), j.Corpus.Valid.Name)
	case c.HeldOutEvery > 0:
		p.Field("validation pairs", "%s, one in %d held out (-valid-src)", format.Thousands(c.ValidPairs), c.HeldOutEvery)
	default:
		p.Field("validation pairs", "none, because the corpus is too small")
	}
	if c.Unscored > 0 {
		p.Field("", "%s of them count only for BLEU: an empty side, or over %d tokens", format.Thousands(c.Unscored), j.Options.MaxLen)
	}
	if j.SrcLang != "" || j.TgtLang != "" {
		p.Field("languages", "%s to %s", cmp.Or(j.SrcLang, "unknown"), cmp.Or(j.TgtLang, "unknown"))
	}
	if c.Vocab.Joint() {
		p.Field("vocabulary", "%s pieces, joint", format.Thousands(j.Config.SrcVocab))
	} else {
		p.Field("vocabularies", "%s and %s pieces", format.Thousands(j.Config.SrcVocab), format.Thousands(j.Config.TgtVocab))
	}
	if note := tokenizers.SampleNote(c.WordThreshold); note != "" {
		p.Field("", "%s", note)
	}
	p.Field("parameters", "%s", format.Thousands(j.Config.CountParams()))
	p.Field("optimizer", "%s", optimizer(j.Options))
	if n := j.Options.Accumulate; n > 1 {
		p.Field("a step", "%d batches", n)
	}
	if j.Options.OnNaN == train.OnNaNSkip {
		p.Field("on NaN", "the update is skipped")
	}
	if j.Options.RDrop != 0 {
		p.Field("R-Drop", "alpha %v", j.Options.RDrop)
	}
	if j.Options.EMA != 0 {
		p.Field("weights", "moving average, decay %v", j.Options.EMA)
	}
	p.Field("learning rate", "%s", j.Options.LearningRate(j.Config.DModel))
	p.Field("kernels", "%s, %s", mat.Kernel(), format.Count(j.Threads, "thread"))
	if j.Options.BF16 {
		p.Field("products", "%s", products())
	}
}

// printTokenize prints the tokenizer of the validation's BLEU.
func (j *Job) printTokenize(c *corpus.Corpus, chosen bool) {
	if c.References == nil {
		return
	}
	note := ""
	if chosen {
		note = ", chosen from the text (-tokenize)"
	}
	j.Progress.Field("validation BLEU", "tokenize %v%s", j.Options.Tokenize, note)
}

// optimizer describes the optimizer.
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

// products describes the effect of -bf16 on this machine.
func products() string {
	if k := layer.BF16.Kernel(); k != layer.Float32.Kernel() {
		return "bf16 by " + k + "; the weights depend on the processor"
	}
	return "float32, because bf16 is not faster on this processor"
}

// printEvent prints an event of the training.
func (j *Job) printEvent(e train.Event) {
	p := j.Progress
	best := ""
	if e.Best {
		best = ", the best so far"
	}
	switch e.Kind {
	case train.Started:
		if e.TooLong > 0 {
			p.Field("skipped", "%s pairs with more than %d tokens on a side (-max-len)", format.Thousands(e.TooLong), j.Options.MaxLen)
		}
		if e.Empty > 0 {
			p.Field("skipped", "%s pairs with an empty side", format.Thousands(e.Empty))
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.Field("memory", "%d MB", m.HeapInuse>>20)
		if e.Path != "" {
			p.Field("resumed from", "%s, step %s", e.Path, format.Thousands(e.Step))
		}
		if e.Warning != nil {
			p.Line("tfm: %v", e.Warning)
		}
	case train.Stepped:
		p.Update(time.Now(), state(e))
	case train.Skipped:
		j.printSkipped(e)
	case train.Validated:
		p.Text("step %s: %s%s", format.Thousands(e.Step), validation(e.Valid), best)
	case train.CooldownBegan:
		p.Text("step %s: the learning rate now falls to 0 until the end at step %s, because %s", format.Thousands(e.Step), format.Thousands(e.Cooldown.End), whyCooldown(e.EndReason))
	case train.Averaged:
		p.Text("average of the last checkpoints: %s%s", validation(e.Valid), best)
	}
}

// whyCooldown describes why a cooldown began.
func whyCooldown(r train.Reason) string {
	switch r {
	case train.OutOfTime:
		return "the rest of the time is for this"
	case train.AllSteps:
		return "the rest of the steps is for this"
	}
	return string(r)
}

// maxSkippedLines limits the lines about skipped updates.
const maxSkippedLines = 10

// printSkipped prints a line for each of the first skipped updates, and the others as progress.
func (j *Job) printSkipped(e train.Event) {
	p := j.Progress
	line := fmt.Sprintf("step %s: update skipped, %s so far", format.Thousands(e.Step), format.Thousands(e.Skipped))
	if j.skippedLines == maxSkippedLines {
		p.Update(time.Now(), line)
		return
	}
	j.skippedLines++
	p.Line("%s: %v", line, e.Why)
	if j.skippedLines == maxSkippedLines {
		p.Line("further skipped updates are only counted")
	}
}

// state formats the progress line.
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
		b.WriteString("  " + left(e.Left))
	}
	return b.String()
}

// left formats the remaining time, in minutes from one hour.
func left(d time.Duration) string {
	if d < time.Hour {
		return d.Round(time.Second).String() + " left"
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s") + " left"
}

func validation(v train.Validation) string {
	s := fmt.Sprintf("validation perplexity %.2f, accuracy %.1f%%", v.Perplexity(), 100*v.Accuracy)
	if v.HasBLEU {
		s += fmt.Sprintf(", BLEU %.2f", v.BLEU)
	}
	return s
}
