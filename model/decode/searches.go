package decode

import (
	"sync"

	"tfm/mat"
)

// stepper is the model that searches run on: State, or a table in tests.
type stepper interface {
	Add(handles []int32, sources ...[]int32) []int32
	Remove(handle int32)
	// Restrict leaves only the logits of ids, ascending, in the rows of a source.
	Restrict(handle int32, ids []int32)
	// list returns the ids of the logits in the rows of a source.
	list(handle int32) rowIDs
	// hypotheses returns the tree of a source, to which a search adds tokens.
	hypotheses(handle int32) *tree
	// step returns the logits of the tokens after each row, see list. With bounds, elements may
	// be upper bounds of logits, but the largest of a row is a logit.
	step(rows []treeRow, bounds bool) (logits mat.Matrix)
	refiner
}

// searches are those of several sources at the same time. They keep the memory of those that are
// done for others.
type searches struct {
	list           []search // those that are not done
	backgroundRows int      // of requests in the background in a step; one source may exceed it

	treeRows []treeRow // of the next step
	rows     []row     // of each treeRow
	logits   mat.Matrix

	workspace advanceWorkspace
}

// add adds the search for source index of a request, with a handle in the model and a limit of
// maxTokens, EOS counted. The search must be started next.
func (s *searches) add(r *request, index int, handle int32, maxTokens int) *search {
	if len(s.list) < cap(s.list) {
		s.list = s.list[:len(s.list)+1] // keeps the memory of its slices
	} else {
		s.list = append(s.list, search{})
	}
	q := &s.list[len(s.list)-1]
	q.reset(r, index, handle, maxTokens)
	return q
}

// removeIf removes the searches that f selects.
func (s *searches) removeIf(f func(*search) bool) {
	kept := 0
	for i := range s.list {
		if f(&s.list[i]) {
			s.list[i].request, s.list[i].tree = nil, nil
			continue
		}
		s.list[kept], s.list[i] = s.list[i], s.list[kept]
		kept++
	}
	s.list = s.list[:kept]
}

// step runs one decode step of all searches. It calls done with those that have their translations,
// and the n-best lists, and removes them.
//
// Equal scores are ordered by hypothesis and token id, so that results are the same everywhere.
func (s *searches) step(p *mat.Pool, m stepper, done func(q *search, list []Hypothesis)) {
	s.expand(p, m)
	s.removeIf(func(q *search) bool {
		if q.paused {
			return false
		}
		if q.isBeginning() {
			q.extendBegin()
			return false
		}
		q.advance(&s.workspace, s.rows[q.firstRow:][:len(q.live)])
		switch {
		case q.isDone():
			list := q.results()
			if q.request.token != nil {
				q.report(list[0].Tokens)
			}
			done(q, list)
			return true
		case q.request.token != nil:
			q.report(q.certain())
		}
		return false
	})
}

// expand runs one decode step of all live hypotheses and finds the candidates of each row.
func (s *searches) expand(p *mat.Pool, m stepper) {
	s.treeRows, s.rows = s.treeRows[:0], s.rows[:0]
	bounds := true
	background := 0 // rows
	for i := range s.list {
		q := &s.list[i]
		if q.request.options.Background {
			n := len(q.tails)
			if q.paused = background+n > s.backgroundRows && (background > 0 || s.backgroundRows == 0); q.paused {
				continue
			}
			background += n
		}
		q.firstRow = len(s.rows)
		ids := m.list(q.handle)
		for j, tail := range q.tails {
			s.treeRows = append(s.treeRows, treeRow{q.handle, tail})
			s.addRow(i, j, ids)
		}
		o := &q.request.options
		bounds = bounds && o.omitsScore() && o.repetitionPenalty() == 1
	}
	s.logits = m.step(s.treeRows, bounds)
	if bounds {
		for i := range s.rows {
			if s.rows[i].ids == nil { // logits of lists are never bounds
				s.rows[i].refiner = m
			}
		}
	}
	mat.Each(p, len(s.rows), 4, expandRows{s})
}

// logitsOf returns the logits of row i.
func (s *searches) logitsOf(i int) []float32 {
	logits := s.logits.Row(i)
	if ids := s.rows[i].ids; ids != nil {
		return logits[:len(ids)]
	}
	return logits
}

// addRow adds the row of a live hypothesis of search i.
func (s *searches) addRow(i, hypothesis int, ids rowIDs) {
	if n := len(s.rows); n < cap(s.rows) {
		s.rows = s.rows[:n+1] // keeps the memory of its slices
	} else {
		s.rows = append(s.rows, row{})
	}
	r, q := &s.rows[len(s.rows)-1], &s.list[i]
	o := &q.request.options
	r.ids = ids
	r.search, r.hypothesis, r.index, r.refiner = i, hypothesis, len(s.rows)-1, nil
	r.maxCandidates, r.maxAlternatives = q.request.selection.candidates(), o.Alternatives
	r.draw = drawID{o.Seed, q.number, uint64(q.live[hypothesis].Start), uint64(q.tokens)}
	r.candidates, r.alternatives = nil, r.alternatives[:0]
}

// expandRows is the parallel loop over the rows of a step that finds their candidates.
type expandRows struct{ *searches }

var rowBuffersPool = sync.Pool{New: func() any { return new(rowBuffers) }}

func (s *expandRows) Range(lo, hi int) {
	buffers := rowBuffersPool.Get().(*rowBuffers)
	defer rowBuffersPool.Put(buffers)
	for i := lo; i < hi; i++ {
		r := &s.rows[i]
		q := &s.list[r.search]
		if q.isBeginning() {
			continue
		}
		request := q.request
		q.setPartial(&r.partial, r.hypothesis)
		request.candidates(r, buffers.process(s.logitsOf(i), r.ids, &r.partial, request.options.repetitionPenalty(), request.suppressed))
	}
}
