package training

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tfm/internal/format"
	"tfm/model"
	"tfm/train"
)

// watch turns the events of a run into warnings for a person, with figures and what to try. Each
// appears at most once. A resumed run is watched from its first new step.
//
// The thresholds come from runs of the presets and of smaller models on Multi30k English-German
// and Tatoeba English-Chinese, with good settings and with wrong ones; each states the figures of
// both.
type watch struct {
	o       train.Options
	config  model.Config
	mixed   bool        // the sources have shares, and no epochs in common
	started train.Event // the Started event
	said    map[warning]bool

	warnings []string // of the current event

	losses, nlls window  // of the last steps
	lowestNLL    float64 // the lowest mean of nlls; +Inf before
	lowestStep   int     // its last step

	// For the end of a run with -time.
	first     train.Event   // the first Stepped event; Step 0 before
	previous  train.Event   // the last event
	stepping  time.Duration // of the steps without a validation or save before them
	steps     int           // in stepping
	lastStep  int           // estimated; 0 before
	outOfTime bool          // -time ends the run at lastStep

	// For overfitting.
	lowest      train.Validation // the one with the lowest NLL; Step 0 before
	nllAtLowest float64          // mean of nlls at lowest
	unimproved  int              // validations since the lowest NLL or the best BLEU
}

// warning is a kind of warning.
type warning int

const (
	skipsPairs warning = iota
	tooShort
	rising
	standing
	ignoresSource
	overfits
)

func newWatch(o train.Options, c model.Config) *watch {
	return &watch{o: o, config: c, said: map[warning]bool{}, lowestNLL: math.Inf(1)}
}

// observe returns the warnings that follow from an event.
func (w *watch) observe(e train.Event) []string {
	w.warnings = nil
	switch e.Kind {
	case train.Started:
		w.started = e
		w.checkSkipped(e)
		if w.o.Time == 0 {
			w.checkLength(e.Steps)
		}
	case train.Stepped:
		w.losses.add(e.Loss)
		w.nlls.add(e.NLL)
		w.measure(e)
		w.checkLoss(e)
	case train.Validated:
		w.checkTranslations(e)
		w.checkOverfitting(e)
	}
	w.previous = e
	return w.warnings
}

// warn adds a warning, unless there has been one of its kind.
func (w *watch) warn(kind warning, text string, args ...any) {
	if !w.said[kind] {
		w.said[kind] = true
		w.warnings = append(w.warnings, fmt.Sprintf(text, args...))
	}
}

// checkSkipped warns if more than 5 % of the pairs are too long. Multi30k and Tatoeba skip none;
// below 5 % these are the few lines that are no sentences.
func (w *watch) checkSkipped(e train.Event) {
	const limit = 0.05
	share := float64(e.TooLong) / float64(e.Pairs+e.TooLong+e.Empty)
	if share > limit {
		w.warn(skipsPairs, "-max-len %d skips %s (%.0f%%), because a side has more tokens. Split them into sentences, or try a higher -max-len and -batch-tokens.",
			w.o.MaxLen, format.Count(e.TooLong, "training pair"), 100*share)
	}
}

// epochSteps returns the approximate number of steps of an epoch: as many full batches as its
// tokens fill.
func (w *watch) epochSteps() float64 {
	full := max(float64(w.started.TgtTokens), float64(w.started.SrcTokens)*2/3)
	return max(1, full/float64(w.o.BatchTokens)) / float64(w.o.Accumulate)
}

// checkLength warns about a run of a number of steps, 0 if unknown, that ends before the learning
// rate has reached its peak, or before 90 % of the first epoch; such a run has not seen the other
// pairs at all. A run of 10,000 steps has seen enough pairs without that.
func (w *watch) checkLength(steps int) {
	const enough, share = 10_000, 0.9
	epoch, about, limit, warmup := w.epochSteps(), "", "run (-steps)", max(1, steps/10)
	if w.o.Time > 0 {
		about, limit = "about ", "-time"
	}
	if w.o.Init == "" {
		limit += " or a smaller -preset"
	}
	switch {
	case steps == 0:
	case steps <= w.o.Warmup && warmup < w.o.Warmup:
		w.warn(tooShort, "the run ends at %sstep %s, but the learning rate rises until step %s. Try -set warmup=%d.", about, format.Thousands(steps), format.Thousands(w.o.Warmup), warmup)
	case steps < enough && float64(steps) < share*epoch && !w.mixed:
		w.warn(tooShort, "the run ends at %sstep %s of an epoch of %s steps: it uses %.0f%% of the training pairs. Try a longer %s.",
			about, format.Thousands(steps), format.Thousands(int(math.Round(epoch))), 100*float64(steps)/epoch, limit)
	}
}

