package model

import (
	"errors"
	"fmt"
	"strings"
)

// Ids that every vocabulary begins with.
const (
	Pad = 0 // stands in padded batches of other systems; never occurs in a ragged one
	BOS = 1 // begins what the decoder is given
	EOS = 2 // ends every source and every target
)

// Which of the three matrices of section 3.4 are one: source embedding, target embedding, output projection.
const (
	TieAll     = "all"     // all three (the paper); needs one joint vocabulary
	TieDecoder = "decoder" // target embedding and output projection
	TieNone    = "none"
)

// Config describes a model. It is stored in the model file as JSON.
type Config struct {
	DModel         int     `json:"d_model"`        // d, the width of every layer's input and output
	Heads          int     `json:"heads"`          // h; d_k = d_v = d/h
	DFF            int     `json:"d_ff"`           // inner width of the feed-forward network
	EncoderLayers  int     `json:"encoder_layers"` // N of the encoder
	DecoderLayers  int     `json:"decoder_layers"` // N of the decoder
	Dropout        float32 `json:"dropout"`        // P_drop, on embeddings + positions and on each sublayer's output
	LabelSmoothing float32 `json:"label_smoothing"`
	SrcVocab       int     `json:"src_vocab"`
	TgtVocab       int     `json:"tgt_vocab"`
	Tie            string  `json:"tie"`      // TieAll, TieDecoder or TieNone
	NormEps        float32 `json:"norm_eps"` // added to the variance, inside the root
	MaxLen         int     `json:"max_len"`  // most tokens of a sentence, with its end mark: the length of the table of positions
}

// presets are in the order in which they are listed.
var presets = []struct {
	name   string
	config Config
}{
	// Table 3 of the paper.
	{"base", Config{DModel: 512, Heads: 8, DFF: 2048, EncoderLayers: 6, DecoderLayers: 6, Dropout: 0.1}},
	{"big", Config{DModel: 1024, Heads: 16, DFF: 4096, EncoderLayers: 6, DecoderLayers: 6, Dropout: 0.3}},
	// Wu et al. (ACL 2021), for corpora of some tens of thousands of sentences.
	{"tiny", Config{DModel: 128, Heads: 4, DFF: 256, EncoderLayers: 4, DecoderLayers: 4, Dropout: 0.3}},
	// For some hundred thousand sentences on an ordinary CPU.
	{"small", Config{DModel: 256, Heads: 4, DFF: 1024, EncoderLayers: 4, DecoderLayers: 4, Dropout: 0.1}},
	// What `tfm demo` trains in about half a minute.
	{"demo", Config{DModel: 128, Heads: 4, DFF: 256, EncoderLayers: 2, DecoderLayers: 2, Dropout: 0}},
}

// PresetNames lists the presets.
func PresetNames() []string {
	var names []string
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Preset returns the configuration of that name. The vocabularies are left at 0 for the caller to set.
func Preset(name string) (Config, error) {
	for _, p := range presets {
		if p.name == name {
			c := p.config
			c.LabelSmoothing, c.Tie, c.NormEps, c.MaxLen = 0.1, TieAll, 1e-5, 1024
			return c, nil
		}
	}
	return Config{}, fmt.Errorf("unknown preset %q; there are %s", name, strings.Join(PresetNames(), ", "))
}

// Validate reports the first field that makes no sense, with what was found and what was expected.
func (c Config) Validate() error {
	upTo := func(most int, name string, v int) error {
		if v < 1 || v > most {
			return fmt.Errorf("%s is %d, must be 1 to %d", name, v, most)
		}
		return nil
	}
	fraction := func(name string, v float32) error {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("%s is %v, must be at least 0 and below 1", name, v)
		}
		return nil
	}
	if err := errors.Join(
		// Beyond these bounds is a mistake, or a file that wants to exhaust memory.
		upTo(1<<20, "d_model", c.DModel), upTo(1<<20, "heads", c.Heads), upTo(1<<24, "d_ff", c.DFF),
		upTo(1000, "encoder_layers", c.EncoderLayers), upTo(1000, "decoder_layers", c.DecoderLayers),
		upTo(1<<16, "max_len", c.MaxLen), fraction("dropout", c.Dropout), fraction("label_smoothing", c.LabelSmoothing),
	); err != nil {
		return firstLine(err)
	}
	switch {
	case c.DModel%c.Heads != 0:
		return fmt.Errorf("d_model is %d, which is not divisible by %d heads", c.DModel, c.Heads)
	case c.SrcVocab <= EOS+1 || c.TgtVocab <= EOS+1 || c.SrcVocab > 1<<24 || c.TgtVocab > 1<<24:
		return fmt.Errorf("vocabularies are %d and %d, must have more than %d entries and at most %d", c.SrcVocab, c.TgtVocab, EOS+1, 1<<24)
	case c.Tie != TieAll && c.Tie != TieDecoder && c.Tie != TieNone:
		return fmt.Errorf("tie is %q, must be %s, %s or %s", c.Tie, TieAll, TieDecoder, TieNone)
	case c.Tie == TieAll && c.SrcVocab != c.TgtVocab:
		return fmt.Errorf("tie is %q with vocabularies of %d and %d: one shared matrix needs one joint vocabulary", c.Tie, c.SrcVocab, c.TgtVocab)
	case !(c.NormEps > 0 && c.NormEps < 1):
		return fmt.Errorf("norm_eps is %v, must be above 0 and below 1", c.NormEps)
	}
	return nil
}

func firstLine(err error) error {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(line)
}

// CountParams is the number of weights, found without allocating them. The Config must be valid.
func (c Config) CountParams() int {
	t := declare(c)
	return t.Params.Count()
}
