package decode

import (
	"fmt"
	"math"

	"tfm/layer"
	"tfm/mat"
)

// outputList is the list of a source: the pieces that may follow its hypotheses. A logit is one
// chain over a column of the output projection, or one exact sum, so that of a piece has the same
// bits whether those of all pieces are computed or not.
type outputList struct {
	ids []int32

	// columns is the output projection of ids, [d × len(ids)], if isGathered. Otherwise a step
	// computes the logits of all pieces.
	isGathered bool
	columns    linear
	bias       layer.Param
	bytes      int // memory of columns
}

// outputLists holds the memory of lists for the next sources. The memory of the columns of all is
// limited to maxListBytes. The lists beyond it are not gathered, so that their steps are slower.
type outputLists struct {
	free  []*outputList
	bytes int // memory of the columns of all lists
}

// maxListBytes is the memory of 128 lists of a thousand pieces in float32 of the paper's base
// model.
const maxListBytes = 256 << 20

// get returns a list whose columns, if isGathered, may have the given number of bytes. The limit of
// all is maxBytes.
func (o *outputLists) get(bytes, maxBytes int) *outputList {
	var l *outputList
	if n := len(o.free); n > 0 {
		l, o.free = o.free[n-1], o.free[:n-1]
	} else {
		l = new(outputList)
	}
	growth := max(0, bytes-l.bytes)
	if o.bytes+growth > maxBytes {
		for _, unused := range o.free {
			o.bytes -= unused.bytes
		}
		clear(o.free)
		o.free = o.free[:0]
	}
	if l.isGathered = o.bytes+growth <= maxBytes; l.isGathered {
		l.bytes, o.bytes = l.bytes+growth, o.bytes+growth
	}
	return l
}

// put makes the memory of a list, which may be nil, available to get.
func (o *outputLists) put(l *outputList) {
	if l != nil {
		o.free = append(o.free, l)
	}
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
	l := s.lists.get(matrixBytes(s.w.form, s.w.model.Config.DModel, len(ids)), s.maxListBytes)
	if l.ids = append(l.ids[:0], ids...); l.isGathered {
		l.gather(s.pool, &s.w.output)
	}
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
	allRows   []int32 // rows that need the logits of all pieces
	allX      []float32
	allLogits []float32
	groups    []int32   // indices of the groups of rows with gathered lists
	logits    []float32 // [rows × longest list] of these groups
}

// project sets the logits of all rows for s.act.x.
func (s *State) project() {
	w, act := &s.projection, &s.act
	w.allRows, w.groups = w.allRows[:0], w.groups[:0]
	longest, restricted := 0, false
	for i, g := range s.groups {
		l := s.sources[g.source].list
		restricted = restricted || l != nil
		if l != nil && l.isGathered {
			w.groups = append(w.groups, int32(i))
			longest = max(longest, len(l.ids))
			continue
		}
		for row := g.row0; row < g.row1; row++ {
			w.allRows = append(w.allRows, int32(row))
		}
	}
	if len(w.groups) == 0 {
		s.w.output.mul(s.pool, act.logits, act.x, mat.Identity)
	} else if n := len(w.allRows); n > 0 {
		x, logits := matrix(&w.allX, n, act.x.Cols), matrix(&w.allLogits, n, act.logits.Cols)
		for i, row := range w.allRows {
			copy(x.Row(i), act.x.Row(int(row)))
		}
		s.w.output.mul(s.pool, logits, x, mat.Identity)
		for i, row := range w.allRows {
			copy(act.logits.Row(int(row)), logits.Row(i))
		}
	}
	if !restricted {
		return
	}
	logits := matrix(&w.logits, len(s.rows), longest)
	if products := (listProducts{s, logits, nil}); len(w.groups) < s.pool.Threads() {
		products.pool = s.pool
		products.Range(0, len(w.groups))
	} else {
		mat.Each(s.pool, len(w.groups), 1, products)
	}
	mat.Each(s.pool, len(s.rows), 4, restrictRows{s, logits})
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
// outside a list to -Inf, and those of a gathered list.
type restrictRows struct {
	*State
	logits mat.Matrix // [rows × longest list]
}

func (t *restrictRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		l := t.sources[t.rows[i].Source].list
		if l == nil {
			continue
		}
		row := t.act.logits.Row(i)
		if l.isGathered {
			fillMinusInf(row)
			logits := t.logits.Row(i)
			for k, id := range l.ids {
				row[id] = logits[k]
			}
			continue
		}
		next := 0
		for _, id := range l.ids {
			fillMinusInf(row[next:id])
			next = int(id) + 1
		}
		fillMinusInf(row[next:])
	}
}

var minusInf = func() (x [1024]float32) {
	for i := range x {
		x[i] = float32(math.Inf(-1))
	}
	return x
}()

// fillMinusInf sets all elements of row to -Inf.
func fillMinusInf(row []float32) {
	for len(row) > 0 {
		row = row[copy(row, minusInf[:]):]
	}
}
