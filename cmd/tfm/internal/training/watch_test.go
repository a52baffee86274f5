package training

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"tfm/cmd/tfm/internal/terminal"
	"tfm/model"
	"tfm/train"
)

// A course is a synthetic run: what happens at each step and each validation.
type course struct {
	from, to int // steps
	step     time.Duration
	left     func(step int, elapsed time.Duration) time.Duration
	nll      func(step int) float64
	valid    func(step int) (v train.Validation, best bool, distinct int)
}

// feed sends the events of a course to w and returns its messages, one a line.
func feed(w *watch, c course) string {
	var b strings.Builder
	send := func(e train.Event) {
		e.Steps = w.o.Steps
		for _, m := range w.observe(e) {
			b.WriteString(m + "\n")
		}
	}
	// An epoch of 300 steps.
	send(train.Event{Kind: train.Started, Step: c.from, Pairs: 29_000, SrcTokens: 400_000, TgtTokens: 450_000, ValidPairs: 1000, UnigramNLL: 6})
	start := time.Duration(c.from) * c.step
	for s := c.from + 1; s <= c.to; s++ {
		e := train.Event{Kind: train.Stepped, Step: s, Epoch: s / 300, Elapsed: start + time.Duration(s-c.from)*c.step, NLL: c.nll(s), Loss: c.nll(s) + 0.5}
		if c.left != nil {
			e.Left = c.left(s, e.Elapsed)
		}
		e.SrcPerSec, e.TgtPerSec = 5000, 5000
		send(e)
		if every := w.o.ValidEvery; every > 0 && s%every == 0 && c.valid != nil {
			v, best, distinct := c.valid(s)
			v.Step = s
			send(train.Event{Kind: train.Validated, Step: s, Elapsed: e.Elapsed, Valid: v, Best: best, Distinct: distinct})
		}
	}
	return b.String()
}

// learning is the NLL of a good run.
func learning(s int) float64 { return 1.5 + 6*math.Exp(-float64(s)/400) + 0.3*math.Sin(float64(s)) }

// improving is the validation of a good run.
func improving(s int) (train.Validation, bool, int) {
	return train.Validation{NLL: 1.7 + 6*math.Exp(-float64(s)/400), HasBLEU: true, BLEU: 30 * (1 - math.Exp(-float64(s)/800))}, true, 950
}

func watched(change func(*train.Options)) *watch {
	o := train.DefaultOptions()
	o.Steps, o.BatchTokens, o.LR, o.Warmup, o.ValidEvery, o.Patience = 3000, 1500, 2e-3, 300, 200, 10
	if change != nil {
		change(&o)
	}
	return newWatch(o, model.Config{DModel: 128, Dropout: 0.1})
}

