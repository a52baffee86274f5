package training

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/tokenizers"
	"tfm/internal/format"
	"tfm/layer"
	"tfm/mat"
	"tfm/text/score"
	"tfm/train"
	"tfm/train/corpus"
)

// printReading shows the number of pairs read so far.
func (j *Job) printReading(phase corpus.Phase, pairs int) {
	j.Progress.Update(time.Now(), fmt.Sprintf("%s: %s", phase, format.Count(pairs, "pair")))
}

// fieldIf prints a field if a condition holds.
func (j *Job) fieldIf(holds bool, label, text string, args ...any) {
	if holds {
		j.Progress.Field(label, text, args...)
	}
}

// printMix prints the sources and the stages of several sources.
func (j *Job) printMix() {
	mix, pairs := j.Corpus.Train.Mix()
	if mix == nil {
		return
	}
	for i, s := range mix.Datasets {
		languages := ""
		if s.SrcLang+s.TgtLang != "" {
			languages = fmt.Sprintf(", %s to %s", cmp.Or(s.SrcLang, j.SrcLang, "unknown"), cmp.Or(s.TgtLang, j.TgtLang, "unknown"))
		}
		j.Progress.Field("", "%s: %s%s%s", s.Name, format.Count(pairs[i], "pair"), languages, tagged(s.Tag))
	}
	for n, stage := range mix.Stages {
		sum := 0.0
		for _, share := range stage.Shares {
			sum += share
		}
		var parts []string
		for i, share := range stage.Shares {
			if share > 0 {
				parts = append(parts, fmt.Sprintf("%.3g%% %s", 100*share/sum, mix.Datasets[i].Name))
			}
		}
		end := ""
		if n < len(mix.Stages)-1 {
			end = fmt.Sprintf(", until %v passes of %s", stage.Passes, mix.Datasets[stage.Until].Name)
		}
		j.fieldIf(parts != nil, "stage "+stage.Name, "%s%s", strings.Join(parts, " + "), end)
	}
}

// tagged describes the tag of a source.
func tagged(tag string) string {
	if tag == "" {
		return ""
	}
	return ", each source with " + tag
}

// printDrawn prints how much of each source was read.
func (j *Job) printDrawn(c *corpus.Corpus, at train.Position) {
	mix, pairs := j.Corpus.Train.Mix()
	if mix == nil {
		return
	}
	for i, n := range c.Drawn(at) {
		j.Progress.Line("%s: %s read, %.3g passes", mix.Datasets[i].Name, format.Count(n, "pair"), float64(n)/float64(pairs[i]))
	}
}

// printData prints the pairs, the languages and the vocabulary.
func (j *Job) printData(c *corpus.Corpus) {
	p := j.Progress
	p.Field("training pairs", "%s from %s", format.Thousands(c.TrainPairs), j.Corpus.Train.Name)
	one := j.Corpus.Train.OneSided()
	j.fieldIf(one > 0, "", "%s left out: text in one language only", format.Count(one, "unit"))
	j.printMix()
	j.fieldIf(c.Windows > 1, "", "%s in memory at a time (shuffle-window)", format.Thousands(c.WindowPairs))
	switch {
	case j.Options.ValidEvery == 0:
	case j.Corpus.Valid != nil:
		p.Field("validation pairs", "%s from %s", format.Thousands(c.ValidPairs), j.Corpus.Valid.Name)
	case c.ValidPairs > 0:
		p.Field("validation pairs", "%s held out (-valid-src)", format.Thousands(c.ValidPairs))
		j.fieldIf(c.HeldOut.Moved > 0, "", "%s moved to training", format.Count(c.HeldOut.Moved, "near-duplicate"))
	default:
		p.Field("validation pairs", "none, because the corpus is too small, or no source has pairs to hold out")
	}
	j.fieldIf(c.ValidPairs > 0 && c.ByLoss, "", "so few that the loss chooses the weights, not BLEU")
	j.fieldIf(c.Unscored > 0, "", "%s of them count only for BLEU: an empty side, or over %d tokens", format.Thousands(c.Unscored), j.Options.MaxLen)
	target, how := cmp.Or(j.TgtLang, "unknown"), ""
	if j.Corpus.Tagged {
		target, how = strings.Join(j.Survey.Codes(), " "), ", by -to"
	} else if j.detected {
		how = ", detected (-src-lang, -tgt-lang)"
	}
	j.fieldIf(j.SrcLang != "" || target != "unknown", "languages", "%s to %s%s", cmp.Or(j.SrcLang, "unknown"), target, how)
	j.printDataWarnings(c)
	if c.Vocab.Joint() {
		p.Field("vocabulary", "%s pieces, joint", format.Thousands(j.Config.SrcVocab))
	} else {
		p.Field("vocabularies", "%s and %s pieces", format.Thousands(j.Config.SrcVocab), format.Thousands(j.Config.TgtVocab))
	}
	note := tokenizers.SampleNote(c.WordThreshold)
	j.fieldIf(note != "", "", "%s", note)
}

