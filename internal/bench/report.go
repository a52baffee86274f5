package bench

// Report is the output of `tfm bench -json`. New fields may be added; existing names do not
// change. Rates are per second, memory is in bytes, shares are 0 to 1.
type Report struct {
	Version  string        `json:"version"`
	Quick    bool          `json:"quick"` // one round of everything
	Machine  Machine       `json:"machine"`
	Limits   []Limits      `json:"limits,omitempty"`
	Training []StepSpeed   `json:"training,omitempty"`
	Decoding []DecodeSpeed `json:"decoding,omitempty"`
}

// Add appends the figures of o.
func (r *Report) Add(o Report) {
	r.Limits = append(r.Limits, o.Limits...)
	r.Training = append(r.Training, o.Training...)
	r.Decoding = append(r.Decoding, o.Decoding...)
}