// measure measures the steps that follow another one, without a validation between. Once their
// speed is known, it estimates the last step of a run with -time.
func (w *watch) measure(e train.Event) {
	if w.first.Step == 0 {
		w.first = e
	}
	if w.previous.Kind == train.Stepped {
		w.stepping += e.Elapsed - w.previous.Elapsed
		w.steps++
	}
	if w.o.Time == 0 || w.lastStep > 0 || !w.measured(e) {
		return
	}
	w.lastStep = e.Steps
	inTime := e.Step + int(e.Left.Seconds()*float64(w.steps)/w.stepping.Seconds())
	if e.Steps == 0 || inTime < e.Steps {
		w.outOfTime, w.lastStep = true, twoDigits(inTime)
	}
	w.checkLength(w.lastStep)
}

// measured reports whether the speed is known: after 20 steps and 5 seconds, or after 10 seconds,
// because the steps of a large model take seconds. Sooner it varies by 10 %.
func (w *watch) measured(e train.Event) bool {
	const steps, short, long = 20, 5 * time.Second, 10 * time.Second
	d := e.Elapsed - w.first.Elapsed
	return w.steps > 0 && w.stepping > 0 && (w.steps >= steps && d >= short || d >= long)
}

// reaches reports whether the run ends at its last step, and not before, because of -time.
func (w *watch) reaches(last int) bool {
	limited := w.o.Time > 0 && (w.lastStep == 0 || w.outOfTime)
	return last > 0 && (!limited || last != w.o.Steps)
}

// twoDigits rounds n ≥ 0 to two digits.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

// checkLoss warns about a loss that rises or that does not fall.
func (w *watch) checkLoss(e train.Event) {
	if w.nlls.count < windowSteps {
		return
	}
	mean := w.nlls.mean()
	if mean < w.lowestNLL {
		w.lowestNLL, w.lowestStep = mean, e.Step
	}

	// In good runs the mean is at most 0.33 above its lowest value. With -lr 0.1 tiny rises by
	// 2.5 within 10 steps.
	const rise = 1.0
	if mean > w.lowestNLL+rise {
		w.warn(rising, "the training perplexity has risen from %s to %s: the training diverges. Stop it and try %s.", perplexity(w.lowestNLL), perplexity(mean), w.gentler())
		return
	}

	// After 300 steps and the warmup, good runs are 0.9 to 1.9 below the level of the
	// frequencies, those with -lr 0.1 to 0.3 between 0.06 below and 0.16 above it. A long
	// warmup delays learning, but not beyond step 1,000.
	//
	// Muon with -lr 0.1 learns more in its warmup and forgets it: at step 308 its mean is 0.7
	// below that level, the lowest mean 150 steps old.
	const margin, start, latest = 0.2, 300, 1000
	const wideMargin, pause = 0.8, 150
	stuck := mean > w.started.UnigramNLL-wideMargin && e.Step-w.lowestStep >= pause
	if e.Step >= max(start, min(w.o.Warmup, latest)) && (mean > w.started.UnigramNLL-margin || stuck) && !w.said[rising] {
		advice := w.gentler()
		if w.slow() {
			advice = "a higher -lr"
		}
		w.warn(standing, "after %s steps the training perplexity is %s, and guessing tokens by their frequency gives %s: the model has learned next to nothing. Stop the run and try %s.",
			format.Thousands(e.Step), perplexity(mean), perplexity(w.started.UnigramNLL), advice)
	}
}

