package decode

import (
	"math"
	"sync"

	"tfm/layer"
	"tfm/mat"
)

// workspace holds the scores of some heads of a rowGroup, and the weights of one row.
type workspace struct{ scores, weights []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// headGrain returns the number of heads that a thread computes at a time, for keys keys of all
// groups together. All heads of a group are fastest, because their keys and their values are
// contiguous in a page, unless there are too few groups for the threads or too many scores for the
// cache. Otherwise it is enough to amortise the overhead of the loop.
func (s *step) headGrain(keys int) int {
	const minWork, maxScores = 1 << 14, 1 << 15 // multiply-adds; scores of a group
	l, groups := &s.sources.pages.pageLayout, len(s.groups)
	if groups >= 2*s.scratch.pool.Threads() && keys*l.heads <= maxScores*groups {
		return l.heads
	}
	work := 1 + keys*(l.dk+l.dv)/groups // of a head
	return max(1, min(l.heads, minWork/work))
}

func scaleOf(dk int) float32 { return float32(1 / math.Sqrt(float64(dk))) }

// self is self-attention, or the SSRU in its place. It stores what the next steps need.
func (s *step) self(i int, x, h mat.Matrix) mat.Matrix {
	l, act := &s.weights.decoder[i], &s.scratch.act
	if s.weights.recurrent() {
		l.maps.mul(s.scratch.pool, act.maps, h, mat.Identity)
		mat.Each(s.scratch.pool, h.Rows, cellGrain, cellRows{s, i})
		return l.residual.Forward(s.scratch.pool, &layer.ResidualAct{}, x, act.maps.ColRange(0, h.Cols), mat.Dropout{})
	}
	l.qkv.mul(s.scratch.pool, act.qkv, h, mat.Identity)
	if s.weights.unnormedKeys {
		s.unnormKeys(l, x)
	}
	s.attendSelf(i)
	if s.weights.unnormedKeys {
		s.attendFirst()
	}
	return s.scratch.add(l.residual, x, act.ctx, &l.out)
}

// cross is the attention to the sources.
func (s *step) cross(i int, x, h mat.Matrix) mat.Matrix {
	l, act := &s.weights.decoder[i], &s.scratch.act
	l.q.mul(s.scratch.pool, act.q, h, mat.Identity)
	s.attendCross(i)
	return s.scratch.add(l.residual, x, act.ctx, &l.crossOut)
}

// unnormKeys replaces the keys and values in act.qkv, those of norm(x), by those of x. It keeps
// the values, with which a first token attends to itself.
func (s *step) unnormKeys(l *decoderLayer, x mat.Matrix) {
	act, sizes := &s.scratch.act, s.weights.sizes()
	keys := sizes.Heads * sizes.DK
	l.qkv.mul(s.scratch.pool, act.unnormed, x, mat.Identity)
	for i := range act.qkv.Rows {
		normed, unnormed := act.qkv.Row(i), act.unnormed.Row(i)
		copy(act.firstValues.Row(i), normed[2*keys:])
		copy(normed[keys:], unnormed[keys:])
	}
}

// attendFirst replaces the self-attention of first tokens, which is that to themselves.
func (s *step) attendFirst() {
	for i, position := range s.scratch.positions {
		if position == 0 {
			copy(s.scratch.act.ctx.Row(i), s.scratch.act.firstValues.Row(i))
		}
	}
}

// attendSelf sets s.scratch.act.ctx to the self-attention of a layer, from each row to all tokens
// of its hypothesis, for s.scratch.act.qkv. It stores the keys and values.
func (s *step) attendSelf(layer int) {
	mat.Each(s.scratch.pool, len(s.rows), maxGroupRows, storeNodes{s, layer})
	keys := 0
	for _, list := range s.lanes {
		keys += len(list)
	}
	mat.Each(s.scratch.pool, len(s.groups)*s.sources.pages.heads, s.headGrain(keys), heads{s, layer, (*heads).attendSelf})
}

// attendCross sets s.scratch.act.ctx to the cross-attention of a layer, from each row to its
// source, for s.scratch.act.q.
func (s *step) attendCross(layer int) {
	keys := 0
	for _, g := range s.groups {
		keys += (g.row1 - g.row0) * s.sources.encoded[g.source].tokens
	}
	mat.Each(s.scratch.pool, len(s.groups)*s.sources.pages.heads, s.headGrain(keys), heads{s, layer, (*heads).attendCross})
}

// storeNodes is the parallel loop over the rows of a step that stores their keys and values.
type storeNodes struct {
	step  *step
	layer int
}

func (s *storeNodes) Range(lo, hi int) {
	l := &s.step.sources.pages.pageLayout
	for i := lo; i < hi; i++ {
		list := s.step.lanes[i]
		node := list[len(list)-1]
		p := s.step.sources.encoded[s.step.rows[i].source].pages[node/pageTokens]
		l.store(p, s.layer, int(node%pageTokens), s.step.scratch.act.qkv.Row(i)[l.heads*l.dk:])
	}
}

// store stores kv, the keys and values of all heads of one token, as token t of a page.
func (l *pageLayout) store(p page, layer, t int, kv []float32) {
	k, v := kv[:l.heads*l.dk], kv[l.heads*l.dk:]
	for h := range l.heads {
		keys := p[l.keys(layer, h):][:l.dk*pageTokens]
		for j, x := range k[h*l.dk:][:l.dk] {
			keys[j*pageTokens+t] = x
		}
		copy(p[l.values(layer, h)+t*l.dv:], v[h*l.dv:][:l.dv])
	}
}

// storeSources is the parallel loop over added sources that stores their keys and values.
type storeSources struct {
	step    *step
	layer   int
	handles []int32
}

func (s *storeSources) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		src, first := s.step.sources.encoded[s.handles[i]], int(s.step.scratch.starts[i])
		for t := range src.tokens {
			s.step.sources.pages.store(src.cross[t/pageTokens], s.layer, t%pageTokens, s.step.scratch.act.kv.Row(first+t))
		}
	}
}

