package model

import (
	"slices"

	"tfm/layer"
)

// In returns an alias of t whose linear maps and Output compute in precision r. Both share their
// weights and gradients, which must have been allocated: a Pass of the alias can train in
// layer.BF16 while a Pass of t evaluates in float32, the precision of decoding.
func (t *Transformer) In(r layer.Precision) *Transformer {
	u := *t
	u.Encoder, u.Decoder = slices.Clone(t.Encoder), slices.Clone(t.Decoder)
	for i := range u.Encoder {
		l := &u.Encoder[i]
		l.Self, l.FF = l.Self.In(r), l.FF.In(r)
	}
	for i := range u.Decoder {
		l := &u.Decoder[i]
		l.Cross, l.FF = l.Cross.In(r), l.FF.In(r)
		if l.SSRU != nil {
			ssru := l.SSRU.In(r)
			l.SSRU = &ssru
		} else {
			l.Self = l.Self.In(r)
		}
	}
	u.Output.Precision = r
	return &u
}
