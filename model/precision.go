package model

import (
	"slices"

	"tfm/layer"
)

// In returns a view of t, which must have been allocated, whose linear maps and output projection are computed in another
// precision: what one of them trains are the weights of both. A pass of the view trains in layer.BF16 while one of t evaluates as
// everyone will who uses the model, in float32.
func (t *Transformer) In(r layer.Precision) *Transformer {
	u := *t
	u.Encoder, u.Decoder = slices.Clone(t.Encoder), slices.Clone(t.Decoder)
	for i := range u.Encoder {
		l := &u.Encoder[i]
		l.Self, l.FF = l.Self.In(r), l.FF.In(r)
	}
	for i := range u.Decoder {
		l := &u.Decoder[i]
		l.Self, l.Cross, l.FF = l.Self.In(r), l.Cross.In(r), l.FF.In(r)
	}
	u.Output.Precision = r
	return &u
}
