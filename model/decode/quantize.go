package decode

import (
	"math"

	"tfm/mat"
	"tfm/model"
)

// Quantize returns the content of f with matrices in int8, on the threads of p. Those of
// model.File.Steps keep their multiples as integers, so that no rounding is added; others are
// rounded as Load rounds them. The error is that of the settings or the shortlist of f.
func Quantize(f model.File, p *mat.Pool) (File, error) {
	settings, err := ParseSettings(f.Decoding)
	if err != nil {
		return File{}, err
	}
	list, err := ReadShortlist(f.Shortlist, f.Model.Config)
	if err != nil {
		return File{}, err
	}
	w := NewWeightsInt8(f.Model, p)
	for _, m := range w.matrices {
		if steps := f.Steps[m.param.Name]; steps != nil {
			m.setMultiples(p, steps)
		}
	}
	w.SetUnnormedKeys(settings.UnnormedKeys)
	h := model.Header{Config: f.Model.Config, SrcLang: f.SrcLang, TgtLang: f.TgtLang, Info: f.Info}
	return File{Header: h, Settings: settings, Weights: w, Tokenizers: f.Tokenizers, Shortlist: list}, nil
}

// setMultiples sets m to the multiples of the steps of its columns, unless a column has none.
func (m *weightMatrix) setMultiples(p *mat.Pool, steps []float32) {
	b := m.source()
	multiples := make([]int8, b.Rows*b.Cols)
	for j, step := range steps {
		if step == 0 {
			return
		}
		for l := range b.Rows {
			multiples[j*b.Rows+l] = int8(math.RoundToEven(float64(b.At(l, j)) / float64(step)))
		}
	}
	m.int8 = mat.PackInt8(p, multiples, steps, b.Rows, b.Cols)
}
