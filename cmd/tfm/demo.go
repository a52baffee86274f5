package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/grammar"
	"tfm/cmd/tfm/internal/heatmap"
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

func demoCommand() cli.Command {
	return cli.Command{
		Name:    "demo",
		Short:   "train a small model on an embedded task, Chinese to English, and show what it has learned",
		Usage:   "[flags]",
		Example: "tfm demo",
		Notes: `A grammar generates the pairs of sentences. The held-out ones combine subject, verb and object as no sentence
of the training does. It takes about half a minute on two cores and needs no files.`,
		Setup: func(f *cli.Flags) func(context.Context, []string) error {
			d := demo{options: demoOptions()}
			f.IntVar(&d.options.Steps, "steps", d.options.Steps, "training steps")
			f.Uint64Var(&d.options.Seed, "seed", d.options.Seed, "what the first weights and the order of the pairs are drawn from")
			f.IntVar(&d.heldOut, "held-out", grammar.HeldOutPairs, "held-out sentences to translate and to count")
			f.StringVar(&d.out, "o", "", "`file` to write the model to, for 'tfm translate' and 'tfm info'; none keeps nothing")
			cli.ThreadsFlag(f, &d.threads)
			return d.run
		},
	}
}

type demo struct {
	options train.Options
	out     string
	heldOut int
	threads int
}

// demoOptions are the settings of the training. Its end is a number of steps, not a time, so that
// every machine comes to the same result.
func demoOptions() train.Options {
	o := train.DefaultOptions()
	o.Steps, o.Time, o.Patience = 1500, 0, 0
	o.BatchTokens, o.MaxLen = 400, 60
	o.LR, o.Warmup = 3e-3, 200
	o.ValidEvery, o.SaveEvery = 0, 0
	return o
}

func (d *demo) run(ctx context.Context, args []string) error {
	if err := cli.NoArguments(args); err != nil {
		return err
	}
	if err := cli.CheckThreads(d.threads); err != nil {
		return err
	}
	o := &d.options
	o.Warmup = max(1, min(o.Warmup, o.Steps/6))
	o.DecaySteps = max(o.Steps, o.Warmup+1)
	if err := settings.Error(d.options.Validate()); err != nil {
		return err
	}
	if d.heldOut < 1 || d.heldOut > grammar.HeldOutPairs {
		return cli.Usagef("-held-out %d: must be 1 to %d", d.heldOut, grammar.HeldOutPairs)
	}
	if d.out != "" {
		if err := cli.CheckWritable(d.out); err != nil {
			return err
		}
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
		Progress: terminal.NewProgress(os.Stderr),
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

// present shows translations of sentences that are not among the training's, and what the model
// looked at.
func present(ctx context.Context, t training.Result, heldOut []grammar.Pair) error {
	tr, err := translate.New(t.Model, t.Tokens, translate.Options{Threads: t.Pool.Threads(), Concurrent: 1})
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
	out := make([]string, len(results))
	for i, r := range results {
		out[i] = r.Best()
	}
	exact := 0
	for i, p := range heldOut {
		if out[i] == p.Target {
			exact++
		}
	}
	var b strings.Builder
	b.WriteString("\nSentences that the training did not have:\n\n")
	mapped := 0 // the first translation that is right, and long enough to be worth a look
	shown := min(10, len(heldOut))
	for i := range shown {
		at := i * len(heldOut) / shown
		p, mark := heldOut[at], "="
		if out[at] != p.Target {
			mark = "≠"
		} else if mapped == 0 && len(strings.Fields(p.Target)) >= 7 {
			mapped = at
		}
		fmt.Fprintf(&b, "  source      %s\n  reference   %s\n  translation %s %s\n\n", p.Source, p.Target, out[at], mark)
	}
	b.WriteString("What the last decoder layer looked at (mean of its heads), for each English word:\n\n")
	greedy.Texts, greedy.Attention = greedy.Texts[mapped:mapped+1], true
	if results, err = tr.Do(ctx, greedy); err != nil {
		return err
	}
	best := results[0].Translations[0]
	rows, columns := heatmap.Words(t.Tokens.Target, ids(best.Tokens), true), heatmap.Words(t.Tokens.Source, ids(results[0].Tokens), false)
	if err := heatmap.Draw(&b, heatmap.Join(best.Attention, rows, columns), heatmap.Names(rows), heatmap.Names(columns)); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nexact match: %.1f%% (%d/%d held-out sentences)\n", 100*float64(exact)/float64(len(heldOut)), exact, len(heldOut))
	_, err = os.Stdout.WriteString(b.String())
	return err
}

func ids(tokens []translate.Token) []int32 {
	list := make([]int32, len(tokens))
	for i, t := range tokens {
		list[i] = t.ID
	}
	return list
}

// pairsOf reads pairs as if they stood in files.
func pairsOf(pairs []grammar.Pair) iter.Seq2[text.Pair, error] {
	return func(yield func(text.Pair, error) bool) {
		for i, p := range pairs {
			if !yield(text.Pair{Source: p.Source, Target: p.Target, Line: i + 1}, nil) {
				return
			}
		}
	}
}
