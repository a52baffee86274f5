package decode

import (
	"slices"

	"tfm/mat"
)

// newestTokens is the mixer of a decode step: it takes the newest token of each row's hypothesis
// through the decoder, with what layers keep of the tokens before.
type newestTokens struct {
	*stack
	*sourceSet
	states []layerState // of each decoder layer

	rows        []treeRow
	lanes       [][]int32 // of each row's hypothesis, in order of position
	lanesData   []int32
	stepSources []int32 // handles of the sources that have rows
	tokens      []int32 // newest token of each row
	groups      []rowGroup
	touched     []touchedPage // of all groups

	keepWeights bool       // set weights in the step
	weights     mat.Matrix // see State.StepWeights
	weightsData []float32
}

// layerState is the first sublayer of a decoder layer, and what it keeps of hypotheses: the keys
// and values of their tokens in pages, or the state of a recurrent cell after the last token.
type layerState interface {
	// advance computes the sublayer for the newest token of each row, whose input is x [rows × d],
	// and stores what later tokens need. Its results are those of mixer.self.
	advance(x mat.Matrix) (y mat.Matrix, out *linear)
}

// begin allocates a step of rows, gives their last nodes lanes and embeds their tokens.
func (s *newestTokens) begin(rows []treeRow, keepWeights bool) {
	s.rows, s.lanes, s.stepSources = append(s.rows[:0], rows...), s.lanes[:0], s.stepSources[:0]
	if s.w.recurrent() {
		s.extendStates()
	} else {
		s.extendHypotheses()
	}
	s.groupRows()
	if s.keepWeights = keepWeights; keepWeights {
		s.allocWeights()
	}
	s.alloc(len(rows), true)
	s.tokens, s.positions = s.tokens[:0], s.positions[:0]
	for _, r := range rows {
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

// beginSource returns the source of a row, and adds it to s.stepSources at its first row.
func (s *newestTokens) beginSource(handle int32) *encodedSource {
	src := s.encoded[handle]
	if !src.stepping {
		src.stepping, s.stepSources = true, append(s.stepSources, handle)
	}
	return src
}

// extendHypotheses gives the last node of each row's hypothesis a lane, and sets s.lanes.
func (s *newestTokens) extendHypotheses() {
	lanes := 0
	for _, r := range s.rows {
		src := s.beginSource(r.source)
		src.keep(r.node)
		lanes += int(src.nodes[r.node].position) + 1
	}
	for _, h := range s.stepSources {
		s.encoded[h].discard(&s.pages)
	}
	s.lanesData = slices.Grow(s.lanesData[:0], lanes)[:lanes]
	rest := s.lanesData
	for _, r := range s.rows {
		src := s.encoded[r.source]
		src.extend(&s.pages, r.node)
		n := int(src.nodes[r.node].position) + 1
		src.lanes(rest[:n], r.node)
		s.lanes, rest = append(s.lanes, rest[:n]), rest[n:]
	}
	for _, h := range s.stepSources {
		s.encoded[h].stepping = false
		s.encoded[h].advance()
	}
}

// allocWeights allocates s.weights.
func (s *newestTokens) allocWeights() {
	longest := 0
	for _, r := range s.rows {
		longest = max(longest, s.encoded[r.source].tokens)
	}
	if c := &s.w.model.Config; !c.Source.HasBOS() && !c.Source.HasEOS() {
		longest++ // a column for EOS
	}
	s.weights = matrix(&s.weightsData, len(s.rows), longest)
}
