package main

import (
	"errors"
	"flag"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/model"
	"tfm/model/decode"
)

// Flags that several commands have, and flags over defaults that are known only once they are parsed.

// configFlags declares the flags that change what a preset says. They begin with the values in c.
func configFlags(f *flag.FlagSet, c *model.Config) {
	const preset = "; the default is the preset's"
	f.IntVar(&c.DModel, "d-model", c.DModel, "width of the model, d"+preset)
	f.IntVar(&c.Heads, "heads", c.Heads, "attention heads, h"+preset)
	f.IntVar(&c.DK, "d-k", c.DK, "numbers of a query and a key in a head; 0 is d/h"+preset)
	f.IntVar(&c.DV, "d-v", c.DV, "numbers of a value in a head; 0 is d/h"+preset)
	f.IntVar(&c.DFF, "d-ff", c.DFF, "inner width of the feed-forward networks"+preset)
	f.IntVar(&c.EncoderLayers, "encoder-layers", c.EncoderLayers, "layers of the encoder, N"+preset)
	f.IntVar(&c.DecoderLayers, "decoder-layers", c.DecoderLayers, "layers of the decoder"+preset)
	f.Var((*cli.Float32Value)(&c.Dropout), "dropout", "`probability` that a number is dropped: of embeddings and of each sublayer's result"+preset)
	f.Var((*cli.Float32Value)(&c.AttentionDropout), "attention-dropout", "`probability` that a weight of attention is dropped")
	f.Var((*cli.Float32Value)(&c.FFDropout), "ff-dropout", "`probability` that an inner number of a feed-forward network is dropped")
	f.Var((*cli.Float32Value)(&c.LabelSmoothing), "label-smoothing", "`probability` that the loss spreads over other pieces"+preset)
	f.TextVar(&c.Smoothing, "smoothing-over", c.Smoothing, "`which` pieces that are: the others, or all, the right one too (PyTorch)")
	f.StringVar(&c.Tie, "tie", c.Tie, "`which` embeddings are one matrix: all (and the output projection, as in the paper),\ndecoder (target and output), none"+preset)
	f.TextVar(&c.Norm, "norm", c.Norm, "`where` norms stand: post (behind the residual connection, as in the paper), pre (before the sublayer),\ndeep (post, with DeepNorm's scales)")
	f.Var(finalNormValue{&c.FinalNorm}, "final-norm", "a norm behind the last layer of each stack; the default is true with -norm pre, else false")
	f.TextVar(&c.NormKind, "norm-kind", c.NormKind, "`what` a norm is: layer (LayerNorm), unbiased (divides by the unbiased deviation + eps), rms (RMSNorm)")
	f.Var((*cli.Float32Value)(&c.NormEps), "norm-eps", "`number` that keeps norms from dividing by 0")
	f.TextVar(&c.Positions, "positions", c.Positions, "`kind` of positions: interleaved (sine and cosine in turn, as in the paper), halves (sines first), tensor2tensor\n(halves, in steps of 10000^(1/(d/2-1))), learned (no sentence may be longer than those trained on)")
	f.IntVar(&c.FirstPosition, "first-position", c.FirstPosition, "number of a sentence's first position, 0 or 1")
	f.Var((*cli.NotValue)(&c.Unscaled), "scale-embeddings", "multiply embeddings by the root of d")
	f.TextVar(&c.Biases, "bias", c.Biases, "`which` layers' linear maps have biases: all, ff (feed-forward), attention, none; true is all and false none")
	f.BoolVar(&c.OutputBias, "output-bias", c.OutputBias, "a bias of the output projection; the default is true with -tie none, else false")
	f.TextVar(&c.Activation, "activation", c.Activation, "`function` in the feed-forward networks: relu, gelu, gelu-tanh, silu")
}

const startUsage = "`how` weights begin: xavier, pytorch (as nn.Transformer, nn.Embedding and nn.Linear)"

