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
	*newestTokens

	*listLimits

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

// projectLogits sets s.act.logits. A row whose source has a list has only the logits of that.
func (s *outputProjection) projectLogits() {
	if !s.hasLists() {
		s.w.output.mul(s.pool, s.act.logits, s.act.x, mat.Identity)
		return
	}
	s.selectGroups()
	s.projectAll()
	if products := (listProducts{s, nil}); len(s.listGroups) < s.pool.Threads() {
		products.pool = s.pool
		products.Range(0, len(s.listGroups))
	} else {
		mat.Each(s.pool, len(s.listGroups), 1, products)
	}
}

// hasLists reports whether a source of the step has a list.
func (s *outputProjection) hasLists() bool {
	return slices.ContainsFunc(s.groups, func(g rowGroup) bool { return s.encoded[g.source].list != nil })
}

// projectAll sets the logits of allRows by products with all columns.
func (s *outputProjection) projectAll() {
	act := &s.act
	n := len(s.allRows)
	if n == 0 {
		return
	}
	if n == len(s.rows) && !s.hasLists() {
		s.w.output.mul(s.pool, act.logits, act.x, mat.Identity)
		return
	}
	x, all := matrix(&s.allX, n, act.x.Cols), matrix(&s.allLogits, n, s.w.model.Config.TgtVocab)
	for i, row := range s.allRows {
		copy(x.Row(i), act.x.Row(int(row)))
	}
	s.w.output.mul(s.pool, all, x, mat.Identity)
	for i, row := range s.allRows {
		to, from := act.logits.Row(int(row)), all.Row(i)
		l := s.encoded[s.rows[row].source].list
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
	for _, g := range s.groups {
		l := s.encoded[g.source].list
		if l == nil {
			otherRows += g.row1 - g.row0
			continue
		}
		listCost += projectionCost(g.row1-g.row0, len(l.ids))
		if !l.isGathered {
			listCost += gatherCost * len(l.ids)
		}
	}
	vocabulary := s.w.model.Config.TgtVocab
	if otherRows > 0 {
		listCost += projectionCost(otherRows, vocabulary)
	}
	useLists := s.alwaysGather || listCost < projectionCost(len(s.rows), vocabulary)
	for i, g := range s.groups {
		l := s.encoded[g.source].list
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
	if !l.isGathered && s.lists.reserve(l, matrixBytes(s.w.form, s.w.model.Config.DModel, len(l.ids)), s.maxBytes) {
		l.gather(s.pool, &s.w.output)
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
		g := &t.groups[i]
		l := t.encoded[g.source].list
		l.columns.mul(t.pool, t.act.logits.Slice(g.row0, g.row1, 0, len(l.ids)), t.act.x.RowRange(g.row0, g.row1), mat.Identity)
	}
}
