package main

import (
	"flag"
	"slices"
)

// flagGroup is flags that belong together: a heading of the help, and a part of a file of settings.
type flagGroup struct {
	title string
	names []string
}

var (
	modelFlags = flagGroup{"Model", []string{"d-model", "heads", "d-k", "d-v", "d-ff", "encoder-layers", "decoder-layers", "tie", "output-bias", "bias", "activation",
		"norm", "norm-kind", "norm-eps", "final-norm", "positions", "first-position", "scale-embeddings"}}
	regularizationFlags = flagGroup{"Regularization", []string{"dropout", "attention-dropout", "ff-dropout", "label-smoothing", "smoothing-over", "bpe-dropout", "r-drop", "ema"}}

	trainFlags = []flagGroup{
		{"Files", []string{"src", "tgt", "tsv", "valid-src", "valid-tgt", "valid-tsv", "model", "resume", "force"}},
		{"Presets and files of settings", []string{"preset", "config", "dump-config"}},
		{"The end of the run", []string{"steps", "time", "patience"}},
		{"Validations and checkpoints", []string{"valid-every", "tokenize", "save-every", "keep", "average", "tensorboard"}},
		{"Machine", []string{"threads", "bf16"}},
		{"First weights", []string{"init", "vocab", "seed"}},
		{"Tokenizer and batches", []string{"tokenizer", "vocab-size", "joint", "tokens", "accumulate", "max-len", "shuffle-window"}},
		{"Optimizer and learning rate", []string{"optimizer", "beta1", "beta2", "eps", "weight-decay", "momentum", "nesterov", "clip", "on-nan",
			"schedule", "peak", "factor", "warmup", "decay", "floor"}},
		regularizationFlags,
		modelFlags,
	}
)

// visit calls do for the flags of f: first those that are in no group, with the title "Flags", then group by group. It passes over
// names of groups that f does not have.
func visit(f *flag.FlagSet, groups []flagGroup, do func(title string, flags []*flag.Flag)) {
	var rest []*flag.Flag
	f.VisitAll(func(g *flag.Flag) {
		if !slices.ContainsFunc(groups, func(group flagGroup) bool { return slices.Contains(group.names, g.Name) }) {
			rest = append(rest, g)
		}
	})
	if len(rest) > 0 {
		do("Flags", rest)
	}
	for _, group := range groups {
		var flags []*flag.Flag
		for _, name := range group.names {
			if g := f.Lookup(name); g != nil {
				flags = append(flags, g)
			}
		}
		do(group.title, flags)
	}
}
