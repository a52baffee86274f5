package decode

import (
	"math"
	"slices"
	"sync"

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

// project sets logits for the decoder's output x. With bounds, elements may be upper bounds of
// logits, which refine replaces; the largest of a row is a logit.
func (s *outputProjection) project(logits, x mat.Matrix, bounds bool) {
	s.logits, s.x = logits, x
	if s.hasBounds = bounds && s.step.weights.form == Float32 && !s.hasLists(); !s.hasBounds {
		s.projectLogits()
		return
	}
	for len(s.refined) < len(s.step.rows) {
		s.refined = append(s.refined, nil)
	}
	b := s.step.weights.bounds.get(s.step.scratch.pool, &s.step.weights.output)
	s.step.scratch.rounded.Set(s.step.scratch.pool, s.x)
	b.output.mulRounded(s.step.scratch.pool, s.logits, s.x, &s.step.scratch.rounded)
	s.isWhole, s.allRows = slices.Grow(s.isWhole[:0], len(s.step.rows))[:len(s.step.rows)], s.allRows[:0]
	mat.Each(s.step.scratch.pool, len(s.step.rows), 1, boundRows{s, b})
	for i, isWhole := range s.isWhole {
		if isWhole {
			s.allRows = append(s.allRows, int32(i))
		}
	}
	s.projectAll()
}

// boundRows is the parallel loop over the rows of a step that turns products of int8 into upper
// bounds and refines them, or sets isWhole.
type boundRows struct {
	of     *outputProjection
	bounds *outputBounds
}

func (t *boundRows) Range(lo, hi int) {
	ws := refineWorkspaces.Get().(*refineWorkspace)
	defer refineWorkspaces.Put(ws)
	for i := lo; i < hi; i++ {
		x, logits := t.of.x.Row(i), t.of.logits.Row(i)
		diff := matrix(&ws.x, 1, len(x)).Row(0)
		t.of.step.scratch.rounded.Row(diff, i)
		mat.Axpy(-1, x, diff)
		size, err := t.bounds.norm(x), t.bounds.norm(diff)
		rounding := float64(t.bounds.kappa * (size + err))
		mat.Axpy(float32(max(1, size+rounding)), t.bounds.errors, logits)
		mat.Axpy(float32(err+rounding), t.bounds.norms, logits)
		t.of.isWhole[i] = !t.of.refineLargest(ws, i)
	}
}

// maxRefined limits the bounds of a row that are refined. A row with more of them has a product
// with all columns, as has one with a bound that is not finite.
const maxRefined = 64

// refineLargest refines the largest bound of a row and then all that are not below its logit. It
// returns false if they are more than maxRefined or not finite.
func (s *outputProjection) refineLargest(ws *refineWorkspace, row int) bool {
	logits := s.logits.Row(row)
	s.refined[row] = s.refined[row][:0]
	if m := float64(mat.Max(logits)); math.IsNaN(m) || math.IsInf(m, 0) {
		return false
	}
	var largest [1]candidate
	first := topK(largest[:0], logits, nil, nil)[0].Token
	s.refineAll(ws, row, []int32{first})
	logit := logits[first]
	ids := ws.ids[:0]
	defer func() { ws.ids = ids }()
	for lo := 0; lo < len(logits); lo += segmentLen {
		segment := logits[lo:min(lo+segmentLen, len(logits))]
		if mat.Max(segment) < logit {
			continue
		}
		for j, x := range segment {
			if id := int32(lo + j); x >= logit && id != first {
				if len(ids) == maxRefined {
					return false
				}
				ids = append(ids, id)
			}
		}
	}
	s.refineAll(ws, row, ids)
	return true
}

// refineAll refines the bounds of ids.
func (s *outputProjection) refineAll(ws *refineWorkspace, row int, ids []int32) {
	if len(ids) == 0 {
		return
	}
	l := &ws.list
	l.ids = append(l.ids[:0], ids...)
	l.gather(nil, &s.step.weights.output)
	logits := matrix(&ws.logits, 1, len(ids))
	l.columns.mul(nil, logits, s.x.RowRange(row, row+1), mat.Identity)
	for i, id := range ids {
		s.logits.Row(row)[id] = logits.Data[i]
	}
	s.refined[row] = append(s.refined[row], ids...)
}

// refine returns the logit of an element and whether the step returned a bound of it.
func (s *outputProjection) refine(row int, id int32) (logit float32, wasBound bool) {
	if wasBound = s.hasBounds && !s.isWhole[row] && !slices.Contains(s.refined[row], id); wasBound {
		ws := refineWorkspaces.Get().(*refineWorkspace)
		defer refineWorkspaces.Put(ws)
		s.refineAll(ws, row, []int32{id})
	}
	return s.logits.Row(row)[id], wasBound
}

type refineWorkspace struct {
	x, logits []float32
	ids       []int32
	list      outputList
}

var refineWorkspaces = sync.Pool{New: func() any { return new(refineWorkspace) }}
