// Package bench is the work that benchmarks of whole programs measure, and what they say about it: what `tfm bench` prints
// and what `go test -bench Step` repeats.
//
// The machine's limits are in machine.go, matrix products in products.go, training steps in training.go and the lengths of
// their sentences in lengths.go, decoding in decoding.go; figure.go has the median of several rounds, memory.go the
// peak memory of the process.
package bench

import "cmp"

// Report is what `tfm bench -json` writes. Names of fields stay as they are, new ones may be added. Rates are per second, memory is in
// bytes, shares are 0 to 1.
type Report struct {
	Version  string         `json:"version"`
	Quick    bool           `json:"quick"` // one round of everything
	Machine  Machine        `json:"machine"`
	Limits   []Limits       `json:"limits,omitempty"`
	Products []ProductSpeed `json:"gemm,omitempty"`
	Training []StepSpeed    `json:"training,omitempty"`
	Decoding []DecodeSpeed  `json:"decoding,omitempty"`
}

// Add appends the figures of o.
func (r *Report) Add(o Report) {
	r.Limits = append(r.Limits, o.Limits...)
	r.Products = append(r.Products, o.Products...)
	r.Training = append(r.Training, o.Training...)
	r.Decoding = append(r.Decoding, o.Decoding...)
}

// precision names what products are computed in.
func precision(bf16 bool) string {
	if bf16 {
		return "bf16"
	}
	return "float32"
}

// part is how much of a limit is reached, 0 if the limit is not known.
func part(of, limit Figure) float64 { return of.Median / cmp.Or(limit.Median, 1e300) }
