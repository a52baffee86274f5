package model

// The length penalties, by which the log-probability of a translation of n tokens, EOS counted, is
// divided.
const (
	PenaltyWu    = "wu"    // ((5+n)/6)^alpha: Wu et al. (2016), equation 14, and the paper
	PenaltyPower = "power" // n^alpha; the score with alpha 1 is the mean over the tokens
)

// Decoding holds the settings of beam search that suit the weights of a model. A model file
// contains them, and package translate uses them by default.
type Decoding struct {
	LengthPenalty string  `json:"length_penalty"` // PenaltyWu or PenaltyPower
	Alpha         float64 `json:"alpha"`          // exponent of the length penalty, 0 to 10
}

// PaperDecoding returns the paper's settings (section 6.1).
func PaperDecoding() Decoding { return Decoding{LengthPenalty: PenaltyWu, Alpha: 0.6} }

// Validate reports the first invalid field, as a *FieldError.
func (d Decoding) Validate() error {
	if d.LengthPenalty != PenaltyWu && d.LengthPenalty != PenaltyPower {
		return &FieldError{Field: "length_penalty", Found: d.LengthPenalty, Expected: PenaltyWu + " or " + PenaltyPower}
	}
	if !(d.Alpha >= 0 && d.Alpha <= 10) {
		return &FieldError{Field: "alpha", Found: d.Alpha, Expected: "0 to 10"}
	}
	return nil
}
