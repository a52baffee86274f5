package decode

import (
	"fmt"
	"slices"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
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
	w    *Weights
	pool *mat.Pool

	sources []*encoded // by handle
	removed []int32    // handles that the next sources get
	pages   pagePool

	lists        outputLists // of the sources
	maxListBytes int         // changed by tests
	alwaysGather bool        // set by tests

	// Activations of a step, or of the encoder in Add.
	arena layer.Arena
	act   activations

	// Of Add.
	ids    []int32 // of all sources, each followed by EOS
	starts []int32 // index in ids of each source's first token, then len(ids)

	positions []int32      // of the tokens that are embedded
	rounded   mat.Int8Rows // output of the encoder

	// Of a step.
	rows        []treeRow
	lanes       [][]int32 // of each row's hypothesis, in order of position
	lanesData   []int32
	stepTokens  []int32 // newest token of each row
	stepSources []int32 // handles of the sources that have rows
	groups      []rowGroup
	touched     []touchedPage // of all groups
	projection  projection
	hasBounds   bool      // logits are those of stepBounds
	refined     [][]int32 // of each row with bounds: the ids whose logits are computed
	added       []treeRow // workspace of Step

	keepWeights bool       // set weights in the step
	weights     mat.Matrix // see StepWeights
	weightsData []float32
}

// Row is one hypothesis in a step.
type Row struct {
	Source int32 // handle of its source
	Token  int32 // newest token; BOS for a new hypothesis
	// Parent is the hypothesis that the row continues: an index among the rows of its source in
	// the last step that had rows of the source. It is -1 for a new hypothesis.
	Parent int32
}

// encoded is a source of a State.
type encoded struct {
	kvCache
	added    bool
	stepping bool        // it has rows in a step, which is not complete
	list     *outputList // of pieces with logits; nil for all
}

// activations are those of all layers of the encoder or of the decoder, for n rows. A layer reads
// its input before it writes its output, so all layers share them.
type activations struct {
	x, h   mat.Matrix    // [n × d] input of a sublayer; its output and the sum with the residual
	qkv    mat.Matrix    // [n × (2h·d_k + h·d_v)]
	q      mat.Matrix    // [n × h·d_k] of cross-attention
	kv     mat.Matrix    // [n × (h·d_k + h·d_v)] of cross-attention
	ctx    mat.Matrix    // [n × h·d_v]
	hidden mat.Matrix    // [n × ff]
	norm   layer.NormAct // mean and rstd; the caller sets Y
	logits mat.Matrix    // [n × V]

	unnormed, firstValues mat.Matrix // of unnormKeys: [n × (2h·d_k + h·d_v)], [n × h·d_v]
}

// NewState returns a State with the weights w whose loops run on p.
func NewState(w *Weights, p *mat.Pool) *State {
	return &State{w: w, pool: p, pages: pagePool{pageLayout: newPageLayout(len(w.decoder), w.sizes())}, maxListBytes: maxListBytes}
}

// Add encodes sources, ids without EOS, in one batch, and appends their handles to handles. The
// batch needs memory in proportion to all tokens of sources. Add panics on ids outside the
// vocabulary and on a source of more than Config.MaxLen-1 tokens.
func (s *State) Add(handles []int32, sources ...[]int32) []int32 {
	c := &s.w.model.Config
	s.ids, s.starts = s.ids[:0], append(s.starts[:0], 0)
	for i, src := range sources {
		checkIDs("source", i, src, c.SrcVocab, c.MaxSource()+1)
		s.ids = c.SourceMarks.Append(s.ids, src)
		s.starts = append(s.starts, int32(len(s.ids)))
	}
	if len(sources) == 0 {
		return handles
	}
	memory := s.encode()
	added := len(handles)
	for i := range sources {
		handles = append(handles, s.newSource(int(s.starts[i+1]-s.starts[i])))
	}
	s.roundMemory(memory)
	for i := range s.w.decoder {
		s.w.decoder[i].kv.mulRounded(s.pool, s.act.kv, memory, &s.rounded)
		mat.Each(s.pool, len(sources), 1, storeSources{s, i, handles[added:]})
	}
	return handles
}

