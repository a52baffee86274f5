package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"tfm/cmd/tfm/internal/cli"
	"tfm/cmd/tfm/internal/terminal"
	"tfm/cmd/tfm/internal/training"
	"tfm/cmd/tfm/internal/translator"
	"tfm/internal/format"
	"tfm/model"
	"tfm/model/convert"
	"tfm/model/decode"
	"tfm/model/safetensors"
	"tfm/text"
)

func infoCommand(f *cli.Flags) cli.Action {
	var c information
	f.BoolVar(&c.json, "json", false, "print a JSON object")
	f.StringVar(&c.model, "model", "", "model `file` to show")
	return c.run
}

// information is the command with its flags.
type information struct {
	model string
	json  bool
}

// run verifies a model file and prints its header, without loading the weights.
func (c *information) run(_ context.Context, args []string) error {
	if len(args) == 1 && c.model == "" {
		c.model, args = args[0], nil
	}
	if err := cmp.Or(cli.NoArguments(args), cli.UsageIf(c.model == "", "expected a model file")); err != nil {
		return err
	}
	path := c.model
	file, err := openModel(path)
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
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	settings, err := decode.ParseSettings(h.Decoding)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.json {
		return printJSON(h, settings, info.Size())
	}
	list, err := decode.ReadShortlist(file.Tensors(), h.Config)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	form := cmp.Or(unlessZero("%s, which can translate but not train", h.Form), "float32")
	return printHeader(h, settings, list, fmt.Sprintf("%.1f MB, weights in %s", float64(info.Size())/1e6, form))
}

// openModel opens a model file. Of another file or folder the error says what it is.
func openModel(path string) (*safetensors.File, error) {
	m := translator.Model{Path: path}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if kind, err := convert.Detect(path); err == nil {
		return nil, fmt.Errorf("%s is a model of %s: 'tfm import -o MODEL %s' makes a model file of it", path, describeFormat(kind), cli.ShellWord(path))
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder without a model", path)
	}
	file, err := safetensors.Open(path)
	if err == nil {
		return file, nil
	}
	for line, lineErr := range text.Lines(path) {
		if lineErr == nil && !strings.Contains(line, "\x00") { // as the length of a header has
			err = fmt.Errorf("%s is a text file, expected a model", path)
		}
		break
	}
	return nil, err
}

// printJSON prints the header of a file of size bytes as a JSON object.
func printJSON(h model.Header, settings decode.Settings, size int64) error {
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Config     model.Config      `json:"config"`
		Decoding   decode.Settings   `json:"decoding"`
		SrcLang    string            `json:"src_lang,omitempty"`
		TgtLang    string            `json:"tgt_lang,omitempty"`
		Form       string            `json:"weights"`
		Info       map[string]string `json:"info,omitempty"`
		Bytes      int64             `json:"bytes"`
		Parameters int               `json:"parameters"`
	}{h.Config, settings, h.SrcLang, h.TgtLang, cmp.Or(h.Form, "float32"), h.Info, size, h.Config.CountParams()})
}

// labelColumns is the width of the labels of a header.
const labelColumns = 17

// header is the text of a header: rows of a label and a description.
type header struct{ strings.Builder }

// row adds a row, wrapped to the width of the terminal, unless its text is empty.
func (h *header) row(label, text string) {
	if text != "" {
		h.WriteString(terminal.Row(label+":", text, labelColumns, terminal.Width(os.Stdout)) + "\n")
	}
}

// unlessZero formats x, and returns "" if it is zero.
func unlessZero[T comparable](format string, x T) string {
	if x == *new(T) {
		return ""
	}
	return fmt.Sprintf(format, x)
}

// printHeader prints a configuration, which shows the chosen variant of the paper, the length
// penalty, the shortlist, which may be nil, the languages, the training and the given description
// of the file.
func printHeader(h model.Header, settings decode.Settings, list *decode.Shortlist, file string) error {
	var t header
	t.layers(h.Config)
	t.training(h.Config)
	t.translating(h, settings, list)
	t.row("trained", h.Info[training.InfoKey])
	t.row("written by", unlessZero("tfm %s", h.Info[training.VersionKey]))
	t.row("file", file)
	fmt.Fprintf(&t, "parameters: %s\n", format.Thousands(h.Config.CountParams()))
	_, err := os.Stdout.WriteString(t.String())
	return err
}

