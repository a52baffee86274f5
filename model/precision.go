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
	u.encoder, u.decoder = slices.Clone(t.encoder), slices.Clone(t.decoder)
	for i := range u.encoder {
		l := &u.encoder[i]
		l.self, l.ff = l.self.In(r), l.ff.In(r)
	}
	for i := range u.decoder {
		l := &u.decoder[i]
		l.self, l.cross, l.ff = l.self.In(r), l.cross.In(r), l.ff.In(r)
	}
	u.project.Precision = r
	return &u
}
