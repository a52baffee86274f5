package convert

import (
	"math"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

var minusInf = float32(math.Inf(-1))

// Both forms of Marian's models have the same layers under other names. A layerVisitor reads or
// writes the layers of a model.
type layerVisitor interface {
	// linear is for columns [first, first+out) of l: the named linear map, in → out.
	linear(l layer.Linear, first, out int, name string) error
	norm(l layer.Norm, name string) error
}

// layerNames are the names of the parts of layers in a source.
type layerNames struct {
	encoder, decoder func(i int) string // prefixes of layer i, from 0
	self, cross      [4]string          // queries, keys, values and output
	selfNorm         string
	crossNorm        string
	inner, outer     string
	ffNorm           string
}

// eachLayer calls r for all parts of the encoder's and the decoder's layers of m.
func eachLayer(v layerVisitor, m *model.Transformer, n layerNames) error {
	steps := layerSteps{visitor: v}
	for i := range m.Encoder {
		l, p := &m.Encoder[i], n.encoder(i)
		steps.self(l.Self, p, n.self)
		steps.norm(l.Norm1, p+n.selfNorm)
		steps.feedForward(l.FF, p+n.inner, p+n.outer)
		steps.norm(l.Norm2, p+n.ffNorm)
	}
	for i := range m.Decoder {
		l, p := &m.Decoder[i], n.decoder(i)
		steps.self(l.Self, p, n.self)
		steps.norm(l.Norm1, p+n.selfNorm)
		steps.cross(l.Cross, p, n.cross)
		steps.norm(l.Norm2, p+n.crossNorm)
		steps.feedForward(l.FF, p+n.inner, p+n.outer)
		steps.norm(l.Norm3, p+n.ffNorm)
	}
	return steps.err
}

// layerSteps calls a layerVisitor until its first error.
type layerSteps struct {
	visitor layerVisitor
	err     error
}

func (s *layerSteps) linear(l layer.Linear, first, out int, name string) {
	if s.err == nil {
		s.err = s.visitor.linear(l, first, out, name)
	}
}

func (s *layerSteps) norm(l layer.Norm, name string) {
	if s.err == nil {
		s.err = s.visitor.norm(l, name)
	}
}

func (s *layerSteps) self(l attn.Self, prefix string, names [4]string) {
	d := l.Heads * l.DK
	for i, name := range names[:3] {
		s.linear(l.QKV, i*d, d, prefix+name)
	}
	s.linear(l.Out, 0, d, prefix+names[3])
}

func (s *layerSteps) cross(l attn.Cross, prefix string, names [4]string) {
	d := l.Heads * l.DK
	s.linear(l.Q, 0, d, prefix+names[0])
	s.linear(l.KV, 0, d, prefix+names[1])
	s.linear(l.KV, d, d, prefix+names[2])
	s.linear(l.Out, 0, d, prefix+names[3])
}

func (s *layerSteps) feedForward(l layer.FeedForward, inner, outer string) {
	s.linear(l.Inner, 0, l.Inner.W.Shape[1], inner)
	s.linear(l.Outer, 0, l.Outer.W.Shape[1], outer)
}

// setColumns sets columns of l [in × …] from first to w [in × out] and b [out].
func setColumns(l layer.Linear, first int, w mat.Matrix, b []float32) {
	to := l.W.Weights().ColRange(first, first+w.Cols)
	for i := range w.Rows {
		for j := range w.Cols {
			to.Row(i)[j] = w.At(i, j)
		}
	}
	copy(l.B.W[first:], b)
}
