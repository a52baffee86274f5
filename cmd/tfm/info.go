package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"tfm/model"
	"tfm/model/safetensors"
)

func infoCommand() command {
	return command{
		name:  "info",
		short: "show the configuration and the number of parameters of a model or a preset",
		usage: "-model M | -preset P -vocab N [flags]",
		example: `
			tfm info -model en-de.safetensors
			tfm info -preset base -vocab 32000`,
		setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			path := f.String("model", "", "model `file`")
			var preset string
			presetFlag(f, &preset, "base")
			vocab := f.Int("vocab", 0, "pieces of a joint vocabulary")
			src := f.Int("src-vocab", 0, "pieces of the source vocabulary, if it is not a joint one")
			tgt := f.Int("tgt-vocab", 0, "pieces of the target vocabulary")
			c, _ := model.Preset("base")
			configFlags(f, &c)
			return func(_ context.Context, args []string) error {
				if err := noArguments(args); err != nil {
					return err
				}
				set := given(f)
				if *path != "" {
					if len(set) > 1 {
						return usagef("-model says all that there is to say, leave out the other flags")
					}
					return infoOfModel(*path)
				}
				if err := usePreset(f, &c, preset, set); err != nil {
					return err
				}
				switch {
				case *vocab != 0 && (*src != 0 || *tgt != 0):
					return usagef("either -vocab or -src-vocab and -tgt-vocab")
				case *vocab != 0:
					c.SrcVocab, c.TgtVocab = *vocab, *vocab
				case *src != 0 && *tgt != 0:
					c.SrcVocab, c.TgtVocab = *src, *tgt
					if _, ok := set["tie"]; !ok {
						c.Tie = model.TieDecoder
					}
				default:
					return usagef("-model is missing, or -vocab, the size of the vocabulary")
				}
				if err := c.Validate(); err != nil {
					return usageError{err.Error()}
				}
				return printConfig(c, "")
			}
		},
	}
}

// infoOfModel verifies a model file and prints what it says of itself. The weights stay in the file.
func infoOfModel(path string) error {
	c, err := model.LoadConfig(path)
	if err != nil {
		return err
	}
	file, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Verify(); err != nil {
		return err
	}
	return printConfig(c, file.Metadata()[trainingInfo])
}

// printConfig prints a configuration and, with it, which of the readings of the paper are in force.
// training, if not empty, tells how the model was trained.
func printConfig(c model.Config, training string) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	row("d_model", "%d", c.DModel)
	row("heads", "%d of d_k = d_v = %d, with biases", c.Heads, c.DModel/c.Heads)
	row("d_ff", "%d, ReLU, with biases", c.DFF)
	row("layers", "%d encoder, %d decoder", c.EncoderLayers, c.DecoderLayers)
	row("norm", "post-norm, LayerNorm(x + Dropout(Sublayer(x))), biased variance, eps %v in the root, none after the stacks", c.NormEps)
	row("positions", "sinusoids, sin at 2i and cos at 2i+1, first position 0, at most %d", c.MaxLen)
	row("embeddings", "times sqrt(d_model), tied: %s", c.Tie)
	row("dropout", "%v, on embeddings + positions and each sublayer's output", c.Dropout)
	row("label smoothing", "%v, over the other entries of the vocabulary", c.LabelSmoothing)
	if c.SrcVocab == c.TgtVocab {
		row("vocabulary", "%s pieces", thousands(c.SrcVocab))
	} else {
		row("vocabularies", "%s pieces of the source, %s of the target", thousands(c.SrcVocab), thousands(c.TgtVocab))
	}
	if training != "" {
		row("trained", "%s", training)
	}
	fmt.Fprintf(&b, "parameters: %s\n", thousands(c.CountParams()))
	_, err := os.Stdout.WriteString(b.String())
	return err
}
