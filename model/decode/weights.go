package decode

import (
	"tfm/mat"
	"tfm/model"
)

// Weights are the weights of a model in the form that decoding needs. Any number of States and
// Decoders, on any goroutines, may share them.
//
// Weights alias the weights of a Transformer and add one derived matrix, the transposed output
// projection of 4·d_model·V bytes. After a change of the Transformer's weights the caller must
// call Refresh before the next step. No goroutine may decode during the change or Refresh.
type Weights struct {
	model  *model.Transformer
	output mat.Matrix // [d × V] transposed output projection, whose rows a step reads contiguously
}

// NewWeights returns the Weights of t, whose memory must have been allocated, on the threads of p.
func NewWeights(t *model.Transformer, p *mat.Pool) *Weights {
	e := t.Output.E.Weights()
	w := &Weights{t, mat.New(e.Cols, e.Rows)}
	w.Refresh(p)
	return w
}

// Refresh updates the derived matrix from the Transformer's weights, in the same memory. Validation
// calls it because training changes the weights.
func (w *Weights) Refresh(p *mat.Pool) {
	mat.Transpose(p, w.output, w.model.Output.E.Weights())
}