// roundMemory rounds the encoder's output for the keys and values of all layers, if the weights are
// int8.
func (s *State) roundMemory(memory mat.Matrix) {
	if s.w.form == Int8 {
		s.rounded.Set(s.pool, memory)
	}
}

// newSource returns the handle of a new source with pages for its tokens.
func (s *State) newSource(tokens int) int32 {
	var h int32
	if n := len(s.removed); n > 0 {
		h, s.removed = s.removed[n-1], s.removed[:n-1]
	} else {
		h, s.sources = int32(len(s.sources)), append(s.sources, new(encoded))
	}
	src := s.sources[h]
	src.added, src.tokens = true, tokens
	for n := 0; n < tokens; n += pageTokens {
		src.cross = append(src.cross, s.pages.get())
	}
	return h
}

// Remove frees a source and its hypotheses. Its handle becomes invalid and may be that of a source
// added later. Remove panics on a handle that is not valid.
func (s *State) Remove(handle int32) {
	if !s.valid(handle) {
		panic(fmt.Sprintf("decode: Remove of source %d, which is not in the State", handle))
	}
	src := s.sources[handle]
	s.lists.put(src.list)
	src.added, src.list = false, nil
	src.clear(&s.pages)
	s.removed = append(s.removed, handle)
}

func (s *State) valid(handle int32) bool {
	return handle >= 0 && int(handle) < len(s.sources) && s.sources[handle].added
}

// checkIDs panics if a sentence is too long for the model or has an id outside the vocabulary.
func checkIDs(side string, i int, ids []int32, vocabulary, maxLen int) {
	if len(ids) >= maxLen {
		panic(fmt.Sprintf("decode: %s %d has %d tokens with BOS or EOS, over the model's limit of %d", side, i, len(ids)+1, maxLen))
	}
	for _, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			panic(fmt.Sprintf("decode: id %d in %s %d, want 0 to %d", id, side, i, vocabulary-1))
		}
	}
}

// Step appends a token to each row's hypothesis and returns the logits [rows × V] of the next one,
// -Inf for pieces that Restrict excludes. They are valid until the next Step or Add. Rows may have
// different lengths and translate any sources. If a source has rows, Step discards those of its
// hypotheses that no row continues; it leaves the hypotheses of other sources unchanged. Step
// panics on ids, sources and parents that do not exist, and on a hypothesis of more than
// Config.MaxLen tokens.
func (s *State) Step(rows []Row) mat.Matrix {
	logits, _ := s.step(s.treeRowsOf(rows), stepOutputs{})
	return logits
}

// StepWeights is Step that also returns the cross-attention weights of the last decoder layer,
// averaged over its heads, [rows × longest source]: those of a row to the tokens of its source,
// and last that to its marks, together, such as EOS. They are valid until the next StepWeights.
func (s *State) StepWeights(rows []Row) (logits, weights mat.Matrix) {
	return s.step(s.treeRowsOf(rows), stepOutputs{weights: true})
}

