package decode

import (
	"fmt"
	"math"
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// outputList is the list of a source: the pieces that may follow its hypotheses. A logit is one
// chain over a column of the output projection, or one exact sum, so that of a piece has the same
// bits whether those of all pieces are computed or not.
type outputList struct {
	ids []int32

	isGathered bool   // columns is set
	columns    linear // the output projection of ids, [d × len(ids)]
	bias       layer.Param
	bytes      int // memory of columns
}

// outputLists holds the memory of lists for the next sources.
type outputLists struct {
	free  []*outputList
	bytes int // memory of the columns of all lists
}

// maxListBytes limits the memory of the columns of all lists: 128 lists of a thousand pieces in
// float32 of the paper's base model. Further lists are not gathered.
const maxListBytes = 256 << 20

// get returns a list that is not gathered.
func (o *outputLists) get() *outputList {
	n := len(o.free)
	if n == 0 {
		return new(outputList)
	}
	l := o.free[n-1]
	o.free = o.free[:n-1]
	l.isGathered = false
	return l
}

// put makes the memory of a list, which may be nil, available to get.
func (o *outputLists) put(l *outputList) {
	if l != nil {
		o.free = append(o.free, l)
	}
}

// reserve reports whether the columns of l may have the given number of bytes, if those of all
// lists are limited to maxBytes. It frees lists that are not in use if necessary.
func (o *outputLists) reserve(l *outputList, bytes, maxBytes int) bool {
	growth := max(0, bytes-l.bytes)
	if o.bytes+growth > maxBytes {
		for _, unused := range o.free {
			o.bytes -= unused.bytes
		}
		clear(o.free)
		o.free = o.free[:0]
	}
	if o.bytes+growth > maxBytes {
		return false
	}
	l.bytes, o.bytes = l.bytes+growth, o.bytes+growth
	return true
}

// Restrict leaves only the logits of ids in the rows of a source; Step returns -Inf for other
// pieces. It may be called once for a source. It panics on a handle that is not valid, and on ids
// that are outside the vocabulary or not in ascending order.
func (s *State) Restrict(handle int32, ids []int32) {
	if !s.valid(handle) || s.sources[handle].list != nil {
		panic(fmt.Sprintf("decode: Restrict of source %d, which is not in the State or is restricted", handle))
	}
	for i, id := range ids {
		if id < 0 || int(id) >= s.w.model.Config.TgtVocab || i > 0 && id <= ids[i-1] {
			panic(fmt.Sprintf("decode: id %d at index %d of a list, want ascending ids from 0 to %d", id, i, s.w.model.Config.TgtVocab-1))
		}
	}
	l := s.lists.get()
	l.ids = append(l.ids[:0], ids...)
	s.sources[handle].list = l
}

// gather sets l.columns to the columns of output.
func (l *outputList) gather(p *mat.Pool, output *linear) {
	if l.columns.weightMatrix == nil {
		l.columns.weightMatrix = &weightMatrix{packed: new(mat.Packed)}
		if output.int8 != nil {
			l.columns.weightMatrix = &weightMatrix{int8: new(mat.Int8)}
		}
	}
	if output.int8 != nil {
		l.columns.int8.Gather(p, output.int8, l.ids)
	} else {
		l.columns.packed.Gather(p, output.packed, l.ids)
	}
	if all := output.biases(); all != nil {
		l.columns.bias, l.bias.W = &l.bias, l.bias.W[:0]
		for _, id := range l.ids {
			l.bias.W = append(l.bias.W, all[id])
		}
	}
}

// projection is the workspace of the output projection of a step with lists.
type projection struct {
	groups []int32   // indices of the groups of rows whose products have the columns of their list
	logits []float32 // [rows × longest list]

	isWhole   []bool  // of each row: its product has all columns
	allRows   []int32 // rows with all columns
	allX      []float32
	allLogits []float32
}

// The costs of a weight, as a number of multiply-adds that take the same time.
const (
	loadCost   = 16 // to load it from memory, which the product of a few rows waits for
	gatherCost = 8  // to gather it, divided by the steps of a sentence
)

// projectionCost returns the cost of a product with n columns, divided by d.
func projectionCost(rows, n int) int { return max(rows, loadCost) * n }

// project sets the logits of all rows for s.act.x.
func (s *State) project() {
	w, act := &s.projection, &s.act
	if !s.hasLists() {
		s.w.output.mul(s.pool, act.logits, act.x, mat.Identity)
		return
	}
	longest := 0
	for _, g := range s.groups {
		if l := s.sources[g.source].list; l != nil {
			longest = max(longest, len(l.ids))
		}
	}
	logits := matrix(&w.logits, len(s.rows), longest)
	s.selectGroups()
	s.projectAll()
	if products := (listProducts{s, logits, nil}); len(w.groups) < s.pool.Threads() {
		products.pool = s.pool
		products.Range(0, len(w.groups))
	} else {
		mat.Each(s.pool, len(w.groups), 1, products)
	}
	mat.Each(s.pool, len(s.rows), 4, restrictRows{s, logits})
}

// hasLists reports whether a source of the step has a list.
func (s *State) hasLists() bool {
	return slices.ContainsFunc(s.groups, func(g rowGroup) bool { return s.sources[g.source].list != nil })
}

// projectAll sets all logits of projection.allRows.
func (s *State) projectAll() {
	w, act := &s.projection, &s.act
	switch n := len(w.allRows); n {
	case 0:
	case len(s.rows):
		s.w.output.mul(s.pool, act.logits, act.x, mat.Identity)
	default:
		x, all := matrix(&w.allX, n, act.x.Cols), matrix(&w.allLogits, n, act.logits.Cols)
		for i, row := range w.allRows {
			copy(x.Row(i), act.x.Row(int(row)))
		}
		s.w.output.mul(s.pool, all, x, mat.Identity)
		for i, row := range w.allRows {
			copy(act.logits.Row(int(row)), all.Row(i))
		}
	}
}

// selectGroups selects the groups whose products have only the columns of their list, which it
// gathers. They are none if one product for all rows, which loads all weights but only once, takes
// less time: with many sources and a small vocabulary.
func (s *State) selectGroups() {
	w := &s.projection
	w.groups, w.allRows, w.isWhole = w.groups[:0], w.allRows[:0], w.isWhole[:0]
	listCost, otherRows := 0, 0
	for _, g := range s.groups {
		l := s.sources[g.source].list
		if l == nil {
			otherRows += g.row1 - g.row0
			continue
		}
		listCost += projectionCost(g.row1-g.row0, len(l.ids))
		if !l.isGathered {
			listCost += gatherCost * len(l.ids)
		}
	}
	vocabulary := s.act.logits.Cols
	if otherRows > 0 {
		listCost += projectionCost(otherRows, vocabulary)
	}
	useLists := s.alwaysGather || listCost < projectionCost(len(s.rows), vocabulary)
	for i, g := range s.groups {
		l := s.sources[g.source].list
		isWhole := l == nil || !useLists || !s.gather(l)
		if !isWhole {
			w.groups = append(w.groups, int32(i))
		}
		for row := g.row0; row < g.row1; row++ {
			if w.isWhole = append(w.isWhole, isWhole); isWhole {
				w.allRows = append(w.allRows, int32(row))
			}
		}
	}
}

// gather gathers the columns of l, unless they would exceed the limit of memory.
func (s *State) gather(l *outputList) bool {
	if !l.isGathered && s.lists.reserve(l, matrixBytes(s.w.form, s.w.model.Config.DModel, len(l.ids)), s.maxListBytes) {
		l.gather(s.pool, &s.w.output)
		l.isGathered = true
	}
	return l.isGathered
}

// listProducts is the parallel loop over groups of rows that computes the logits of their lists.
// The threads of pool divide a product.
type listProducts struct {
	*State
	logits mat.Matrix // [rows × longest list]
	pool   *mat.Pool
}

func (t *listProducts) Range(lo, hi int) {
	for _, i := range t.projection.groups[lo:hi] {
		g := &t.groups[i]
		l := t.sources[g.source].list
		l.columns.mul(t.pool, t.logits.Slice(g.row0, g.row1, 0, len(l.ids)), t.act.x.RowRange(g.row0, g.row1), mat.Identity)
	}
}

// restrictRows is the parallel loop over the rows of a step that sets the logits of the pieces
// outside a list to -Inf.
type restrictRows struct {
	*State
	logits mat.Matrix // [rows × longest list]
}

func (t *restrictRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		l := t.sources[t.rows[i].source].list
		if l == nil {
			continue
		}
		row, logits := t.act.logits.Row(i), t.logits.Row(i)
		if t.projection.isWhole[i] {
			for k, id := range l.ids {
				logits[k] = row[id]
			}
		}
		for rest := row; len(rest) > 0; {
			rest = rest[copy(rest, minusInf[:]):]
		}
		for k, id := range l.ids {
			row[id] = logits[k]
		}
	}
}

var minusInf = func() (x [1024]float32) {
	for i := range x {
		x[i] = float32(math.Inf(-1))
	}
	return x
}()
