package model

import (
	"fmt"

	"tfm/model/safetensors"
)

// The length penalties, by which the log-probability of a translation of n tokens, EOS counted, is
// divided.
const (
	PenaltyWu    = "wu"    // ((5+n)/6)^alpha: Wu et al. (2016), equation 14, and the paper
	PenaltyPower = "power" // n^alpha; the score with alpha 1 is the mean over the tokens
)

// Decoding holds the settings of beam search and of alignments that suit the weights of a model. A
// model file contains them, and package translate uses them by default.
type Decoding struct {
	LengthPenalty string  `json:"length_penalty"`        // PenaltyWu or PenaltyPower
	Alpha         float64 `json:"alpha"`                 // exponent of the length penalty, 0 to 10
	AlignHeads    string  `json:"align_heads,omitempty"` // see ParseAlignHeads
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
	_, err := ParseAlignHeads(d.AlignHeads)
	return err
}

// CopyWithDecoding writes a copy of the model file at path, of any form, with other settings to
// out. The error is that of a damaged file, which it names, or of invalid settings.
func CopyWithDecoding(path, out string, d Decoding) error {
	if err := d.Validate(); err != nil {
		return err
	}
	return copyFile(path, out, func(h *Header, tensors []safetensors.Tensor) ([]safetensors.Tensor, error) {
		h.Decoding = d
		return tensors, nil
	})
}

// copyFile writes a copy of the model file at path, of any form, to out, with the changes that
// change makes to its header and tensors.
func copyFile(path, out string, change func(*Header, []safetensors.Tensor) ([]safetensors.Tensor, error)) error {
	s, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Verify(); err != nil {
		return err
	}
	h, err := DecodeHeader(s.Metadata())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tensors, err := change(&h, s.Tensors())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	meta, err := h.Encode()
	if err != nil {
		return err
	}
	return safetensors.Write(out, meta, tensors)
}