// treeRowsOf adds the tokens of rows to the trees of their sources.
func (s *State) treeRowsOf(rows []Row) []treeRow {
	for i := range rows {
		s.checkRow(i, &rows[i])
	}
	s.added = s.added[:0]
	for _, r := range rows {
		src := s.sources[r.Source]
		row := treeRow{r.Source, 0}
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
	if !s.valid(r.Source) {
		panic(fmt.Sprintf("decode: source %d in row %d, which is not in the State", r.Source, i))
	}
	if r.Parent < 0 {
		return
	}
	src := s.sources[r.Source]
	if int(r.Parent) >= len(src.tails) {
		panic(fmt.Sprintf("decode: parent %d in row %d, but source %d had %d rows in its last step", r.Parent, i, r.Source, len(src.tails)))
	}
	if n := int(src.nodes[src.tails[r.Parent]].position) + 1; n >= c.MaxLen {
		panic(fmt.Sprintf("decode: hypothesis of %d tokens with BOS, over the model's limit of %d", n+1, c.MaxLen))
	}
}

// hypotheses returns the tree of a source.
func (s *State) hypotheses(handle int32) *tree { return &s.sources[handle].tree }

// step takes the last tokens of rows through the decoder. See stepper.
func (s *State) step(rows []treeRow, outputs stepOutputs) (logits, weights mat.Matrix) {
	if len(rows) == 0 {
		return mat.Matrix{}, mat.Matrix{}
	}
	if s.keepWeights = outputs.weights; outputs.weights {
		s.allocWeights(rows)
	}
	s.extendHypotheses(rows)
	s.groupRows()
	s.allocDecoder(len(rows), len(rows))
	s.stepTokens, s.positions = s.stepTokens[:0], s.positions[:0]
	for _, r := range rows {
		n := &s.sources[r.source].nodes[r.node]
		s.stepTokens, s.positions = append(s.stepTokens, n.token), append(s.positions, n.position)
	}
	s.embed(&s.w.target, s.stepTokens)
	s.decode()
	if s.hasBounds = outputs.bounds && s.w.form == Float32 && !s.hasLists(); s.hasBounds {
		s.projectBounds()
	} else {
		s.project()
	}
	return s.act.logits, s.weights
}

// allocWeights allocates the attention weights of a step.
func (s *State) allocWeights(rows []treeRow) {
	longest := 0
	for _, r := range rows {
		longest = max(longest, s.sources[r.source].tokens)
	}
	if s.w.model.Config.SourceMarks == model.NoMarks {
		longest++ // a column for EOS
	}
	s.weights = matrix(&s.weightsData, len(rows), longest)
}

// extendHypotheses gives the last node of each row's hypothesis a lane, and sets s.lanes.
func (s *State) extendHypotheses(rows []treeRow) {
	s.rows, s.lanes, s.stepSources = append(s.rows[:0], rows...), s.lanes[:0], s.stepSources[:0]
	lanes := 0
	for _, r := range rows {
		src := s.sources[r.source]
		if !src.stepping {
			src.stepping, s.stepSources = true, append(s.stepSources, r.source)
		}
		src.keep(r.node)
		lanes += int(src.nodes[r.node].position) + 1
	}
	for _, h := range s.stepSources {
		s.sources[h].discard(&s.pages)
	}
	s.lanesData = slices.Grow(s.lanesData[:0], lanes)[:lanes]
	for rest := s.lanesData; len(s.lanes) < len(rows); {
		r := rows[len(s.lanes)]
		src := s.sources[r.source]
		src.extend(&s.pages, r.node)
		n := int(src.nodes[r.node].position) + 1
		src.kvCache.lanes(rest[:n], r.node)
		s.lanes, rest = append(s.lanes, rest[:n]), rest[n:]
	}
	for _, h := range s.stepSources {
		s.sources[h].stepping = false
		s.sources[h].advance()
	}
}

// allocDecoder allocates the activations of the decoder for n tokens, and logits of logitRows rows.
func (s *State) allocDecoder(n, logitRows int) {
	c, sizes := &s.w.model.Config, s.w.sizes()
	keys, values := sizes.Heads*sizes.DK, sizes.Heads*sizes.DV
	s.arena.Alloc(func() {
		a := &s.arena
		s.act = activations{
			x: a.Matrix(n, c.DModel), h: a.Matrix(n, c.DModel), qkv: a.Matrix(n, 2*keys+values), q: a.Matrix(n, keys), ctx: a.Matrix(n, values),
			hidden: a.Matrix(n, c.DFF), norm: layer.NormAct{Mean: a.Slice(n), RStd: a.Slice(n)}, logits: a.Matrix(logitRows, c.TgtVocab),
		}
		if s.w.unnormedKeys {
			s.act.unnormed, s.act.firstValues = a.Matrix(n, 2*keys+values), a.Matrix(n, values)
		}
	})
}

// allocEncoder allocates the activations of the encoder for n tokens.
func (s *State) allocEncoder(n int) {
	c, sizes := &s.w.model.Config, s.w.sizes()
	keys, values := sizes.Heads*sizes.DK, sizes.Heads*sizes.DV
	s.arena.Alloc(func() {
		a := &s.arena
		s.act = activations{
			x: a.Matrix(n, c.DModel), h: a.Matrix(n, c.DModel), qkv: a.Matrix(n, 2*keys+values), ctx: a.Matrix(n, values),
			hidden: a.Matrix(n, c.DFF), norm: layer.NormAct{Mean: a.Slice(n), RStd: a.Slice(n)}, kv: a.Matrix(n, keys+values),
		}
	})
}
