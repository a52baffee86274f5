package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/grammar"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/training"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/train"
	"tfm/train/corpus"
	"tfm/translate"
)

func demoCommand(f *cli.Flags) cli.Action {
	d := demo{options: demoOptions()}
	f.IntVar(&d.options.Steps, "steps", d.options.Steps, "training steps")
	f.Uint64Var(&d.options.Seed, "seed", d.options.Seed, "seed of the initial weights and the order of the pairs")
	f.IntVar(&d.heldOut, "held-out", grammar.HeldOutPairs, "number of held-out sentences to translate")
	f.StringVar(&d.out, "o", "", "`file` to write the model to; without it the model is not saved")
	f.BoolVar(&d.force, "force", false, "replace an existing model")
	cli.ThreadsFlag(f, &d.threads)
	return d.run
}

// demo is the command with its flags.
type demo struct {
	options train.Options
	out     string
	force   bool
	heldOut int
	threads int
}

// demoOptions returns the training options. They limit the steps, not the time, so that the result
// is the same on every machine.
func demoOptions() train.Options {
	o := train.DefaultOptions()
	o.Steps, o.Time, o.Patience = 1500, 0, 0
	o.BatchTokens, o.MaxLen = 400, 60
	o.LR, o.Warmup = 3e-3, 200
	o.ValidEvery, o.SaveEvery = 0, 0
	return o
}

func (d *demo) run(ctx context.Context, _ []string) error {
	if err := d.check(); err != nil {
		return err
	}
	config, err := model.Preset("demo")
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	pairs, heldOut := grammar.Corpus()
	job := training.Job{
		Corpus:   corpus.Options{Train: corpus.Pairs("the demo's grammar", pairsOf(pairs)), VocabSize: 2000, Joint: true},
		Config:   config,
		Options:  d.options,
		SrcLang:  "zh",
		TgtLang:  "en",
		Threads:  d.threads,
		Progress: terminal.NewProgress(os.Stderr), NoWarnings: true,
	}
	t, err := job.Run(ctx)
	if err != nil {
		return err
	}
	if t.Reason == train.Interrupted {
		return cli.Interruption(ctx)
	}
	var saved error
	if d.out != "" {
		saved = t.Save(d.out)
	}
	err = present(ctx, t, heldOut[:d.heldOut])
	if interrupted := cli.Interruption(ctx); err != nil && interrupted != nil {
		err = interrupted
	}
	return errors.Join(err, saved)
}

// check checks the flags and adapts the learning rate to the number of steps.
func (d *demo) check() error {
	o := &d.options
	o.Warmup = max(1, min(o.Warmup, o.Steps/6))
	o.Schedule = train.ScheduleConstant
	if falling := o.Steps - o.Warmup; falling > 0 {
		o.Cooldown = (float64(falling) + 0.5) / float64(o.Steps) // times Steps it is cut to falling
	}
	err := cmp.Or(
		settings.Error(o.Validate()),
		cli.UsageIf(d.heldOut < 1 || d.heldOut > grammar.HeldOutPairs, "-held-out is %d, expected 1 to %d", d.heldOut, grammar.HeldOutPairs),
	)
	if err != nil || d.out == "" {
		return err
	}
	return cli.CheckModelOutput(d.out, d.force)
}

// present translates the held-out sentences and prints some translations, the attention of one, and
// the number of exact ones.
func present(ctx context.Context, t training.Result, heldOut []grammar.Pair) error {
	tr, err := translate.New(t.Model, t.Tokenizers, translate.Options{Threads: t.Pool.Threads(), Decoding: t.Decoding})
	if err != nil {
		return err
	}
	defer tr.Close()
	greedy := translate.Request{Decode: decode.Options{Beam: 1, MaxExtra: 50}}
	for _, p := range heldOut {
		greedy.Texts = append(greedy.Texts, p.Source)
	}
	results, err := tr.Do(ctx, greedy)
	if err != nil {
		return err
	}
	exact := 0
	for i, p := range heldOut {
		if results[i].Best() == p.Target {
			exact++
		}
	}
	var b strings.Builder
	drawn := writeSample(&b, heldOut, results)
	b.WriteString("Attention of the heads that align best. A row is a word of the translation, its\n" +
		"shades are the weights of the source words:\n\n")
	greedy.Texts, greedy.Attention = greedy.Texts[drawn:drawn+1], true
	if results, err = tr.Do(ctx, greedy); err != nil {
		return err
	}
	best := results[0].Translations[0]
	rows, columns := terminal.Words(t.Tokenizers.Target, ids(best.Tokens), true), terminal.Words(t.Tokenizers.Source, ids(results[0].Tokens), false)
	if err := terminal.DrawHeatmap(&b, terminal.Join(best.Attention, rows, columns), terminal.Names(rows), terminal.Names(columns)); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nexact match: %.1f%% (%d/%d held-out sentences)\n", 100*float64(exact)/float64(len(heldOut)), exact, len(heldOut))
	_, err = os.Stdout.WriteString(b.String())
	return err
}

// writeSample writes some translations of held-out sentences. It returns the index of the one whose
// attention is drawn: the first exact translation of at least 7 words among them, else 0.
func writeSample(b *strings.Builder, heldOut []grammar.Pair, results []translate.Result) (drawn int) {
	b.WriteString("\nTranslations of held-out sentences (= the reference, ≠ another translation):\n\n")
	shown := min(10, len(heldOut))
	for i := range shown {
		at := i * len(heldOut) / shown
		p, translation, mark := heldOut[at], results[at].Best(), "="
		if translation != p.Target {
			mark = "≠"
		} else if drawn == 0 && len(strings.Fields(p.Target)) >= 7 {
			drawn = at
		}
		fmt.Fprintf(b, "  source      %s\n  reference   %s\n  translation %s %s\n\n", p.Source, p.Target, translation, mark)
	}
	return drawn
}

// ids returns the ids of tokens.
func ids(tokens []translate.Token) []int32 {
	list := make([]int32, len(tokens))
	for i, t := range tokens {
		list[i] = t.ID
	}
	return list
}

// pairsOf returns a sequence of pairs, as package text reads them from files.
func pairsOf(pairs []grammar.Pair) iter.Seq2[text.Pair, error] {
	return func(yield func(text.Pair, error) bool) {
		for i, p := range pairs {
			if !yield(text.Pair{Source: p.Source, Target: p.Target, Line: i + 1}, nil) {
				return
			}
		}
	}
}