// checkTranslations warns if the hypotheses of a validation are nearly all the same, unless the
// warning about the loss has said more.
func (w *watch) checkTranslations(e train.Event) {
	// After 500 steps 90 % or more of a good run's hypotheses are different, even with a long
	// warmup; with lines that do not match 1 to 4 %. BLEU is no help: one likely sentence of
	// Multi30k as the translation of all has 2.
	const start, different, minPairs = 500, 0.1, 20
	if w.said[rising] || w.said[standing] || !e.Valid.HasBLEU || w.started.ValidPairs < minPairs || e.Step < max(start, w.o.Warmup) || float64(e.Distinct) > different*float64(w.started.ValidPairs) {
		return
	}
	found := "the same one"
	if e.Distinct > 1 {
		found = fmt.Sprintf("only %s different ones", format.Thousands(e.Distinct))
	}
	w.warn(ignoresSource, "the translations do not depend on the source: after %s steps the %s have %s. Check that line n of one file translates line n of the other (paste SRC TGT | head); if so, try %s.",
		format.Thousands(e.Step), format.Count(w.started.ValidPairs, "validation sentence"), found, w.gentler())
}

// checkOverfitting warns if the loss of validations rises while that of training falls: by 0.1 in
// three validations without a better BLEU, or by 0.5 even if BLEU improves, as it often does after
// the loss. In good runs it rises by less than 0.1, on 300 pairs by 0.4 in 150 steps.
func (w *watch) checkOverfitting(e train.Event) {
	v, mean := e.Valid, w.nlls.mean()
	if w.lowest.Step == 0 || v.NLL < w.lowest.NLL {
		w.lowest, w.nllAtLowest, w.unimproved = v, mean, 0
		return
	}
	if w.unimproved++; e.Best {
		w.unimproved = 0
	}
	const validations, rise, steepRise = 3, 0.1, 0.5
	risen := v.NLL - w.lowest.NLL
	if !(risen > steepRise || risen > rise && w.unimproved >= validations) || !(mean < w.nllAtLowest-rise) {
		return
	}
	end := ""
	if w.o.Patience > 0 {
		end = fmt.Sprintf(", and the run ends by itself when %s in a row bring no improvement", format.Count(w.o.Patience, "validation"))
	}
	w.warn(overfits, "the validation perplexity has risen from %s at step %s to %s, that of training has fallen from %s to %s: the model learns its pairs by heart. The best weights are kept%s. Try more pairs, a higher -dropout (now %.2g) or a smaller model.",
		perplexity(w.lowest.NLL), format.Thousands(w.lowest.Step), perplexity(v.NLL), perplexity(w.nllAtLowest), perplexity(mean), end, w.config.Dropout)
}

// slow reports whether the peak of the learning rate is far below every preset's (7e-4 to 4e-3).
func (w *watch) slow() bool {
	const lowest = 1e-4
	return w.o.Optimizer != train.OptimizerSGD && w.o.LearningRate(w.config.DModel).Peak < lowest
}

// gentler returns flags that make training more stable.
func (w *watch) gentler() string {
	s := fmt.Sprintf("a lower -lr (now %.2g)", w.o.LR)
	if w.o.LR == 0 {
		s = fmt.Sprintf("a lower -set factor (now %.2g)", w.o.Factor)
	}
	list := []string{s, fmt.Sprintf("a longer warmup (now %s)", format.Count(w.o.Warmup, "step"))}
	if w.config.Norm == model.PostNorm {
		list = append(list, "-set norm=pre")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// perplexity formats e^nll.
func perplexity(nll float64) string { return figure(math.Exp(nll)) }

// figure formats a positive number with at most two decimals.
func figure(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.2g", x)
	case x >= 1000:
		return format.Thousands(int(math.Round(x)))
	case x >= 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// windowSteps is the number of steps of a window. The loss of a batch varies by about 0.7 between
// batches of short and long sentences, the mean of 50 by 0.1.
const windowSteps = 50

// window holds the values of the last steps.
type window struct {
	values [windowSteps]float64
	count  int // of all values
}

func (w *window) add(x float64) {
	w.values[w.count%windowSteps] = x
	w.count++
}

// mean returns the mean of the values, NaN without values.
func (w *window) mean() float64 {
	sum, n := 0.0, min(w.count, windowSteps)
	for _, x := range w.values[:n] {
		sum += x
	}
	return sum / float64(n)
}
