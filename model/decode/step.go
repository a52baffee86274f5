package decode

import (
	"math"
	"slices"

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

// rowGroup is a range of consecutive rows of a step that have the same source. Its scores are
// computed by one product for each page.
type rowGroup struct {
	source   int32 // handle
	row0     int   // first row
	row1     int   // end of the rows
	touched0 int   // State.touched[touched0:touched1] are the pages with nodes of the rows
	touched1 int
}

// maxGroupRows limits the scores that exist at once.
const maxGroupRows = 16

// touchedPage is a page with nodes of a rowGroup.
type touchedPage struct {
	page       int32 // index in source.pages
	row0, row1 int32 // the rows with nodes in the page, and maybe others
}

// groupRows sets s.groups and s.touched.
func (s *step) groupRows() {
	rows := s.rows
	s.groups, s.touched = s.groups[:0], s.touched[:0]
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && rows[end].source == rows[i].source && end-i < maxGroupRows {
			end++
		}
		g := rowGroup{source: rows[i].source, row0: i, row1: end, touched0: len(s.touched)}
		if len(s.lanes) > 0 {
			s.touch(&g)
		}
		g.touched1 = len(s.touched)
		s.groups = append(s.groups, g)
		i = end
	}
}

// touch adds the pages with nodes of a group's rows to s.touched.
func (s *step) touch(g *rowGroup) {
	for p := range s.sources.encoded[g.source].pages {
		s.touched = append(s.touched, touchedPage{page: int32(p), row0: math.MaxInt32})
	}
	touched := s.touched[g.touched0:]
	for r := g.row0; r < g.row1; r++ {
		for _, node := range s.lanes[r] {
			t := &touched[node/pageTokens]
			t.row0, t.row1 = min(t.row0, int32(r)), int32(r+1)
		}
	}
	touched = slices.DeleteFunc(touched, func(t touchedPage) bool { return t.row1 == 0 })
	s.touched = s.touched[:g.touched0+len(touched)]
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
		c.put(&src.tree, src.tails)
		src.stepping = false
		src.advance()
	}
}