// layers adds the rows of the layers and embeddings.
func (h *header) layers(c model.Config) {
	biases := func(of model.Biases) string {
		if c.Biases == model.AllBiases || c.Biases == of {
			return "with biases"
		}
		return "without biases"
	}
	dk, dv := c.HeadSizes()
	sizes := fmt.Sprintf("d_k = d_v = %d", dk)
	if dk != dv {
		sizes = fmt.Sprintf("d_k = %d and d_v = %d", dk, dv)
	}
	sinusoids := map[model.Positions]string{
		model.Interleaved:  "sinusoids, sin at 2i and cos at 2i+1",
		model.Halves:       "sinusoids, sines in the first half and cosines in the second",
		model.TimingSignal: "sinusoids of tensor2tensor, in halves of rates 10000^(-i/(d/2-1))",
	}
	positions := fmt.Sprintf("%s, first position %d, at most %d", sinusoids[c.Positions], c.FirstPosition, c.MaxLen)
	if c.Positions == model.Learned {
		positions = fmt.Sprintf("learned, %d on each side", c.MaxLen)
	}
	scale, output := "times sqrt(d_model)", "no output bias"
	if c.Unscaled {
		scale = "not scaled"
	}
	if c.OutputBias {
		output = "with an output bias"
	}
	h.row("d_model", fmt.Sprint(c.DModel))
	h.row("heads", fmt.Sprintf("%d of %s, %s", c.Heads, sizes, biases(model.AttentionBiases)))
	h.row("d_ff", fmt.Sprintf("%d, %s, %s", c.DFF, c.Activation.Function(), biases(model.FeedForwardBiases)))
	h.row("layers", fmt.Sprintf("%d encoder, %d decoder", c.EncoderLayers, c.DecoderLayers))
	h.row("decoder", map[model.Autoreg]string{model.SSRU: "SSRU in the place of self-attention"}[c.Autoreg])
	h.row("norm", normInfo(c))
	h.row("positions", positions)
	h.row("source", unlessZero("%s", c.Source.Description()))
	h.row("target", map[bool]string{true: "its language first"}[c.TargetBegins])
	h.row("embeddings", fmt.Sprintf("%s, tied: %s, %s", scale, c.Tie, output))
}

// training adds the rows of what only training needs.
func (h *header) training(c model.Config) {
	over := "over the other entries of the vocabulary"
	if c.Smoothing == model.SmoothAll {
		over = "over all entries of the vocabulary"
	}
	init, _ := c.Init.MarshalText()
	h.row("dropout", fmt.Sprintf("%v, on embeddings + positions and each sublayer's output", c.Dropout)+
		unlessZero("; %v on the weights of attention", c.AttentionDropout)+unlessZero("; %v inside feed-forward networks", c.FFDropout))
	h.row("label smoothing", fmt.Sprintf("%v, %s", c.LabelSmoothing, over))
	h.row("init", string(init))
}

// translating adds the rows of the vocabularies and the search.
func (h *header) translating(m model.Header, d decode.Settings, list *decode.Shortlist) {
	c := m.Config
	if c.SrcVocab == c.TgtVocab {
		h.row("vocabulary", format.Thousands(c.SrcVocab)+" pieces")
	} else {
		h.row("vocabularies", fmt.Sprintf("%s pieces of the source, %s of the target", format.Thousands(c.SrcVocab), format.Thousands(c.TgtVocab)))
	}
	divisor := map[string]string{decode.PenaltyWu: "((5+n)/6)^%v", decode.PenaltyPower: "n^%v"}[d.LengthPenalty]
	h.row("length penalty", fmt.Sprintf("%s, "+divisor+" for n tokens with EOS", d.LengthPenalty, d.Alpha))
	h.row("beam", unlessZero("%d", d.Beam))
	h.row("length limit", unlessZero("%v target tokens for each source token, EOS counted in both", d.LengthFactor)+unlessZero("%v target tokens", d.MaxTokens))
	if d.SplitSentences {
		h.row("sentences", "translated separately")
	}
	h.row("suppressed", unlessZero("pieces %s of the target are in the softmax but not in translations", d.Suppressed))
	h.row("alignments", unlessZero("attention of heads %s (layer.head, from 0)", d.AlignHeads))
	if list != nil {
		more := float64(len(list.Pieces)) / float64(c.SrcVocab)
		use := map[bool]string{true: "; in use unless -shortlist=false", false: "; in use with -shortlist"}[d.Shortlist]
		h.row("shortlist", fmt.Sprintf("%s in every list, and for a source piece %.1f more on average", format.Count(len(list.Always), "piece"), more)+use)
	}
	if m.SrcLang != "" || m.TgtLang != "" {
		h.row("languages", fmt.Sprintf("%s to %s", cmp.Or(m.SrcLang, "unknown"), cmp.Or(m.TgtLang, "unknown")))
	}
	if from := unlessZero("one of %s", c.SrcLanguages.Codes()); c.SrcLanguages == c.TgtLanguages {
		h.row("-from, -to", from)
	} else {
		h.row("-from", from)
		h.row("-to", unlessZero("one of %s", c.TgtLanguages.Codes()))
	}
}

// normInfo describes the norms and their places.
func normInfo(c model.Config) string {
	kinds := map[model.NormKind][2]string{ // name and formula
		model.LayerNorm:    {"LayerNorm", "biased variance, eps %v in the root"},
		model.UnbiasedNorm: {"Norm", "(x - mean)/(unbiased deviation + eps), eps %v"},
		model.RMSNorm:      {"RMSNorm", "no mean, no bias, eps %v in the root"},
	}
	norm := kinds[c.NormKind]
	var where string
	switch c.Norm {
	case model.PostNorm:
		where = fmt.Sprintf("post-norm, %s(x + Dropout(Sublayer(x)))", norm[0])
	case model.PreNorm:
		where = fmt.Sprintf("pre-norm, x + Dropout(Sublayer(%s(x)))", norm[0])
	case model.DeepNorm:
		encAlpha, encBeta, decAlpha, decBeta := c.DeepNormScales()
		where = fmt.Sprintf("DeepNorm, %s(α·x + Dropout(Sublayer(x))), α %.4g and %.4g, β %.4g and %.4g in encoder and decoder", norm[0], encAlpha, decAlpha, encBeta, decBeta)
	}
	final := "none after the stacks"
	if c.HasFinalNorm() {
		final = "one after each stack"
	}
	return fmt.Sprintf("%s, "+norm[1]+", %s", where, c.NormEps, final)
}
