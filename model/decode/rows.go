package decode

import "slices"

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
	*sourceSet
	stepRows
	lanesData   []int32
	stepSources []int32 // handles of the sources that have rows
}

// begin sets the rows of a step.
func (s *stepBegin) begin(rows []treeRow) {
	s.rows, s.lanes, s.stepSources = append(s.rows[:0], rows...), s.lanes[:0], s.stepSources[:0]
	if s.cells.layers > 0 {
		s.extendStates()
	} else {
		s.extendHypotheses()
	}
}

// beginSource returns the source of a row, and adds it to s.stepSources at its first row.
func (s *stepBegin) beginSource(handle int32) *encodedSource {
	src := s.encoded[handle]
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
