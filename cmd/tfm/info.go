package main

import (
	"cmp"
	"context"
	"encoding"
	"flag"
	"fmt"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/settings"
	"tfm/cmd/tfm/internal/training"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/safetensors"
)

func infoCommand() cli.Command {
	return cli.Command{
		Name:  "info",
		Short: "show the configuration and the number of parameters of a model or a preset",
		Usage: "-model M | -preset P -vocab N [flags] | -preset RECIPE [flags] | -table3",
		Example: `
			tfm info -model en-de.safetensors
			tfm info -preset base -vocab 32000
			tfm info -preset multi30k
			tfm info -table3`,
		Groups: []cli.Group{settings.ModelGroup, settings.RegularizationGroup},
		Setup: func(f *flag.FlagSet) func(context.Context, []string) error {
			path := f.String("model", "", "model `file`")
			var preset string
			f.StringVar(&preset, "preset", "base", settings.PresetUsage())
			vocab := f.Int("vocab", 0, "pieces of a joint vocabulary")
			src := f.Int("src-vocab", 0, "pieces of the source vocabulary, if it is not a joint one")
			tgt := f.Int("tgt-vocab", 0, "pieces of the target vocabulary")
			table := f.Bool("table3", false, "show Table 3 of the paper, with the numbers of parameters that its models have here")
			c, _ := model.Preset("base")
			settings.ModelFlags(f, &c)
			f.TextVar(&c.Start, "init", c.Start, settings.StartUsage)
			return func(_ context.Context, args []string) error {
				if err := cli.NoArguments(args); err != nil {
					return err
				}
				set := cli.Given(f)
				if *path != "" {
					if len(set) > 1 {
						return cli.Usagef("-model says all that there is to say, leave out the other flags")
					}
					return infoOfModel(*path)
				}
				if *table {
					if len(set) > 1 {
						return cli.Usagef("-table3 says all that there is to say, leave out the other flags")
					}
					return printTable3()
				}
				run, err := settings.Model(preset, set)
				if err != nil {
					return err
				}
				c = run.Config
				if *vocab == 0 && *src == 0 && *tgt == 0 && run.Origin("vocab-size") == settings.Recipe {
					*vocab = run.VocabSize
				}
				switch {
				case *vocab != 0 && (*src != 0 || *tgt != 0):
					return cli.Usagef("either -vocab or -src-vocab and -tgt-vocab")
				case *vocab != 0:
					c.SrcVocab, c.TgtVocab = *vocab, *vocab
				case *src != 0 && *tgt != 0:
					c.SrcVocab, c.TgtVocab = *src, *tgt
					if _, ok := set["tie"]; !ok {
						c.Tie = model.TieDecoder
					}
				default:
					return cli.Usagef("-model is missing, or -vocab, the size of the vocabulary")
				}
				if err := settings.Error(c.Validate()); err != nil {
					return err
				}
				return printHeader(model.Header{Config: c})
			}
		},
	}
}

// infoOfModel verifies a model file and prints what it says of itself. The weights stay in the file.
func infoOfModel(path string) error {
	file, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Verify(); err != nil {
		return err
	}
	h, err := model.DecodeHeader(file.Metadata())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return printHeader(h)
}

