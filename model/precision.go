package model

import (
	"slices"

	"tfm/layer"
)

// In returns an alias of t, which must have been allocated, whose linear maps and Output compute in
// another precision. Both have the same weights: a pass of the alias can train in layer.BF16 while
// one of t evaluates in float32, as the model will be used.
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