// printSettings prints the size of the model and how it is trained.
func (j *Job) printSettings() {
	p, o := j.Progress, j.Options
	p.Field("parameters", "%s", format.Thousands(j.Config.CountParams()))
	j.fieldIf(optimizer(o) != optimizer(train.DefaultOptions()), "optimizer", "%s", optimizer(o))
	j.fieldIf(o.Accumulate > 1, "a step", "%d batches", o.Accumulate)
	j.fieldIf(o.RDrop != 0, "R-Drop", "alpha %v", o.RDrop)
	p.Field("learning rate", "%s", o.LearningRate(j.Config.DModel))
	j.fieldIf(o.BF16, "products", "%s", products())
}

// printTokenize prints the tokenizer of the validation's BLEU, unless it is the usual one.
func (j *Job) printTokenize(c *corpus.Corpus, chosen bool) {
	switch suits := score.Auto.For(c.References); {
	case c.References == nil || j.Options.Tokenize == score.Tok13a && suits == score.Tok13a:
	case chosen:
		j.Progress.Field("validation BLEU", "tokenize %v, chosen from the text (-tokenize)", j.Options.Tokenize)
	default:
		j.Progress.Field("validation BLEU", "tokenize %v", j.Options.Tokenize)
	}
}

// optimizer describes the optimizer.
func optimizer(o train.Options) string {
	betas := fmt.Sprintf("beta1 %v, beta2 %v, eps %v", o.Beta1, o.Beta2, o.Eps)
	s := o.Optimizer + ", " + betas
	switch {
	case o.Optimizer == train.OptimizerAdamW:
		s += fmt.Sprintf(", weight decay %v", o.WeightDecay)
	case o.Optimizer == train.OptimizerMuon:
		s = fmt.Sprintf("muon, Nesterov's momentum %v, scale %v; adam for vectors and embeddings, %s", o.Momentum, o.MuonScale, betas)
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

// printEvent prints an event of the training, and what the watch says about it.
func (j *Job) printEvent(e train.Event) {
	warnings := j.watch.observe(e)
	if j.Options.Rounds.Workers > 0 {
		warnings = nil // they are about whole runs, not parts
	}
	p := j.Progress
	switch e.Kind {
	case train.Started:
		j.fieldIf(e.TooLong > 0 && !j.watch.said[skipsPairs],
			"skipped", "%s with more than %d tokens on a side (-max-len)", format.Count(e.TooLong, "pair"), j.Options.MaxLen)
		j.fieldIf(e.Empty > 0, "skipped", "%s with an empty side", format.Count(e.Empty, "pair"))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		p.Field("machine", "%s, %s kernels, %d MB of memory", format.Count(j.Threads, "thread"), mat.Kernel(), m.HeapInuse>>20)
		j.fieldIf(e.Path != "", "resumed from", "%s, step %s", e.Path, format.Thousands(e.Step))
		if e.Warning != nil {
			p.Text("warning: %v", e.Warning)
		}
	case train.Stepped:
		p.Update(time.Now(), j.state(e))
	case train.Validated:
		j.printValidation(e)
	case train.CooldownBegan:
		p.Text("step %s: the learning rate now falls to 0 until the end at step %s, because %s", format.Thousands(e.Step), format.Thousands(e.Cooldown.End), cmp.Or(whyCooldown[e.EndReason], string(e.EndReason)))
	case train.Merged:
		p.Line("step %s: merged %s of %d", format.Thousands(e.Step), format.Count(e.Workers, "worker"), j.Options.Rounds.Workers)
	case train.Averaged:
		p.Text("average of the last checkpoints: %s%s", validation(e.Valid), best(e))
	}
	for _, w := range warnings {
		j.warn(w)
	}
}

// warn prints a warning.
func (j *Job) warn(text string) {
	if !j.NoWarnings {
		j.Progress.Text("warning: %s", text)
	}
}

// printValidation prints a validation, and on a terminal a sample.
func (j *Job) printValidation(e train.Event) {
	j.Progress.Text("step %s: %s%s", format.Thousands(e.Step), validation(e.Valid), best(e))
	j.printParts(e.Parts)
	j.printSample(e.Samples)
}

// printParts prints the BLEU of each source of several.
func (j *Job) printParts(parts []train.ValidPart) {
	var list []string
	for _, p := range parts {
		list = append(list, fmt.Sprintf("%s %.2f", p.Name, p.BLEU))
	}
	if list != nil {
		j.Progress.Text("  BLEU of %s", strings.Join(list, ", "))
	}
}

// printSample prints a sample, each time another one of those that fit in a line, or the shortest.
func (j *Job) printSample(samples []train.Sample) {
	const indent, label = "  ", 12
	columns := j.Progress.Width() - len(indent) - label - 1
	if len(samples) == 0 || columns < label {
		return
	}
	fit := slices.DeleteFunc(slices.Clone(samples), func(s train.Sample) bool {
		return max(terminal.Columns(s.Source), terminal.Columns(s.Reference)) > columns
	})
	if len(fit) == 0 {
		fit = samples[:1]
	}
	s := fit[j.validations%len(fit)]
	j.validations++
	for _, line := range [][2]string{{"source", s.Source}, {"reference", s.Reference}, {"translation", s.Hypothesis}} {
		j.Progress.Line("%s%s%s", indent, terminal.Pad(line[0], label), terminal.Truncate(terminal.Printable(line[1]), columns))
	}
}

// whyCooldown describes why a cooldown began, where the reason of its end does not.
var whyCooldown = map[train.Reason]string{
	train.OutOfTime: "the rest of the time is for this",
	train.AllSteps:  "the rest of the steps is for this",
}

// state formats the progress line. The loss is the mean of the last steps.
func (j *Job) state(e train.Event) string {
	s := j.prefix + "step " + format.Thousands(e.Step)
	if j.watch.reaches(e.Steps) {
		s += "/" + format.Thousands(e.Steps)
	}
	s += fmt.Sprintf("  epoch %s  loss %.3f", format.Thousands(e.Epoch+1), j.watch.losses.mean())
	if e.KL != 0 {
		s += fmt.Sprintf("  KL %.3f", e.KL)
	}
	s += fmt.Sprintf("  %s tokens/s", format.Thousands(int(e.TokensPerSec())))
	if e.Left > 0 {
		s += "  " + format.Left(e.Left) + " left"
	}
	return s
}

func best(e train.Event) string {
	if e.Best {
		return ", the best so far"
	}
	return ""
}

func validation(v train.Validation) string {
	s := fmt.Sprintf("validation perplexity %.2f, accuracy %.1f%%", v.Perplexity(), 100*v.Accuracy)
	if v.HasBLEU {
		s += fmt.Sprintf(", BLEU %.2f", v.BLEU)
	}
	return s
}