func TestWatch(t *testing.T) {
	stands := func(level float64) func(int) float64 {
		return func(s int) float64 { return max(level, 8-0.02*float64(s)) }
	}
	steps := func(s int, _ time.Duration) time.Duration { return time.Duration(3000-s) * 250 * time.Millisecond }
	limit := func(d time.Duration) func(int, time.Duration) time.Duration {
		return func(_ int, elapsed time.Duration) time.Duration { return d - elapsed }
	}
	good := course{to: 3000, step: 250 * time.Millisecond, left: steps, nll: learning, valid: improving}
	for name, c := range map[string]struct {
		options func(*train.Options)
		change  func(*course)
		want    string // all messages
	}{
		"good run":          {},
		"steps before time": {options: func(o *train.Options) { o.Time = 30 * time.Minute }},
		"patience":          {options: func(o *train.Options) { o.Steps = 0 }, change: func(c *course) { c.left = nil }},

		"shorter than an epoch": {options: func(o *train.Options) { o.Steps, o.Warmup = 100, 10 }, change: func(c *course) { c.to = 100 },
			want: `the run ends at step 100 of an epoch of 300 steps: it uses 33% of the training pairs\. Try a longer run \(-steps\) or a smaller -preset\.\n`},
		"warmup longer than the time": {options: func(o *train.Options) { o.Steps, o.Time, o.Warmup = 0, time.Minute, 800 }, change: func(c *course) { c.to, c.left = 200, limit(time.Minute) },
			want: `the run ends at about step 240, but the learning rate rises until step 800\. Try -set warmup=24\.\n`},
		"rising": {change: func(c *course) {
			c.nll = func(s int) float64 { return learning(s) + 5*min(1, max(0, float64(s-1000)/100)) }
		}, want: `the training perplexity has risen from [\d.]+ to [\d.]+: the training diverges\. Stop it and try a lower -lr \(now 0\.002\), a longer warmup \(now 300 steps\) or -set norm=pre\.\n`},
		"standing": {change: func(c *course) { c.nll = stands(6.1) },
			want: `after 300 steps the training perplexity is 445\.9, and guessing tokens by their frequency gives 403\.4: the model has learned next to nothing\. Stop the run and try a lower -lr .*\n`},
		"stuck above the frequencies": {change: func(c *course) { c.nll = stands(5.5) },
			want: `after 3\d\d steps the training perplexity is 244\.7, and guessing .*\n`},
		"slow, but falling": {change: func(c *course) {
			c.nll = func(s int) float64 { return 5.7 - 0.0004*float64(s) }
		}},
		"standing in a long warmup": {options: func(o *train.Options) { o.Warmup = 4000; o.Steps = 9000 }, change: func(c *course) { c.nll = stands(6.1) }, want: `after 1,000 steps .*\n`},
		"rate too low":              {options: func(o *train.Options) { o.LR = 1e-6 }, change: func(c *course) { c.nll = func(int) float64 { return 8 } }, want: `after 300 steps .* next to nothing\. Stop the run and try a higher -lr\.\n`},
		"lines that do not match": {change: func(c *course) {
			c.nll = stands(4)
			c.valid = func(s int) (train.Validation, bool, int) {
				return train.Validation{NLL: 4 - float64(s)/1e4, HasBLEU: true, BLEU: 2}, true, 12
			}
		}, want: `the translations do not depend on the source: after 600 steps the 1,000 validation sentences have only 12 different ones\. .*line n of one file translates line n of the other.*\n`},
		"overfitting": {change: func(c *course) {
			c.valid = func(s int) (train.Validation, bool, int) {
				return train.Validation{NLL: 3 + math.Abs(float64(s)-800)/2000, HasBLEU: true, BLEU: 10 - math.Abs(float64(s)-800)/200}, s <= 800, 900
			}
		}, want: `the validation perplexity has risen from 20\.09 at step 800 to 27\.11, that of training has fallen from 10\.62 to 5\.44: .*best weights are kept, and the run ends by itself when 10 validations .* higher -dropout \(now 0\.1\) .*\n`},
		"higher loss, better BLEU": {change: func(c *course) {
			c.valid = func(s int) (train.Validation, bool, int) {
				return train.Validation{NLL: 3 + math.Abs(float64(s)-800)/5000, HasBLEU: true, BLEU: float64(s) / 100}, true, 900
			}
		}},
		"much higher loss, better BLEU": {change: func(c *course) {
			c.valid = func(s int) (train.Validation, bool, int) {
				return train.Validation{NLL: 3 + math.Abs(float64(s)-800)/2000, HasBLEU: true, BLEU: float64(s) / 100}, true, 900
			}
		}, want: `the validation perplexity has risen from 20\.09 at step 800 to 36\.60, .*\n`},
	} {
		run := good
		if c.change != nil {
			c.change(&run)
		}
		if got := feed(watched(c.options), run); !regexp.MustCompile(`^` + c.want + `$`).MatchString(got) {
			t.Errorf("%s:\n%s, want\n%s", name, got, c.want)
		}
	}
}

