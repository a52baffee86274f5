package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

	"tfm/model"
	"tfm/text"
	"tfm/text/bpe"
	"tfm/train"
)

func demoCommand() command {
	return command{
		name:    "demo",
		short:   "train a small model on an embedded task, Chinese to English, and show what it has learned",
		usage:   "[flags]",
		example: "tfm demo",
		notes: `A grammar generates the pairs of sentences. The held-out ones combine subject, verb and object as no sentence
of the training does. It takes about half a minute on two cores and needs no files.`,
		setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			d := demo{options: demoOptions()}
			f.IntVar(&d.options.Steps, "steps", d.options.Steps, "training steps")
			f.Uint64Var(&d.options.Seed, "seed", d.options.Seed, "what the first weights and the order of the pairs are drawn from")
			f.IntVar(&d.heldOut, "held-out", demoHeldOutPairs, "held-out sentences to translate and to count")
			f.StringVar(&d.model, "model", "", "`file` to write the model to, for 'tfm translate' and 'tfm info'; none keeps nothing")
			threadsFlag(f, &d.threads)
			return d.run
		},
	}
}

type demo struct {
	options train.Options
	model   string
	heldOut int
	threads int
}

// demoOptions are the settings of the training. Its end is a number of steps, not a time, so that every
// machine comes to the same result.
func demoOptions() train.Options {
	o := train.DefaultOptions()
	o.Steps, o.Time, o.Patience = 1500, 0, 0
	o.Tokens, o.MaxLen = 400, 60
	o.Peak, o.Warmup = 3e-3, 200
	o.ValidEvery, o.SaveEvery = 0, 0
	return o
}

func (d *demo) run(ctx context.Context, args []string) error {
	if err := noArguments(args); err != nil {
		return err
	}
	if err := checkThreads(d.threads); err != nil {
		return err
	}
	o := &d.options
	o.Warmup = max(1, min(o.Warmup, o.Steps/6))
	o.Decay = max(o.Steps, o.Warmup+1)
	if err := d.options.Validate(); err != nil {
		return settingError(err)
	}
	if d.heldOut < 1 || d.heldOut > demoHeldOutPairs {
		return usagef("-held-out %d: must be 1 to %d", d.heldOut, demoHeldOutPairs)
	}
	if d.model != "" {
		if err := checkWritable(d.model); err != nil {
			return err
		}
	}
	config, err := model.Preset("demo")
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	pairs, heldOut := demoCorpus()
	t, err := (&training{
		corpus:    &corpus{name: "the demo's grammar", pairs: pairsOf(pairs)},
		config:    config,
		options:   d.options,
		vocabSize: 2000,
		joint:     true,
		threads:   d.threads,
		progress:  newProgress(os.Stderr),
	}).run(ctx)
	if err != nil {
		return err
	}
	if t.result.Reason == train.Interrupted {
		return interruption(ctx)
	}
	var saved error
	if d.model != "" {
		saved = t.save(d.model)
	}
	return errors.Join(t.present(heldOut[:d.heldOut]), saved)
}

// present shows translations of sentences that are not among the training's, and what the model looked at.
func (t trained) present(heldOut []demoPair) error {
	tr := newTranslator(t.model, t.tokens, t.pool, model.Search{Beam: 1, MaxExtra: 50})
	srcs := make([]string, len(heldOut))
	for i, p := range heldOut {
		srcs[i] = p.src
	}
	out := tr.translate(srcs, func(int, int) {})
	exact := 0
	for i, p := range heldOut {
		if out[i] == p.tgt {
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
		if out[at] != p.tgt {
			mark = "≠"
		} else if mapped == 0 && len(strings.Fields(p.tgt)) >= 7 {
			mapped = at
		}
		fmt.Fprintf(&b, "  source      %s\n  reference   %s\n  translation %s %s\n\n", p.src, p.tgt, out[at], mark)
	}
	b.WriteString("What the last decoder layer looked at (mean of its heads), for each English word:\n\n")
	src := t.tokens.src.Encode(nil, heldOut[mapped].src)
	tgt := t.tokens.tgt.Encode(nil, out[mapped])
	weights := tr.decoder.Attention(src, tgt)
	rows, columns := wordsOf(t.tokens.tgt, tgt, true), wordsOf(t.tokens.src, src, false)
	if err := drawAttention(&b, join(weights, rows, columns), names(rows), names(columns)); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nexact match: %.1f%% (%d/%d held-out sentences)\n", 100*float64(exact)/float64(len(heldOut)), exact, len(heldOut))
	_, err := os.Stdout.WriteString(b.String())
	return err
}

// pairsOf reads pairs as if they stood in files.
func pairsOf(pairs []demoPair) iter.Seq2[text.Pair, error] {
	return func(yield func(text.Pair, error) bool) {
		for i, p := range pairs {
			if !yield(text.Pair{Source: p.src, Target: p.tgt, Line: i + 1}, nil) {
				return
			}
		}
	}
}

// span is tokens that are shown as one, those from lo up to hi.
type span struct {
	name   string
	lo, hi int
}

// wordsOf groups ids, and the EOS after them, for people to read: into words that spaces part, or else into
// pieces that are whole characters.
func wordsOf(t *bpe.Tokenizer, ids []int32, spaces bool) []span {
	var spans []span
	for i, lo := 0, 0; i < len(ids); i++ {
		name := strings.TrimSpace(t.Decode(ids[lo : i+1]))
		last := i+1 == len(ids)
		if !last && (!utf8.ValidString(name) || name == "" || spaces && !startsWord(t, ids[i+1])) {
			continue
		}
		spans = append(spans, span{name, lo, i + 1})
		lo = i + 1
	}
	return append(spans, span{"</s>", len(ids), len(ids) + 1})
}

func startsWord(t *bpe.Tokenizer, id int32) bool { return strings.HasPrefix(t.Piece(id), "▁") }

func names(spans []span) []string {
	s := make([]string, len(spans))
	for i := range spans {
		s[i] = spans[i].name
	}
	return s
}

// join makes weights between tokens those between spans: the sum over the tokens that were looked at, the mean
// over those that looked.
func join(weights [][]float32, rows, columns []span) [][]float32 {
	joined := make([][]float32, len(rows))
	for i, r := range rows {
		joined[i] = make([]float32, len(columns))
		for j, c := range columns {
			for _, w := range weights[r.lo:r.hi] {
				for _, x := range w[c.lo:c.hi] {
					joined[i][j] += x / float32(r.hi-r.lo)
				}
			}
		}
	}
	return joined
}
