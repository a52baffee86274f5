package decode

import "slices"

// cellGrain is the number of rows of one call: some microseconds.
const cellGrain = 16

// cellRows is the parallel loop over the rows of a step that advances their states.
type cellRows struct {
	*step
	layer int
}

func (t *cellRows) Range(lo, hi int) {
	cell, cells := t.weights.model.Decoder[t.layer].SSRU, &t.sources.cells
	for i := lo; i < hi; i++ {
		maps := t.scratch.act.maps.Row(i)
		var before []float32
		if slot := t.before[i]; slot >= 0 {
			before = cells.state(slot, t.layer)
		}
		cell.Step(maps[:len(maps)/2], cells.state(t.after[i], t.layer), before, maps)
	}
}

// cellStates are the states of all SSRUs of a model, one for each live hypothesis. A node's lane is
// the slot of its hypothesis, -1 unless it is the last one.
type cellStates struct {
	layers, d int
	c         []float32 // [slots × layers × d]
	free      []int32   // slots
}

// state returns the state of a slot in a layer.
func (s *cellStates) state(slot int32, layer int) []float32 {
	return s.c[(int(slot)*s.layers+layer)*s.d:][:s.d]
}

func (s *cellStates) get() int32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	n := len(s.c)
	s.c = slices.Grow(s.c, s.layers*s.d)[:n+s.layers*s.d]
	return int32(n / (s.layers * s.d))
}

// put frees the slots of the last rows of a source.
func (s *cellStates) put(src *encodedSource) {
	for _, tail := range src.tails {
		n := &src.nodes[tail]
		s.free = append(s.free, n.lane)
		n.lane = -1
	}
}

// extendStates gives the last node of each row's hypothesis a slot, and frees those of the rows
// before, which nothing takes until the next step.
func (s *stepBegin) extendStates() {
	c := &s.sources.cells
	s.before, s.after = s.before[:0], s.after[:0]
	for _, r := range s.rows {
		src, before := s.beginSource(r.source), int32(-1)
		n := &src.nodes[r.node]
		if n.parent >= 0 {
			before = src.nodes[n.parent].lane
		}
		n.lane = c.get()
		s.before, s.after = append(s.before, before), append(s.after, n.lane)
		src.nextTails = append(src.nextTails, r.node)
	}
	for _, h := range s.stepSources {
		src := s.sources.encoded[h]
		c.put(src)
		src.stepping = false
		src.advance()
	}
}
