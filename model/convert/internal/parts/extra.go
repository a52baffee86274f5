package parts

import (
	"math"

	"tfm/model"
	"tfm/model/decode"
)

// Extra is the value of "tfm" in the config.json of ctranslate2.Write and hf.Write: the
// parts of a model file that the format has no place for. Other programs ignore it.
type Extra struct {
	Config   model.Config      `json:"config"`
	Decoding decode.Settings   `json:"decoding"`
	SrcLang  string            `json:"src_lang,omitempty"`
	TgtLang  string            `json:"tgt_lang,omitempty"`
	Info     map[string]string `json:"info,omitempty"`

	// Bias is the output bias of Pad and BOS, in whose place the format has -Inf; nil if the
	// model has no output bias.
	Bias []float32 `json:"output_bias,omitempty"`
}

func NewExtra(f model.File) *Extra {
	settings, _ := decode.ParseSettings(f.Decoding) // a reader ignores those that are not valid
	x := &Extra{Config: f.Model.Config, Decoding: settings, SrcLang: f.SrcLang, TgtLang: f.TgtLang, Info: f.Info}
	if b := f.Model.Output.Bias; b != nil {
		for _, v := range b.W[:model.EOS] {
			if math.IsInf(float64(v), 0) || math.IsNaN(float64(v)) {
				return x
			}
		}
		x.Bias = b.W[:model.EOS]
	}
	return x
}

// Apply sets the fields of c that only training uses to those of the model that was written, unless
// that was another model.
func (x *Extra) Apply(c *model.Config) {
	same := x.Config
	same.Dropout, same.AttentionDropout, same.FFDropout = c.Dropout, c.AttentionDropout, c.FFDropout
	same.LabelSmoothing, same.Smoothing, same.Init = c.LabelSmoothing, c.Smoothing, c.Init
	if x.Config.Source == model.ToFirst && c.Source == model.EOSLast {
		same.Source, same.TgtLanguages = c.Source, c.TgtLanguages // tokens of a tokenizer of tfm
	}
	if x.Config.Heads > 0 && x.Config.HasFinalNorm() == c.HasFinalNorm() {
		same.FinalNorm = c.FinalNorm
		dk, dv := x.Config.HeadSizes()
		if k, v := c.HeadSizes(); k == dk && v == dv {
			same.DK, same.DV = c.DK, c.DV
		}
	}
	if same == *c && x.Config.Validate() == nil {
		*c = x.Config
	}
}

// ApplyFile sets the rest of f.
func (x *Extra) ApplyFile(f *model.File) {
	if f.Model.Config != x.Config {
		return // of another model
	}
	if x.Decoding.Validate() == nil && x.Decoding.ValidateFor(x.Config) == nil {
		f.Decoding = x.Decoding.String()
	}
	if src, tgt, err := model.CanonicalLanguages(x.SrcLang, x.TgtLang); err == nil {
		f.SrcLang, f.TgtLang = src, tgt
	}
	f.Info = x.Info
	if b := f.Model.Output.Bias; b != nil && len(x.Bias) == int(model.EOS) {
		copy(b.W, x.Bias)
	}
}