// searchFlags declares how translations are searched for.
func searchFlags(f *flag.FlagSet, beam int) *decode.Options {
	s := decode.DefaultOptions()
	f.IntVar(&s.Beam, "beam", beam, "hypotheses kept at each step; 1 is greedy")
	f.Float64Var(&s.Alpha, "alpha", s.Alpha, "exponent of the length penalty")
	f.StringVar(&s.Penalty, "length-penalty", s.Penalty, "what log-probabilities are divided by: wu is ((5+length)/6)^alpha, power is length^alpha")
	f.IntVar(&s.MaxExtra, "max-extra", s.MaxExtra, "pieces that a translation may have more than its source")
	return &s
}

func checkSearch(s decode.Options) error {
	if s.MaxExtra < 0 || s.MaxExtra >= 1<<16 {
		return cli.Usagef("-max-extra %d: must be 0 to %d", s.MaxExtra, 1<<16-1)
	}
	return settingError(s.Validate())
}

// settingError returns the error of a command line for those of settings: it calls an invalid field by its flag.
func settingError(errs ...error) error {
	var messages []string
	for _, err := range errs {
		var invalid *model.FieldError
		switch {
		case errors.As(err, &invalid):
			e := *invalid
			e.Field = "-" + flagOf(e.Field)
			messages = append(messages, e.Error())
		case err != nil:
			messages = append(messages, err.Error())
		}
	}
	if messages == nil {
		return nil
	}
	return cli.UsageError{Message: strings.Join(messages, "\n")}
}

// flagOf returns the flag of a field of model.Config, decode.Options or train.Options.
func flagOf(field string) string {
	switch field {
	case "smoothing":
		return "smoothing-over"
	case "biases":
		return "bias"
	case "start":
		return "init"
	}
	return strings.ReplaceAll(field, "_", "-")
}

// usePreset sets *c, to which configFlags has bound the flags of f, to a preset with the given flags over it.
func usePreset(f *flag.FlagSet, c *model.Config, name string, given map[string]string) (err error) {
	if *c, err = model.Preset(name); err != nil {
		return cli.Usagef("%v; and the recipes %s", err, strings.Join(recipeNames(), ", "))
	}
	if err := cli.SetAgain(f, given); err != nil {
		return err
	}
	if _, ok := given["output-bias"]; !ok && c.Tie == model.TieNone {
		c.OutputBias = true
	}
	return nil
}

// finalNormValue is a flag that may stand alone.
type finalNormValue struct{ *model.FinalNorm }

func (v finalNormValue) String() string {
	text, _ := v.MarshalText()
	return string(text)
}

func (v finalNormValue) Set(s string) error { return v.UnmarshalText([]byte(s)) }
func (v finalNormValue) IsBoolFlag() bool   { return true }

var (
	modelFlags = cli.Group{Title: "Model", Names: []string{"d-model", "heads", "d-k", "d-v", "d-ff", "encoder-layers", "decoder-layers", "tie", "output-bias", "bias", "activation",
		"norm", "norm-kind", "norm-eps", "final-norm", "positions", "first-position", "scale-embeddings"}}
	regularizationFlags = cli.Group{Title: "Regularization", Names: []string{"dropout", "attention-dropout", "ff-dropout", "label-smoothing", "smoothing-over", "bpe-dropout", "r-drop", "ema"}}

	trainFlags = []cli.Group{
		{Title: "Files", Names: []string{"src", "tgt", "tsv", "valid-src", "valid-tgt", "valid-tsv", "model", "resume", "force"}},
		{Title: "Presets and files of settings", Names: []string{"preset", "config", "dump-config"}},
		{Title: "The end of the run", Names: []string{"steps", "time", "patience"}},
		{Title: "Validations and checkpoints", Names: []string{"valid-every", "tokenize", "save-every", "keep", "average", "tensorboard"}},
		{Title: "Machine", Names: []string{"threads", "bf16"}},
		{Title: "First weights", Names: []string{"init", "vocab", "seed"}},
		{Title: "Tokenizer and batches", Names: []string{"tokenizer", "vocab-size", "joint", "tokens", "accumulate", "max-len", "shuffle-window"}},
		{Title: "Optimizer and learning rate", Names: []string{"optimizer", "beta1", "beta2", "eps", "weight-decay", "momentum", "nesterov", "clip", "on-nan",
			"schedule", "peak", "factor", "warmup", "decay", "floor"}},
		regularizationFlags,
		modelFlags,
	}
)
