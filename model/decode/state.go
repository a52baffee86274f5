package decode

import (
	"fmt"
	"math"
	"slices"

	"tfm/layer"
	"tfm/mat"
)

// State holds encoded sources and the keys and values of hypotheses that translate them. Add
// encodes sources, Step appends a token to hypotheses and returns the logits of the next, Remove
// frees a source. Sources may be added and removed between any two steps, and a step may leave
// sources out. The logits of a row depend only on its source and its tokens, not on other rows,
// earlier sources or the number of threads, and have the bits of the forward pass over the whole
// sentence.
//
// A State keeps the memory of its largest step, of pages and lists that the next sources can use
// (see pagePool, outputLists), and of the hypotheses of each source, which the next source with its
// handle uses. So Add, Restrict, Step and Remove allocate nothing after some time, unless the
// number of pages varies by much more than 64 MB. A State is not safe for concurrent use; any
// number of States may share Weights.
type State struct {
	w       *Weights
	pool    *mat.Pool
	sources sourceSet
	limits  listLimits
	threads []*thread    // one for each of pool's
	free    chan *thread // in Add
	ids     []int32      // of the added sources, with marks
	starts  []int        // index in ids of each source's first token, then len(ids)
	chunks  []int        // first source of each chunk in Add, then the number of sources

	begin   stepBegin
	shares  []int // first row of each thread in the step, then the number of rows
	buffers struct{ logits, expanded []float32 }
	added   []treeRow // workspace of Step
}

// Row is one hypothesis in a step.
type Row struct {
	Source int32 // handle of its source
	Token  int32 // newest token; BOS for a new hypothesis
	// Parent is the hypothesis that the row continues: an index among the rows of its source in
	// the last step that had rows of the source. It is -1 for a new hypothesis.
	Parent int32
}

// NewState returns a State with the weights w whose loops run on p.
func NewState(w *Weights, p *mat.Pool) *State {
	s := &State{w: w, pool: p, limits: listLimits{maxBytes: maxListBytes}, free: make(chan *thread, p.Threads())}
	s.sources.pages.pageLayout = newPageLayout(len(w.decoder), w.sizes())
	if w.recurrent() {
		s.sources.cells.layers, s.sources.cells.d = len(w.decoder), w.model.Config.DModel
	}
	s.begin.sources = &s.sources
	for range p.Threads() {
		k := newThread(w, &s.sources, &s.limits)
		s.threads = append(s.threads, k)
		s.free <- k
	}
	return s
}

// Add encodes sources, ids without EOS, in one batch, and appends their handles to handles. The
// batch needs memory in proportion to all tokens of sources. Add panics on ids outside the
// vocabulary and on a source of more than Config.MaxLen-1 tokens.
func (s *State) Add(handles []int32, sources ...[]int32) []int32 {
	c := &s.w.model.Config
	for i, src := range sources {
		checkIDs("source", i, src, c.SrcVocab, c.MaxSource()+1)
	}
	if len(sources) == 0 {
		return handles
	}
	added := len(handles)
	s.ids, s.starts = s.ids[:0], append(s.starts[:0], 0)
	for _, src := range sources {
		s.ids = c.Source.Append(s.ids, src)
		handles = append(handles, s.sources.add(len(s.ids)-s.starts[len(s.starts)-1]))
		s.starts = append(s.starts, len(s.ids))
	}
	if s.pool.Threads() > 1 && len(s.ids) < minThreadTokens*s.pool.Threads() {
		s.threads[0].add(s.pool, handles[added:], sources)
		return handles
	}
	s.splitSources()
	mat.Each(s.pool, len(s.chunks)-1, 1, addChunks{s, handles[added:], sources})
	return handles
}

// splitSources sets s.chunks to a split of the added sources into chunks of similar sizes.
func (s *State) splitSources() {
	tokens, threads := len(s.ids), s.pool.Threads()
	chunk := maxThreadTokens
	if s.w.form == Int8 {
		chunk /= 2
	}
	n := (tokens + chunk - 1) / chunk
	n = (n + threads - 1) / threads * threads
	s.chunks = append(s.chunks[:0], 0)
	for i, end := range s.starts[1:] {
		if end >= tokens*len(s.chunks)/n {
			s.chunks = append(s.chunks, i+1)
		}
	}
}

