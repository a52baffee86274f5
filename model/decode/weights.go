package decode

import (
	"tfm/mat"
	"tfm/model"
)

// Weights are a model's weights prepared for decoding. They are made once, do not change, and may
// be shared by any number of States and Decoders on any goroutines.
//
// They alias the weights of the Transformer that they were made from and add only what is derived:
// the output projection transposed, 4·d_model·V bytes. Whoever changes the Transformer's weights
// must call Refresh before the next step, and nobody may decode meanwhile.
type Weights struct {
	model  *model.Transformer
	output mat.Matrix // [d × V] the output projection transposed: a step reads it along rows
}

// NewWeights prepares the weights of t, which must have been allocated, on the threads of p.
func NewWeights(t *model.Transformer, p *mat.Pool) *Weights {
	e := t.Output.E.Weights()
	w := &Weights{t, mat.New(e.Cols, e.Rows)}
	w.Refresh(p)
	return w
}

// Refresh derives again what depends on the Transformer's weights, in the same memory: for
// validation, whose weights change between uses.
func (w *Weights) Refresh(p *mat.Pool) {
	mat.Transpose(p, w.output, w.model.Output.E.Weights())
}
