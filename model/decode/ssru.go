package decode

import "slices"

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

// put frees the slots of the hypotheses of t that end in tails.
func (s *cellStates) put(t *tree, tails []int32) {
	for _, tail := range tails {
		n := &t.nodes[tail]
		s.free = append(s.free, n.lane)
		n.lane = -1
	}
}
