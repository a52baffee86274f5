package decode

import (
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// step is one decode step of some rows: it takes the newest token of each row's hypothesis through
// the decoder, with what layers keep of the tokens before. Its stages are begin, Weights.decode,
// whose mixer it is, and outputProjection.project.
type step struct {
	stepRows
	tokens  []int32 // newest token of each row
	groups  []rowGroup
	touched []touchedPage // of all groups

	sources *sourceSet
	weights *Weights
	scratch *scratch
}

// begin sets the rows and returns the embeddings of their newest tokens [rows × d].
func (s *step) begin(rows stepRows) mat.Matrix {
	s.stepRows = rows
	s.groupRows()
	s.scratch.alloc(s.weights, len(s.rows), true)
	s.tokens, s.scratch.positions = s.tokens[:0], s.scratch.positions[:0]
	for _, r := range s.rows {
		n := &s.sources.encoded[r.source].nodes[r.node]
		s.tokens, s.scratch.positions = append(s.tokens, n.token), append(s.scratch.positions, n.position)
	}
	return s.scratch.embed(&s.weights.target, s.tokens)
}

// self is self-attention, or the SSRU in its place. It stores what the next steps need.
func (s *step) self(i int, x, h mat.Matrix) mat.Matrix {
	l, act := &s.weights.decoder[i], &s.scratch.act
	if s.weights.recurrent() {
		l.maps.mul(s.scratch.pool, act.maps, h, mat.Identity)
		mat.Each(s.scratch.pool, h.Rows, cellGrain, cellRows{s, i})
		return l.residual.Forward(s.scratch.pool, &layer.ResidualAct{}, x, act.maps.ColRange(0, h.Cols), mat.Dropout{})
	}
	l.qkv.mul(s.scratch.pool, act.qkv, h, mat.Identity)
	if s.weights.unnormedKeys {
		s.unnormKeys(l, x)
	}
	s.attendSelf(i)
	if s.weights.unnormedKeys {
		s.attendFirst()
	}
	return s.scratch.add(l.residual, x, act.ctx, &l.out)
}

// cross is the attention to the sources.
func (s *step) cross(i int, x, h mat.Matrix) mat.Matrix {
	l, act := &s.weights.decoder[i], &s.scratch.act
	l.q.mul(s.scratch.pool, act.q, h, mat.Identity)
	s.attendCross(i)
	return s.scratch.add(l.residual, x, act.ctx, &l.crossOut)
}

// unnormKeys replaces the keys and values in act.qkv, those of norm(x), by those of x. It keeps
// the values, with which a first token attends to itself.
func (s *step) unnormKeys(l *decoderLayer, x mat.Matrix) {
	act, sizes := &s.scratch.act, s.weights.sizes()
	keys := sizes.Heads * sizes.DK
	l.qkv.mul(s.scratch.pool, act.unnormed, x, mat.Identity)
	for i := range act.qkv.Rows {
		normed, unnormed := act.qkv.Row(i), act.unnormed.Row(i)
		copy(act.firstValues.Row(i), normed[2*keys:])
		copy(normed[keys:], unnormed[keys:])
	}
}

// attendFirst replaces the self-attention of first tokens, which is that to themselves.
func (s *step) attendFirst() {
	for i, position := range s.scratch.positions {
		if position == 0 {
			copy(s.scratch.act.ctx.Row(i), s.scratch.act.firstValues.Row(i))
		}
	}
}

// stepRows are the rows of a step, or some of them.
type stepRows struct {
	rows          []treeRow
	lanes         [][]int32 // of each row's hypothesis, in order of position; none with SSRUs
	before, after []int32   // slots of the states of SSRUs; before is -1 for a first token
}

// slice returns rows [lo, hi).
func (s *stepRows) slice(lo, hi int) stepRows {
	t := stepRows{rows: s.rows[lo:hi]}
	if len(s.lanes) > 0 {
		t.lanes = s.lanes[lo:hi]
	}
	if len(s.after) > 0 {
		t.before, t.after = s.before[lo:hi], s.after[lo:hi]
	}
	return t
}

// stepBegin gives the newest tokens of the rows of a step a place for what layers keep.
type stepBegin struct {
	sources *sourceSet
	stepRows
	lanesData   []int32
	stepSources []int32 // handles of the sources that have rows
}

// begin sets the rows of a step.
func (s *stepBegin) begin(rows []treeRow) {
	s.rows, s.lanes, s.stepSources = append(s.rows[:0], rows...), s.lanes[:0], s.stepSources[:0]
	if s.sources.cells.layers > 0 {
		s.extendStates()
	} else {
		s.extendHypotheses()
	}
}

// beginSource returns the source of a row, and adds it to s.stepSources at its first row.
func (s *stepBegin) beginSource(handle int32) *encodedSource {
	src := s.sources.encoded[handle]
	if !src.stepping {
		src.stepping, s.stepSources = true, append(s.stepSources, handle)
	}
	return src
}

// extendHypotheses gives the last node of each row's hypothesis a lane, and sets s.lanes.
func (s *stepBegin) extendHypotheses() {
	lanes := 0
	for _, r := range s.rows {
		src := s.beginSource(r.source)
		src.keep(r.node)
		lanes += int(src.nodes[r.node].position) + 1
	}
	for _, h := range s.stepSources {
		s.sources.encoded[h].discard(&s.sources.pages)
	}
	s.lanesData = slices.Grow(s.lanesData[:0], lanes)[:lanes]
	rest := s.lanesData
	for _, r := range s.rows {
		src := s.sources.encoded[r.source]
		src.extend(&s.sources.pages, r.node)
		n := int(src.nodes[r.node].position) + 1
		src.lanes(rest[:n], r.node)
		s.lanes, rest = append(s.lanes, rest[:n]), rest[n:]
	}
	for _, h := range s.stepSources {
		s.sources.encoded[h].stepping = false
		s.sources.encoded[h].advance()
	}
}