// Shares of several sources have no epochs in common, and another size is no choice for the weights
// of a model.
func TestWatchShortRuns(t *testing.T) {
	messages := func(mixed bool, change func(*train.Options)) string {
		w := watched(func(o *train.Options) { o.Steps, o.Warmup = 100, 10; change(o) })
		w.mixed = mixed
		return feed(w, course{to: 1, nll: learning, left: func(int, time.Duration) time.Duration { return time.Minute }})
	}
	for _, c := range []struct {
		mixed  bool
		change func(*train.Options)
		want   string
	}{
		{true, func(*train.Options) {}, ""},
		{false, func(o *train.Options) { o.Init = "m" }, "Try a longer run (-steps).\n"},
		{false, func(o *train.Options) { o.Steps, o.Warmup = 5, 1; o.Init = "m" }, "Try a longer run (-steps).\n"},
		{false, func(o *train.Options) { o.Steps, o.Warmup = 1, 1 }, "it uses 0% of the training pairs"},
	} {
		if got := messages(c.mixed, c.change); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "-warmup") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestWatchSkippedPairs(t *testing.T) {
	w := watched(nil)
	if got := w.observe(train.Event{Kind: train.Started, Pairs: 950, TooLong: 50, Steps: 3000}); len(got) != 0 {
		t.Errorf("5%% of the pairs are skipped: %q, want nothing", got)
	}
	w.o.MaxLen = 60
	got := w.observe(train.Event{Kind: train.Started, Pairs: 880, TooLong: 120, Steps: 3000})
	if len(got) != 1 || !strings.HasPrefix(got[0], "-max-len 60 skips 120 training pairs (12%), because a side has more tokens") || !strings.Contains(got[0], "-max-len") {
		t.Errorf("12%% of the pairs are skipped: %q", got)
	}
}

// Watching a step allocates nothing.
func TestWatchAllocations(t *testing.T) {
	w := watched(nil)
	feed(w, course{to: 500, step: 250 * time.Millisecond, nll: learning})
	e := train.Event{Kind: train.Stepped, Step: 501, Elapsed: 126 * time.Second, NLL: 3, Loss: 3, SrcPerSec: 5000, TgtPerSec: 5000}
	if n := testing.AllocsPerRun(100, func() { w.observe(e) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// On a terminal a sample follows a validation. No line is wider than the
// terminal.
func TestPrintValidation(t *testing.T) {
	samples := []train.Sample{
		{Source: "你好！", Reference: "Hello!", Hypothesis: "Hello!"},
		{Source: "他上个星期买了一辆红色的自行车。", Reference: "Last week he bought a red bicycle.", Hypothesis: "He\tbought \x1b[31ma red bicycle " + strings.Repeat("on Monday ", 10)},
		{Source: strings.Repeat("长", 100), Reference: strings.Repeat("long ", 40), Hypothesis: "Long."},
	}
	first := train.Event{Kind: train.Validated, Step: 1000, Samples: samples, Best: true, Valid: train.Validation{Step: 1000, NLL: math.Log(134.8), HasBLEU: true, BLEU: 0.3}}
	second := train.Event{Kind: train.Validated, Step: 2000, Samples: samples, Best: true, Valid: train.Validation{Step: 2000, NLL: math.Log(12.34), Accuracy: 0.5, HasBLEU: true, BLEU: 22.51}}
	third := train.Event{Kind: train.Validated, Step: 3000, Samples: samples, Parts: []train.ValidPart{{Name: "general", Pairs: 50, BLEU: 31.5}, {Name: "memory", Pairs: 50, BLEU: 9}}, Valid: train.Validation{Step: 3000, NLL: math.Log(14), HasBLEU: true, BLEU: 20.25}}
	for width, want := range map[int]string{
		0: "step 1,000: validation perplexity 134.80, accuracy 0.0%, BLEU 0.30, the best so far\n" +
			"step 2,000: validation perplexity 12.34, accuracy 50.0%, BLEU 22.51, the best so far\n" +
			"step 3,000: validation perplexity 14.00, accuracy 0.0%, BLEU 20.25\n  BLEU of general 31.50, memory 9.00\n",
		80: "step 1,000: validation perplexity 134.80, accuracy 0.0%, BLEU 0.30, the best\n  so far\n" +
			"  source      你好！\n  reference   Hello!\n  translation Hello!\n" +
			"step 2,000: validation perplexity 12.34, accuracy 50.0%, BLEU 22.51, the best\n  so far\n" +
			"  source      他上个星期买了一辆红色的自行车。\n  reference   Last week he bought a red bicycle.\n  translation He bought  [31ma red bicycle on Monday on Monday on Monday on Mo…\n" +
			"step 3,000: validation perplexity 14.00, accuracy 0.0%, BLEU 20.25\n  BLEU of general 31.50, memory 9.00\n" +
			"  source      你好！\n  reference   Hello!\n  translation Hello!\n",
	} {
		var b strings.Builder
		j := &Job{Progress: terminal.New(&b, width)}
		for _, e := range []train.Event{first, second, third} {
			j.printValidation(e)
		}
		if got := b.String(); got != want {
			t.Errorf("width %d:\n%s, want\n%s", width, got, want)
		}
		for line := range strings.Lines(b.String()) {
			if n := terminal.Columns(strings.TrimSpace(line)); width > 0 && n > width {
				t.Errorf("%q has %d columns", line, n)
			}
		}
	}
}
