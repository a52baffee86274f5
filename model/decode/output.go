package decode

import (
	"slices"

	"tfm/mat"
)

// listLimits are what tests change.
type listLimits struct {
	maxBytes     int // of the columns of lists
	alwaysGather bool
}

// outputProjection computes the logits of a step.
type outputProjection struct {
	step   *step
	x      mat.Matrix // [rows × d] the decoder's output
	logits mat.Matrix // [rows × V], or of lists
	limits *listLimits

	listGroups []int32 // groups of rows whose products have only the columns of their list

	isWhole   []bool  // of each row: its product has all columns
	allRows   []int32 // rows with all columns
	allX      []float32
	allLogits []float32

	hasBounds bool      // elements may be bounds
	refined   [][]int32 // of each row with bounds: the ids whose logits are computed
}

// The costs of a weight, as a number of multiply-adds that take the same time.
const (
	loadCost   = 16 // to load it from memory, which the product of a few rows waits for
	gatherCost = 8  // to gather it, divided by the steps of a sentence
)

// projectionCost returns the cost of a product with n columns, divided by d.
func projectionCost(rows, n int) int { return max(rows, loadCost) * n }

// projectLogits sets s.logits. A row whose source has a list has only the logits of that.
func (s *outputProjection) projectLogits() {
	if !s.hasLists() {
		s.step.weights.output.mul(s.step.scratch.pool, s.logits, s.x, mat.Identity)
		return
	}
	s.selectGroups()
	s.projectAll()
	if products := (listProducts{s, nil}); len(s.listGroups) < s.step.scratch.pool.Threads() {
		products.pool = s.step.scratch.pool
		products.Range(0, len(s.listGroups))
	} else {
		mat.Each(s.step.scratch.pool, len(s.listGroups), 1, products)
	}
}

// hasLists reports whether a source of the step has a list.
func (s *outputProjection) hasLists() bool {
	return slices.ContainsFunc(s.step.groups, func(g rowGroup) bool { return s.step.sources.encoded[g.source].list != nil })
}

// projectAll sets the logits of allRows by products with all columns.
func (s *outputProjection) projectAll() {
	n := len(s.allRows)
	if n == 0 {
		return
	}
	if n == len(s.step.rows) && !s.hasLists() {
		s.step.weights.output.mul(s.step.scratch.pool, s.logits, s.x, mat.Identity)
		return
	}
	x, all := matrix(&s.allX, n, s.x.Cols), matrix(&s.allLogits, n, s.step.weights.model.Config.TgtVocab)
	for i, row := range s.allRows {
		copy(x.Row(i), s.x.Row(int(row)))
	}
	s.step.weights.output.mul(s.step.scratch.pool, all, x, mat.Identity)
	for i, row := range s.allRows {
		to, from := s.logits.Row(int(row)), all.Row(i)
		l := s.step.sources.encoded[s.step.rows[row].source].list
		if l == nil {
			copy(to, from)
			continue
		}
		for k, id := range l.ids {
			to[k] = from[id]
		}
	}
}

// selectGroups selects the groups whose products have only the columns of their list, which it
// gathers. They are none if one product for all rows, which loads all weights but only once, takes
// less time: with many sources and a small vocabulary.
func (s *outputProjection) selectGroups() {
	s.listGroups, s.allRows, s.isWhole = s.listGroups[:0], s.allRows[:0], s.isWhole[:0]
	listCost, otherRows := 0, 0
	for _, g := range s.step.groups {
		l := s.step.sources.encoded[g.source].list
		if l == nil {
			otherRows += g.row1 - g.row0
			continue
		}
		listCost += projectionCost(g.row1-g.row0, len(l.ids))
		if !l.isGathered {
			listCost += gatherCost * len(l.ids)
		}
	}
	vocabulary := s.step.weights.model.Config.TgtVocab
	if otherRows > 0 {
		listCost += projectionCost(otherRows, vocabulary)
	}
	useLists := s.limits.alwaysGather || listCost < projectionCost(len(s.step.rows), vocabulary)
	for i, g := range s.step.groups {
		l := s.step.sources.encoded[g.source].list
		isWhole := l == nil || !useLists || !s.gather(l)
		if !isWhole {
			s.listGroups = append(s.listGroups, int32(i))
		}
		for row := g.row0; row < g.row1; row++ {
			if s.isWhole = append(s.isWhole, isWhole); isWhole {
				s.allRows = append(s.allRows, int32(row))
			}
		}
	}
}

// gather gathers the columns of l, unless they would exceed the limit of memory.
func (s *outputProjection) gather(l *outputList) bool {
	if !l.isGathered && s.step.sources.lists.reserve(l, matrixBytes(s.step.weights.form, s.step.weights.model.Config.DModel, len(l.ids)), s.limits.maxBytes) {
		l.gather(s.step.scratch.pool, &s.step.weights.output)
		l.isGathered = true
	}
	return l.isGathered
}

// listProducts is the parallel loop over groups of rows that computes the logits of their lists.
// The threads of pool divide a product.
type listProducts struct {
	*outputProjection
	pool *mat.Pool
}

func (t *listProducts) Range(lo, hi int) {
	for _, i := range t.listGroups[lo:hi] {
		g := &t.step.groups[i]
		l := t.step.sources.encoded[g.source].list
		l.columns.mul(t.pool, t.logits.Slice(g.row0, g.row1, 0, len(l.ids)), t.x.RowRange(g.row0, g.row1), mat.Identity)
	}
}
