package decode

import (
	"math"
	"sync"

	"tfm/mat"
)

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
func (s *State) groupRows() {
	rows := s.rows
	s.groups, s.touched = s.groups[:0], s.touched[:0]
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && rows[end].Source == rows[i].Source && end-i < maxGroupRows {
			end++
		}
		g := rowGroup{source: rows[i].Source, row0: i, row1: end, touched0: len(s.touched)}
		src := &s.sources[g.source]
		for p := range src.pages {
			s.touched = append(s.touched, touchedPage{page: int32(p), row0: math.MaxInt32})
		}
		touched := s.touched[g.touched0:]
		for r := i; r < end; r++ {
			for _, node := range s.nodes[r] {
				t := &touched[node/pageTokens]
				t.row0, t.row1 = min(t.row0, int32(r)), int32(r+1)
			}
		}
		kept := 0
		for _, t := range touched {
			if t.row1 > 0 {
				touched[kept] = t
				kept++
			}
		}
		s.touched = s.touched[:g.touched0+kept]
		g.touched1 = len(s.touched)
		s.groups = append(s.groups, g)
		i = end
	}
}

// workspace holds the scores of a rowGroup and one head, and the weights of one row.
type workspace struct{ scores, weights []float32 }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// matrix views buf as a rows × cols matrix, and grows it if necessary.
func matrix(buf *[]float32, rows, cols int) mat.Matrix {
	if n := rows * cols; cap(*buf) < n {
		*buf = make([]float32, n+n/2)
	}
	return mat.Of((*buf)[:cap(*buf)], rows, cols)
}

// headGrain returns the number of heads that a thread computes at a time, for keys keys of all
// groups together: enough to amortise the overhead of the loop.
func (s *State) headGrain(keys int) int {
	const minWork = 1 << 14 // multiply-adds
	l := &s.pages.pageLayout
	work := 1 + keys*(l.dk+l.dv)/len(s.groups) // of a head
	return max(1, min(l.heads, minWork/work))
}

func scaleOf(dk int) float32 { return float32(1 / math.Sqrt(float64(dk))) }

// attendSelf sets s.act.ctx to the self-attention of a layer, from each row to all tokens of its
// hypothesis, for s.act.qkv, whose keys and values it stores.
func (s *State) attendSelf(layer int) {
	mat.Each(s.pool, len(s.rows), maxGroupRows, storeNodes{s, layer})
	keys := 0
	for _, list := range s.nodes {
		keys += len(list)
	}
	mat.Each(s.pool, len(s.groups)*s.pages.heads, s.headGrain(keys), selfHeads{s, layer})
}

// attendCross sets s.act.ctx to the cross-attention of a layer, from each row to its source, for
// s.act.q.
func (s *State) attendCross(layer int) {
	keys := 0
	for _, g := range s.groups {
		keys += (g.row1 - g.row0) * s.sources[g.source].tokens
	}
	grain, mean := s.headGrain(keys), mat.Matrix{}
	if s.keepWeights && layer == len(s.w.decoder)-1 {
		grain, mean = s.pages.heads, s.weights // one thread adds the heads of a row
	}
	mat.Each(s.pool, len(s.groups)*s.pages.heads, grain, crossHeads{s, layer, mean})
}

// storeNodes is the parallel loop over the rows of a step that stores their keys and values.
type storeNodes struct {
	*State
	layer int
}

func (s *storeNodes) Range(lo, hi int) {
	l := &s.pages.pageLayout
	for i := lo; i < hi; i++ {
		list := s.nodes[i]
		node := list[len(list)-1]
		p := s.sources[s.rows[i].Source].pages[node/pageTokens]
		l.store(p, s.layer, int(node%pageTokens), s.act.qkv.Row(i)[l.heads*l.dk:])
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
	*State
	layer   int
	handles []int32
}

func (s *storeSources) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		src, first := &s.sources[s.handles[i]], int(s.starts[i])
		for t := range src.tokens {
			s.pages.store(src.cross[t/pageTokens], s.layer, t%pageTokens, s.act.kv.Row(first+t))
		}
	}
}

