package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"tfm/internal/strict"
	"tfm/model"
	"tfm/model/safetensors"
)

// The length penalties, by which the log-probability of a translation of n tokens, EOS counted, is
// divided.
const (
	PenaltyWu    = "wu"    // ((5+n)/6)^alpha: Wu et al. (2016), equation 14, and the paper
	PenaltyPower = "power" // n^alpha; the score with alpha 1 is the mean over the tokens
)

// The searches, which differ in when they end. Searches other than SearchFinished let truncated
// hypotheses compete with finished ones.
const (
	SearchFinished  = ""          // when as many hypotheses as the beam has are finished
	SearchShrinking = "shrinking" // every finished hypothesis leaves one fewer live; Marian's
	SearchHeuristic = "heuristic" // when no live one would enter the list now; transformers'
	SearchExact     = "exact"     // when no live one can enter the list at any length
)

// Settings holds the settings of beam search and of alignments that suit the weights of a model. A
// model file contains them, and package translate uses them by default.
type Settings struct {
	LengthPenalty string  `json:"length_penalty"`        // PenaltyWu or PenaltyPower
	Alpha         float64 `json:"alpha"`                 // exponent of the length penalty, 0 to 10
	Search        string  `json:"search,omitempty"`      // SearchFinished or another of these
	AlignHeads    string  `json:"align_heads,omitempty"` // see ParseAlignHeads
	Beam          int     `json:"beam,omitempty"`        // hypotheses, 1 to MaxBeam; 0 is 4

	// LengthFactor is the limit of the tokens of a translation, divided by those of its source,
	// EOS counted in both, up to MaxLengthFactor. 0 is the limit of the paper: 50 tokens more
	// than the source.
	LengthFactor float64 `json:"length_factor,omitempty"`

	// MaxTokens is the limit of the tokens of a translation, without EOS, in the place of
	// LengthFactor and the limit of the paper. 0 is none.
	MaxTokens int `json:"max_tokens,omitempty"`

	// Suppressed lists the ids of the target pieces that no search selects, see
	// ParseSuppressed: those that the model was trained to use but a translation cannot
	// contain, for example the unknown piece. The softmax includes them.
	Suppressed string `json:"suppressed,omitempty"`

	// Shortlist selects the Shortlist of the file, as the makers of the model do.
	Shortlist bool `json:"shortlist,omitempty"`

	// SplitSentences says that few lines of the training data had several sentences, so that
	// the sentences of a text are translated separately.
	SplitSentences bool `json:"split_sentences,omitempty"`

	// UnnormedKeys reproduces Marian's decoder in pre-norm models: from the second token on,
	// keys and values of its self-attention are those of inputs without their norm, although
	// the model was trained with it.
	UnnormedKeys bool `json:"unnormed_keys,omitempty"`
}

// Limits of Settings.Beam, which limits memory and time of a source, and Settings.LengthFactor.
const (
	MaxBeam         = 64
	MaxLengthFactor = 1000
)

// PaperSettings returns the paper's settings (section 6.1).
func PaperSettings() Settings { return Settings{LengthPenalty: PenaltyWu, Alpha: 0.6} }

// Validate reports the first invalid field, as a *model.FieldError.
func (d Settings) Validate() error {
	switch {
	case d.LengthPenalty != PenaltyWu && d.LengthPenalty != PenaltyPower:
		return &model.FieldError{Field: "length_penalty", Found: d.LengthPenalty, Expected: PenaltyWu + " or " + PenaltyPower}
	case !(d.Alpha >= 0 && d.Alpha <= 10):
		return &model.FieldError{Field: "alpha", Found: d.Alpha, Expected: "0 to 10"}
	case !slices.Contains([]string{SearchFinished, SearchShrinking, SearchHeuristic, SearchExact}, d.Search):
		return &model.FieldError{Field: "search", Found: d.Search, Expected: fmt.Sprintf("%q, %s, %s or %s", SearchFinished, SearchShrinking, SearchHeuristic, SearchExact)}
	case d.Beam < 0 || d.Beam > MaxBeam:
		return &model.FieldError{Field: "beam", Found: d.Beam, Expected: fmt.Sprintf("1 to %d, or 0 for 4", MaxBeam)}
	case !(d.LengthFactor >= 0 && d.LengthFactor <= MaxLengthFactor):
		return &model.FieldError{Field: "length_factor", Found: d.LengthFactor, Expected: fmt.Sprintf("above 0, up to %d, or 0 for none", MaxLengthFactor)}
	}
	if d.MaxTokens < 0 || d.MaxTokens > 0 && d.LengthFactor > 0 {
		return &model.FieldError{Field: "max_tokens", Found: d.MaxTokens, Expected: "1 or more without a length_factor, or 0 for none"}
	}
	if _, err := ParseAlignHeads(d.AlignHeads); err != nil {
		return err
	}
	_, err := ParseSuppressed(d.Suppressed)
	return err
}

// ValidateFor reports the first setting that does not suit a model of configuration c, as a
// *model.FieldError. d must be valid.
func (d Settings) ValidateFor(c model.Config) error {
	if d.UnnormedKeys && c.Norm != model.PreNorm {
		return &model.FieldError{Field: "unnormed_keys", Found: true, Expected: "false without pre-norm"}
	}
	heads, err := ParseAlignHeads(d.AlignHeads)
	if err != nil {
		return err
	}
	if err := heads.Validate(c); err != nil {
		return err
	}
	ids, err := ParseSuppressed(d.Suppressed)
	if err != nil {
		return err
	}
	if n := len(ids); n > 0 && int(ids[n-1]) >= c.TgtVocab {
		return &model.FieldError{Field: "suppressed", Found: ids[n-1], Expected: fmt.Sprintf("ids below %d, the size of the target vocabulary", c.TgtVocab)}
	}
	return nil
}

// CopyWithSettings writes a copy of the model file at path, of any form, with other settings to
// out. The error is that of a damaged file, which it names, or of invalid settings.
func CopyWithSettings(path, out string, d Settings) error {
	if err := d.Validate(); err != nil {
		return err
	}
	return model.CopyFile(path, out, func(h *model.Header, tensors []safetensors.Tensor) ([]safetensors.Tensor, error) {
		h.Decoding = d.String()
		return tensors, nil
	})
}

// String returns the settings as JSON, for model.File.Decoding.
func (d Settings) String() string {
	text, err := json.Marshal(d)
	if err != nil { // NaN, which is not valid
		panic(err)
	}
	return string(text)
}

// ParseSettings returns the settings in model.File.Decoding, the paper's if it is "". Errors begin
// with the name of the key.
func ParseSettings(text string) (Settings, error) {
	if text == "" {
		return PaperSettings(), nil
	}
	d := Settings{Alpha: math.NaN()} // which JSON cannot contain
	err := strict.Unmarshal([]byte(text), &d)
	switch {
	case err == nil && math.IsNaN(d.Alpha):
		err = errors.New("alpha is missing")
	case err == nil:
		err = d.Validate()
	}
	if err != nil {
		return d, fmt.Errorf("decoding: %w", err)
	}
	return d, nil
}