// heads is the parallel loop of attention over the heads of all groups.
type heads struct {
	step  *step
	layer int
	// attend computes heads [h0, h1) of a group.
	attend func(*heads, *workspace, *rowGroup, int, int)
}

func (s *heads) Range(lo, hi int) {
	ws, n := workspaces.Get().(*workspace), s.step.sources.pages.heads
	defer workspaces.Put(ws)
	for lo < hi {
		end := min(hi, lo-lo%n+n) // of the group
		s.attend(s, ws, &s.step.groups[lo/n], lo%n, lo%n+end-lo)
		lo = end
	}
}

// score sets the scores of rows [r0, r1) of a group and heads [h0, h1) to the 16 keys of a page.
// Row (r-g.row0)·(h1-h0) + h-h0 of scores is that of row r and head h.
func (s *heads) score(scores, q mat.Matrix, g *rowGroup, r0, r1, h0, h1 int, p page) {
	l, n := &s.step.sources.pages.pageLayout, h1-h0
	first := (r0 - g.row0) * n
	if r1-r0 == 1 {
		ofHeads := mat.Of(q.Row(r0)[h0*l.dk:], n, l.dk)
		mat.ScoreKeys(scores.RowRange(first, first+n), ofHeads, p[l.keys(s.layer, h0):], l.floatsOfKeys())
		return
	}
	ofRows := scores.RowRange(first, first+(r1-r0)*n)
	for h := h0; h < h1; h++ {
		mat.ScoreKeys(everyNth(ofRows, h-h0, n), q.Slice(r0, r1, h*l.dk, (h+1)*l.dk), p[l.keys(s.layer, h):], 0)
	}
}