// selfHeads is the parallel loop of self-attention over the heads of all groups.
type selfHeads struct {
	*State
	layer int
}

func (s *selfHeads) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s.attend(ws, &s.groups[i/s.pages.heads], i%s.pages.heads)
	}
}

// attend computes one head of a group. The scores are those of all nodes of the pages; softmax and
// contexts select the nodes of a hypothesis in order of position, as in the forward pass over the
// whole sentence.
func (s *selfHeads) attend(ws *workspace, g *rowGroup, head int) {
	l, src := &s.pages.pageLayout, &s.sources[g.source]
	scores := matrix(&ws.scores, g.row1-g.row0, len(src.pages)*pageTokens)
	q := s.act.qkv.Slice(g.row0, g.row1, head*l.dk, (head+1)*l.dk)
	for _, t := range s.touched[g.touched0:g.touched1] {
		r0, r1, c := int(t.row0)-g.row0, int(t.row1)-g.row0, int(t.page)*pageTokens
		keys := mat.Of(src.pages[t.page][l.keys(s.layer, head):], l.dk, pageTokens)
		mat.Gemm(nil, scores.Slice(r0, r1, c, c+pageTokens), q.RowRange(r0, r1), keys, mat.GemmOptions{})
	}
	values := l.values(s.layer, head)
	for r := g.row0; r < g.row1; r++ {
		list, ofNodes := s.nodes[r], scores.Row(r-g.row0)
		weights := matrix(&ws.weights, 1, len(list)).Row(0)
		for j, node := range list {
			weights[j] = ofNodes[node]
		}
		mat.Softmax(weights, weights, scaleOf(l.dk))
		ctx := s.act.ctx.Row(r)[head*l.dv:][:l.dv]
		clear(ctx)
		for j, node := range list {
			p := src.pages[node/pageTokens]
			mat.Axpy(ctx, weights[j], p[values+int(node%pageTokens)*l.dv:][:l.dv])
		}
	}
}

// crossHeads is the parallel loop of cross-attention over the heads of all groups.
type crossHeads struct {
	*State
	layer int
	mean  mat.Matrix // output: mean of the weights over the heads, see StepWeights; may be empty
}

func (s *crossHeads) Range(lo, hi int) {
	ws := workspaces.Get().(*workspace)
	defer workspaces.Put(ws)
	for i := lo; i < hi; i++ {
		s.attend(ws, &s.groups[i/s.pages.heads], i%s.pages.heads)
	}
}

// attend computes one head of a group.
func (s *crossHeads) attend(ws *workspace, g *rowGroup, head int) {
	l, src, n := &s.pages.pageLayout, &s.sources[g.source], g.row1-g.row0
	scores := matrix(&ws.scores, n, len(src.cross)*pageTokens)
	q := s.act.q.Slice(g.row0, g.row1, head*l.dk, (head+1)*l.dk)
	for i, p := range src.cross {
		keys := mat.Of(p[l.keys(s.layer, head):], l.dk, pageTokens)
		mat.Gemm(nil, scores.ColRange(i*pageTokens, (i+1)*pageTokens), q, keys, mat.GemmOptions{})
	}
	for r := range n {
		weights := scores.Row(r)[:src.tokens]
		mat.Softmax(weights, weights, scaleOf(l.dk))
		if s.mean.Data != nil {
			mean := s.mean.Row(g.row0 + r)[:src.tokens]
			if head == 0 {
				clear(mean)
			}
			mat.Axpy(mean, 1/float32(l.heads), weights)
		}
	}
	ctx := s.act.ctx.Slice(g.row0, g.row1, head*l.dv, (head+1)*l.dv)
	for i, p := range src.cross {
		first := i * pageTokens
		tokens := min(pageTokens, src.tokens-first)
		values := mat.Of(p[l.values(s.layer, head):], tokens, l.dv)
		mat.Gemm(nil, ctx, scores.ColRange(first, first+tokens), values, mat.GemmOptions{Accumulate: i > 0})
	}
}