// Restrict leaves only the logits of ids in the rows of a source; Step returns -Inf for other
// pieces. It may be called once for a source. It panics on a handle that is not valid, and on ids
// that are outside the vocabulary or not in ascending order.
func (s *State) Restrict(handle int32, ids []int32) {
	if !s.sources.valid(handle) || s.sources.encoded[handle].list != nil {
		panic(fmt.Sprintf("decode: Restrict of source %d, which is not in the State or is restricted", handle))
	}
	vocabulary := s.w.model.Config.TgtVocab
	for i, id := range ids {
		if id < 0 || int(id) >= vocabulary || i > 0 && id <= ids[i-1] {
			panic(fmt.Sprintf("decode: id %d at index %d of a list, want ascending ids from 0 to %d", id, i, vocabulary-1))
		}
	}
	l := s.sources.lists.get()
	l.ids = append(l.ids[:0], ids...)
	s.sources.encoded[handle].list = l
}

// Remove frees a source and its hypotheses. Its handle becomes invalid and may be that of a source
// added later. Remove panics on a handle that is not valid.
func (s *State) Remove(handle int32) {
	if !s.sources.valid(handle) {
		panic(fmt.Sprintf("decode: Remove of source %d, which is not in the State", handle))
	}
	s.sources.remove(handle)
}

// Step appends a token to each row's hypothesis and returns the logits [rows × V] of the next one,
// -Inf for pieces that Restrict excludes. They are valid until the next Step or Add. Rows may have
// different lengths and translate any sources. If a source has rows, Step discards those of its
// hypotheses that no row continues; it leaves the hypotheses of other sources unchanged. Step
// panics on ids, sources and parents that do not exist, and on a hypothesis of more than
// Config.MaxLen tokens.
func (s *State) Step(rows []Row) mat.Matrix {
	logits := s.step(s.treeRows(rows), false)
	if !slices.ContainsFunc(rows, func(r Row) bool { return s.list(r.Source) != nil }) {
		return logits
	}
	all := matrix(&s.buffers.expanded, len(rows), s.w.model.Config.TgtVocab)
	for i, r := range rows {
		ids := s.list(r.Source)
		if ids == nil {
			copy(all.Row(i), logits.Row(i))
			continue
		}
		layer.Fill(all.Row(i), float32(math.Inf(-1)))
		for k, id := range ids {
			all.Row(i)[id] = logits.Row(i)[k]
		}
	}
	return all
}

// treeRows adds the tokens of rows to the trees of their sources.
func (s *State) treeRows(rows []Row) []treeRow {
	for i := range rows {
		s.checkRow(i, &rows[i])
	}
	s.added = s.added[:0]
	for _, r := range rows {
		src := s.sources.encoded[r.Source]
		row := treeRow{source: r.Source}
		if r.Parent >= 0 {
			row.node = src.add(src.tails[r.Parent], r.Token, 0)
		} else {
			row.node = src.addRoot()
			src.nodes[row.node].token = r.Token
		}
		s.added = append(s.added, row)
	}
	return s.added
}

func (s *State) checkRow(i int, r *Row) {
	c := &s.w.model.Config
	if r.Token < 0 || int(r.Token) >= c.TgtVocab {
		panic(fmt.Sprintf("decode: id %d in row %d, want 0 to %d", r.Token, i, c.TgtVocab-1))
	}
	if !s.sources.valid(r.Source) {
		panic(fmt.Sprintf("decode: source %d in row %d, which is not in the State", r.Source, i))
	}
	if r.Parent < 0 {
		return
	}
	src := s.sources.encoded[r.Source]
	if int(r.Parent) >= len(src.tails) {
		panic(fmt.Sprintf("decode: parent %d in row %d, but source %d had %d rows in its last step", r.Parent, i, r.Source, len(src.tails)))
	}
	if n := int(src.nodes[src.tails[r.Parent]].position) + 1; n >= c.MaxLen {
		panic(fmt.Sprintf("decode: hypothesis of %d tokens with BOS, over the model's limit of %d", n+1, c.MaxLen))
	}
}

// The methods of stepper.

func (s *State) hypotheses(handle int32) *tree { return &s.sources.encoded[handle].tree }

func (s *State) list(handle int32) rowIDs {
	if l := s.sources.encoded[handle].list; l != nil {
		return l.ids
	}
	return nil
}