// attendSelf computes self-attention. The scores are those of all nodes of the pages; softmax and
// contexts select the nodes of a hypothesis in order of position, as in the forward pass over the
// whole sentence.
func (s *heads) attendSelf(ws *workspace, g *rowGroup, h0, h1 int) {
	l, src, n := &s.step.sources.pages.pageLayout, s.step.sources.encoded[g.source], h1-h0
	scores := matrix(&ws.scores, (g.row1-g.row0)*n, len(src.pages)*pageTokens)
	for _, t := range s.step.touched[g.touched0:g.touched1] {
		c := int(t.page) * pageTokens
		s.score(scores.ColRange(c, c+pageTokens), s.step.scratch.act.qkv, g, int(t.row0), int(t.row1), h0, h1, src.pages[t.page])
	}
	for r := g.row0; r < g.row1; r++ {
		list := s.step.lanes[r]
		weights := matrix(&ws.weights, n, len(list))
		for h := range n {
			ofNodes, w := scores.Row((r-g.row0)*n+h), weights.Row(h)
			for j, node := range list {
				w[j] = ofNodes[node]
			}
		}
		mat.SoftmaxRows(weights, weights, len(list), scaleOf(l.dk))
		ctx := mat.Of(s.step.scratch.act.ctx.Row(r)[h0*l.dv:], n, l.dv)
		clear(ctx.Data)
		for i := 0; i < len(list); {
			p, end := list[i]/pageTokens, i+1
			for end < len(list) && list[end]/pageTokens == p {
				end++
			}
			mat.AddValues(ctx, weights.ColRange(i, end), src.pages[p][l.values(s.layer, h0):], l.floatsOfValues(), list[i:end])
			i = end
		}
	}
}

// attendCross computes cross-attention.
func (s *heads) attendCross(ws *workspace, g *rowGroup, h0, h1 int) {
	l, src, n := &s.step.sources.pages.pageLayout, s.step.sources.encoded[g.source], h1-h0
	scores := matrix(&ws.scores, (g.row1-g.row0)*n, len(src.cross)*pageTokens)
	for i, p := range src.cross {
		s.score(scores.ColRange(i*pageTokens, (i+1)*pageTokens), s.step.scratch.act.q, g, g.row0, g.row1, h0, h1, p)
	}
	weights := scores.ColRange(0, src.tokens)
	mat.SoftmaxRows(weights, weights, src.tokens, scaleOf(l.dk))
	rows := g.row1 - g.row0
	ctx := s.step.scratch.act.ctx.Slice(g.row0, g.row1, h0*l.dv, h1*l.dv)
	for r := range rows {
		clear(ctx.Row(r))
	}
	for i, p := range src.cross {
		first := i * pageTokens
		tokens := min(pageTokens, src.tokens-first)
		w, v := weights.ColRange(first, first+tokens), p[l.values(s.layer, h0):]
		if rows == 1 {
			mat.AddValues(mat.Of(ctx.Data, n, l.dv), w, v, l.floatsOfValues(), pageLanes[:tokens])
			continue
		}
		for h := range n {
			mat.AddValues(ctx.ColRange(h*l.dv, (h+1)*l.dv), everyNth(w, h, n), v[h*l.floatsOfValues():], 0, pageLanes[:tokens])
		}
	}
}

// everyNth returns rows i, i+n, i+2·n, … of m.
func everyNth(m mat.Matrix, i, n int) mat.Matrix {
	m = m.RowRange(i, m.Rows)
	m.Rows, m.RowStride = (m.Rows+n-1)/n, m.RowStride*n
	return m
}

// pageLanes are the tokens of a page.
var pageLanes = [pageTokens]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// cellGrain is the number of rows of one call: some microseconds.
const cellGrain = 16

// cellRows is the parallel loop over the rows of a step that advances their states.
type cellRows struct {
	step  *step
	layer int
}

func (t *cellRows) Range(lo, hi int) {
	cell, cells := t.step.weights.model.Decoder[t.layer].SSRU, &t.step.sources.cells
	for i := lo; i < hi; i++ {
		maps := t.step.scratch.act.maps.Row(i)
		var before []float32
		if slot := t.step.before[i]; slot >= 0 {
			before = cells.state(slot, t.layer)
		}
		cell.Step(maps[:len(maps)/2], cells.state(t.step.after[i], t.layer), before, maps)
	}
}
