package decode

import "tfm/mat"

// newestTokens is the mixer of a decode step: it takes the newest token of each row's hypothesis
// through the decoder, with what layers keep of the tokens before.
type newestTokens struct {
	*stack
	*sourceSet
	states []layerState // of each decoder layer

	stepRows         // those of the worker
	tokens   []int32 // newest token of each row
	groups   []rowGroup
	touched  []touchedPage // of all groups
}

// layerState is the first sublayer of a decoder layer, and what it keeps of hypotheses: the keys
// and values of their tokens in pages, or the state of a recurrent cell after the last token.
type layerState interface {
	// advance computes the sublayer for the newest token of each row, whose input is x [rows × d],
	// and stores what later tokens need. Its results are those of mixer.self.
	advance(x mat.Matrix) (y mat.Matrix, out *linear)
}

// begin allocates the activations of rows and embeds their tokens.
func (s *newestTokens) begin(rows stepRows) {
	s.stepRows = rows
	s.groupRows()
	s.alloc(len(s.rows), true)
	s.tokens, s.positions = s.tokens[:0], s.positions[:0]
	for _, r := range s.rows {
		n := &s.encoded[r.source].nodes[r.node]
		s.tokens, s.positions = append(s.tokens, n.token), append(s.positions, n.position)
	}
	s.embed(&s.w.target, s.tokens)
}

func (s *newestTokens) self(layer int, x mat.Matrix) (y mat.Matrix, out *linear) {
	return s.states[layer].advance(x)
}

func (s *newestTokens) cross(layer int, x mat.Matrix) (y mat.Matrix, out *linear) {
	l := &s.w.decoder[layer]
	l.q.mul(s.pool, s.act.q, x, mat.Identity)
	s.attendCross(layer)
	return s.act.ctx, &l.crossOut
}