func (s *State) step(rows []treeRow, bounds bool) (logits mat.Matrix) {
	if len(rows) == 0 {
		return mat.Matrix{}
	}
	s.begin.begin(rows)
	logits = s.allocLogits(rows)
	s.splitRows(rows)
	if len(s.shares) == 2 {
		s.threads[0].run(s.pool, s.begin.stepRows, logits, bounds)
	} else {
		mat.Each(s.pool, len(s.shares)-1, 1, stepShares{s, logits, bounds})
	}
	return logits
}

// allocLogits allocates the logits of a step, with as many columns as the longest row has.
func (s *State) allocLogits(rows []treeRow) mat.Matrix {
	cols := 0
	for _, r := range rows {
		if ids := s.list(r.source); ids != nil {
			cols = max(cols, len(ids))
		} else {
			cols = s.w.model.Config.TgtVocab
		}
	}
	return matrix(&s.buffers.logits, len(rows), cols)
}

// splitRows sets s.shares: one share if there are few rows, or if those of a source are not
// consecutive, otherwise one for each thread, with all rows of its sources.
func (s *State) splitRows(rows []treeRow) {
	n := len(rows) / minThreadRows
	if s.w.recurrent() {
		n *= 2
	}
	n = min(n, s.pool.Threads())
	s.shares = append(s.shares[:0], 0)
	sources := 0
	for i := 1; i < len(rows) && n > 1; i++ {
		if rows[i].source == rows[i-1].source {
			continue
		}
		if sources++; i >= len(rows)*len(s.shares)/n {
			s.shares = append(s.shares, i)
		}
	}
	if sources+1 != len(s.begin.stepSources) {
		s.shares = s.shares[:1]
	}
	s.shares = append(s.shares, len(rows))
}

func (s *State) refine(row int, id int32) (logit float32, wasBound bool) {
	share := 0
	for row >= s.shares[share+1] {
		share++
	}
	return s.threads[share].output.refine(row-s.shares[share], id)
}

// Limits of what one thread computes alone. Fewer rows, on which products are slow, are left to all
// threads together.
const (
	minThreadRows   = 16  // of a step, half with SSRUs, whose weights are few
	minThreadTokens = 64  // of sources
	maxThreadTokens = 256 // of sources, half with weights in int8; activations stay in the cache
)

// addChunks is the parallel loop over chunks of added sources.
type addChunks struct {
	*State
	handles []int32
	sources [][]int32
}

func (t *addChunks) Range(lo, hi int) {
	k := <-t.free
	defer func() { t.free <- k }()
	for i := lo; i < hi; i++ {
		a, b := t.chunks[i], t.chunks[i+1]
		k.add(nil, t.handles[a:b], t.sources[a:b])
	}
}

// stepShares is the parallel loop over the shares of a step. Share i is that of thread i.
type stepShares struct {
	*State
	logits mat.Matrix
	bounds bool
}

func (t *stepShares) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		a, b := t.shares[i], t.shares[i+1]
		t.threads[i].run(nil, t.begin.slice(a, b), t.logits.RowRange(a, b), t.bounds)
	}
}

// thread takes some of the sources through the encoder, or some of the rows of a step through the
// decoder.
type thread struct {
	scratch scratch
	step    step
	output  outputProjection
}

func newThread(w *Weights, sources *sourceSet, limits *listLimits) *thread {
	k := new(thread)
	k.step = step{sources: sources, weights: w, scratch: &k.scratch}
	k.output = outputProjection{step: &k.step, limits: limits}
	return k
}

// add encodes sources and stores their keys and values. The threads of pool divide each product.
func (k *thread) add(pool *mat.Pool, handles []int32, sources [][]int32) {
	k.scratch.pool = pool
	memory := k.step.weights.encode(&k.scratch, sources)
	for i := range k.step.weights.decoder {
		k.step.weights.decoder[i].kv.mulRounded(pool, k.scratch.act.kv, memory, &k.scratch.rounded)
		mat.Each(pool, len(sources), 1, storeSources{&k.step, i, handles})
	}
}

// run computes rows and sets their logits.
func (k *thread) run(pool *mat.Pool, rows stepRows, logits mat.Matrix, bounds bool) {
	k.scratch.pool = pool
	x := k.step.begin(rows)
	x = k.step.weights.decode(&k.scratch, &k.step, x)
	k.output.project(logits, x, bounds)
}