// printHeader prints a configuration and, with it, which of the readings of the paper are in force, and of a model file the
// languages and how it was trained, if it says so.
func printHeader(h model.Header) error {
	c := h.Config
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-16s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	dk, dv := c.HeadSizes()
	with := func(yes bool) string {
		if yes {
			return "with biases"
		}
		return "without biases"
	}
	name := func(v encoding.TextMarshaler) string {
		text, _ := v.MarshalText()
		return string(text)
	}
	row("d_model", "%d", c.DModel)
	if dk == dv {
		row("heads", "%d of d_k = d_v = %d, %s", c.Heads, dk, with(c.Biases == model.AllBiases || c.Biases == model.AttentionBiases))
	} else {
		row("heads", "%d of d_k = %d and d_v = %d, %s", c.Heads, dk, dv, with(c.Biases == model.AllBiases || c.Biases == model.AttentionBiases))
	}
	activation := map[model.Activation]string{model.ReLU: "ReLU", model.GELU: "GELU", model.GELUTanh: "GELU by tanh", model.SiLU: "SiLU"}
	row("d_ff", "%d, %s, %s", c.DFF, activation[c.Activation], with(c.Biases == model.AllBiases || c.Biases == model.FeedForwardBiases))
	row("layers", "%d encoder, %d decoder", c.EncoderLayers, c.DecoderLayers)
	row("norm", "%s", normInfo(c))
	switch c.Positions {
	case model.Interleaved:
		row("positions", "sinusoids, sin at 2i and cos at 2i+1, first position %d, at most %d", c.FirstPosition, c.MaxLen)
	case model.Halves:
		row("positions", "sinusoids, sines in the first half and cosines in the second, first position %d, at most %d", c.FirstPosition, c.MaxLen)
	case model.TimingSignal:
		row("positions", "sinusoids of tensor2tensor, in halves of rates 10000^(-i/(d/2-1)), first position %d, at most %d", c.FirstPosition, c.MaxLen)
	case model.Learned:
		row("positions", "learned, %d on each side", c.MaxLen)
	}
	scale := "times sqrt(d_model)"
	if c.Unscaled {
		scale = "not scaled"
	}
	output := "no output bias"
	if c.OutputBias {
		output = "with an output bias"
	}
	row("embeddings", "%s, tied: %s, %s", scale, c.Tie, output)
	dropout := fmt.Sprintf("%v, on embeddings + positions and each sublayer's output", c.Dropout)
	if c.AttentionDropout > 0 {
		dropout += fmt.Sprintf("; %v on the weights of attention", c.AttentionDropout)
	}
	if c.FFDropout > 0 {
		dropout += fmt.Sprintf("; %v inside feed-forward networks", c.FFDropout)
	}
	row("dropout", "%s", dropout)
	over := "over the other entries of the vocabulary"
	if c.Smoothing == model.SmoothAll {
		over = "over all entries of the vocabulary"
	}
	row("label smoothing", "%v, %s", c.LabelSmoothing, over)
	row("init", "%s", name(c.Start))
	if c.SrcVocab == c.TgtVocab {
		row("vocabulary", "%s pieces", format.Thousands(c.SrcVocab))
	} else {
		row("vocabularies", "%s pieces of the source, %s of the target", format.Thousands(c.SrcVocab), format.Thousands(c.TgtVocab))
	}
	if h.SrcLang != "" || h.TgtLang != "" {
		row("languages", "%s to %s", cmp.Or(h.SrcLang, "unknown"), cmp.Or(h.TgtLang, "unknown"))
	}
	if trained := h.Info[training.InfoKey]; trained != "" {
		row("trained", "%s", trained)
	}
	fmt.Fprintf(&b, "parameters: %s\n", format.Thousands(c.CountParams()))
	_, err := os.Stdout.WriteString(b.String())
	return err
}

// normInfo says which norms are in force, and where.
func normInfo(c model.Config) string {
	norm := map[model.NormKind]string{model.LayerNorm: "LayerNorm", model.UnbiasedNorm: "Norm", model.RMSNorm: "RMSNorm"}[c.NormKind]
	var where string
	switch c.Norm {
	case model.PostNorm:
		where = fmt.Sprintf("post-norm, %s(x + Dropout(Sublayer(x)))", norm)
	case model.PreNorm:
		where = fmt.Sprintf("pre-norm, x + Dropout(Sublayer(%s(x)))", norm)
	case model.DeepNorm:
		encAlpha, encBeta, decAlpha, decBeta := c.DeepNormScales()
		where = fmt.Sprintf("DeepNorm, %s(α·x + Dropout(Sublayer(x))), α %.4g and %.4g, β %.4g and %.4g in encoder and decoder", norm, encAlpha, decAlpha, encBeta, decBeta)
	}
	kind := map[model.NormKind]string{
		model.LayerNorm:    "biased variance, eps %v in the root",
		model.UnbiasedNorm: "(x - mean)/(unbiased deviation + eps), eps %v",
		model.RMSNorm:      "no mean, no bias, eps %v in the root",
	}[c.NormKind]
	final := "none after the stacks"
	if c.HasFinalNorm() {
		final = "one after each stack"
	}
	return fmt.Sprintf("%s, "+kind+", %s", where, c.NormEps, final)
}
