package decode

import (
	"fmt"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// State holds encoded sources and the cached keys and values of hypotheses that translate them.
// Begin encodes sources; Step appends a token to each hypothesis and returns the logits of the
// next. The logits of a row depend only on its source and its tokens, not on other rows or the
// number of threads, and have the bits of the forward pass over the whole sentence.
//
// After its largest batch, Step allocates nothing. A State is not safe for concurrent use; any
// number of States may share Weights.
type State struct {
	w    *Weights
	pool *mat.Pool

	arena   layer.Arena
	encoder encoderActivations
	decoder decoderActivations
	sources []sourceKV // of each decoder layer
	caches  []cache    // of each decoder layer
	ids     []int32    // of all sources, each followed by EOS
	starts  []int32    // index in ids of each source's first token, then len(ids)

	scores    []float32 // [rows × longest source or positions] workspace of the attentions
	maxSource int       // tokens of the longest source, with EOS

	rows        []cachedRow // of the last step; assignSlots sets those of the current one
	next        []cachedRow // workspace of assignSlots, which swaps it with rows
	hasChild    []bool      // of each row of the last step: a row continues it
	slotUsed    []bool      // of each slot of the caches
	tokens      []int32     // of the rows of a step
	rowSources  []int32     // index of each row's source
	meanWeights mat.Matrix  // see crossStep; empty except in Decoder.Attention
}

// Row is one hypothesis in a step.
type Row struct {
	Token  int32 // newest token; BOS for a new hypothesis
	Source int32 // index of its source in Begin's sources
	Parent int32 // row of the last step that it continues, -1 for a new hypothesis
}

// cachedRow is the slot and the length of a row's hypothesis.
type cachedRow struct {
	slot   int32
	tokens int32 // with BOS
}

// NewState returns a State with the weights w whose loops run on p.
func NewState(w *Weights, p *mat.Pool) *State {
	n := len(w.model.Decoder)
	return &State{w: w, pool: p, sources: make([]sourceKV, n), caches: make([]cache, n)}
}

// encoderActivations are the activations of all encoder layers. A layer reads its input before it
// writes its output, so the layers can share them.
type encoderActivations struct {
	x     mat.Matrix // [m × d] embedded tokens
	layer model.EncoderAct
	final layer.NormAct // of the final norm, if any
}

// decoderActivations are the activations of all decoder layers in a step.
type decoderActivations struct {
	x                   mat.Matrix // [rows × d]
	self                attn.SelfAct
	cross               attn.CrossAct // without keys and values
	norm1, norm2, norm3 layer.NormAct
	ff                  layer.FeedForwardAct
	final               layer.NormAct
	logits              mat.Matrix // [rows × V]
}

// Begin discards all hypotheses and encodes sources, ids without EOS, for steps of up to rows rows.
// positions is the expected length limit of a hypothesis, BOS counted: Begin keeps cache memory for
// up to that many positions, and Step grows it when needed. Begin panics on ids outside the
// vocabulary, on a source of more than Config.MaxLen-1 tokens, and on rows below 1.
func (s *State) Begin(sources [][]int32, rows, positions int) {
	c := &s.w.model.Config
	if rows < 1 {
		panic(fmt.Sprintf("decode: Begin for steps of %d rows, want 1 or more", rows))
	}
	s.ids, s.starts, s.maxSource = s.ids[:0], append(s.starts[:0], 0), 0
	for i, src := range sources {
		checkIDs("source", i, src, c.SrcVocab, c.MaxLen)
		s.ids = append(append(s.ids, src...), model.EOS)
		s.starts = append(s.starts, int32(len(s.ids)))
		s.maxSource = max(s.maxSource, len(src)+1)
	}
	s.rows, s.meanWeights = s.rows[:0], mat.Matrix{}
	for len(s.slotUsed) < rows {
		s.slotUsed = append(s.slotUsed, false)
	}
	s.slotUsed = s.slotUsed[:rows]
	s.arena.Alloc(func() { s.alloc(len(s.ids), rows) })
	memory := s.encode()
	for i := range s.w.model.Decoder {
		l := &s.w.model.Decoder[i]
		s.sources[i].compute(s.pool, &l.Cross, memory)
		s.caches[i].alloc(rows, l.Self.Sizes, positions)
	}
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

// alloc allocates the memory for m source tokens and steps of n rows.
func (s *State) alloc(m, n int) {
	a, c, l := &s.arena, &s.w.model.Config, &s.w.model.Decoder[0] // all layers have equal sizes
	s.encoder = encoderActivations{x: a.Matrix(m, c.DModel), layer: s.w.model.Encoder[0].Alloc(a, m, false)}
	s.decoder = decoderActivations{
		x: a.Matrix(n, c.DModel), self: l.Self.Alloc(a, n), cross: l.Cross.Alloc(a, n, 0),
		norm1: l.Norm1.Alloc(a, n), norm2: l.Norm2.Alloc(a, n), norm3: l.Norm3.Alloc(a, n),
		ff: l.FF.Alloc(a, n, false), logits: a.Matrix(n, c.TgtVocab),
	}
	if c.HasFinalNorm() {
		s.encoder.final, s.decoder.final = s.w.model.EncNorm.Alloc(a, m), s.w.model.DecNorm.Alloc(a, n)
	}
	for i := range s.sources {
		keyWidth, valueWidth := l.Cross.Heads*l.Cross.DK, l.Cross.Heads*l.Cross.DV
		s.sources[i] = sourceKV{a.Matrix(m, keyWidth+valueWidth), a.Matrix(keyWidth, m)}
	}
}

// encode returns the encoder's output [m × d].
func (s *State) encode() mat.Matrix {
	p, act := s.pool, &s.encoder
	args := model.LayerArgs{Pool: p, Self: attn.Ragged{QStarts: s.starts, KStarts: s.starts}}
	s.w.model.SrcEmbed.Forward(p, act.x, s.ids, s.starts, mat.Dropout{})
	x := act.x
	for i := range s.w.model.Encoder {
		x = s.w.model.Encoder[i].Forward(args, &act.layer, x)
	}
	if s.w.model.Config.HasFinalNorm() {
		x = s.w.model.EncNorm.Forward(p, &act.final, x)
	}
	return x
}

// Step appends a token to each row's hypothesis and returns the logits [rows × V] of the next one,
// which are valid until the next Step and may be overwritten. Rows may have different lengths and
// translate any source. Step discards hypotheses of the last step that no row continues. It panics
// on more rows than Begin allowed, on ids, sources and parents that do not exist, and on a
// hypothesis of more than Config.MaxLen tokens.
func (s *State) Step(rows []Row) mat.Matrix {
	s.assignSlots(rows)
	act := s.decoder.view(len(rows))
	scores := s.scoresWorkspace(len(rows))
	for i, h := range s.rows {
		s.w.model.TgtEmbed.At(act.x.RowRange(i, i+1), s.tokens[i:i+1], int(h.tokens)-1)
	}
	x := act.x
	for i := range s.w.model.Decoder {
		x = s.layer(i, &act, x, scores)
	}
	if s.w.model.Config.HasFinalNorm() {
		x = s.w.model.DecNorm.Forward(s.pool, &act.final, x).RowRange(0, len(rows))
	}
	s.w.model.Output.LogitsTransposed(s.pool, act.logits, x, s.w.output)
	return act.logits
}

// layer is model.DecoderLayer.Forward of layer i for the newest tokens x [rows × d], with cached
// keys and values.
func (s *State) layer(i int, act *decoderActivations, x, scores mat.Matrix) mat.Matrix {
	l, p, none := &s.w.model.Decoder[i], s.pool, mat.Dropout{}
	if l.PreNorm {
		h := l.Norm1.Norm.Forward(p, &act.norm1, x)
		h = s.self(i, act, h, scores)
		x = layer.Residual(p, x, h, none)

		h = l.Norm2.Norm.Forward(p, &act.norm2, x)
		h = s.cross(i, act, h, scores)
		x = layer.Residual(p, x, h, none)

		h = l.Norm3.Norm.Forward(p, &act.norm3, x)
		h = l.FF.Forward(p, &act.ff, h, none)
		return layer.Residual(p, x, h, none)
	}
	h := s.self(i, act, x, scores)
	x = l.Norm1.Forward(p, &act.norm1, x, h, none)

	h = s.cross(i, act, x, scores)
	x = l.Norm2.Forward(p, &act.norm2, x, h, none)

	h = l.FF.Forward(p, &act.ff, x, none)
	return l.Norm3.Forward(p, &act.norm3, x, h, none)
}

// self returns the self-attention of layer i from x [rows × d] to all tokens of each row's
// hypothesis.
func (s *State) self(i int, act *decoderActivations, x, scores mat.Matrix) mat.Matrix {
	l := &s.w.model.Decoder[i].Self
	l.QKV.Forward(s.pool, act.self.QKV, x)
	mat.Each(s.pool, x.Rows, 1, selfStep{
		Sizes: &l.Sizes, cache: &s.caches[i],
		qkv: act.self.QKV, ctx: act.self.Ctx, scores: scores, rows: s.rows,
	})
	l.Out.Forward(s.pool, act.self.Out, act.self.Ctx)
	return act.self.Out
}

// cross returns the cross-attention of layer i from x [rows × d] to each row's source.
func (s *State) cross(i int, act *decoderActivations, x, scores mat.Matrix) mat.Matrix {
	l := &s.w.model.Decoder[i].Cross
	var mean mat.Matrix
	if i == len(s.w.model.Decoder)-1 {
		mean = s.meanWeights
	}
	l.Q.Forward(s.pool, act.cross.Q, x)
	mat.Each(s.pool, x.Rows, 1, crossStep{
		Sizes: &l.Sizes, sourceKV: &s.sources[i],
		q: act.cross.Q, ctx: act.cross.Ctx, scores: scores, starts: s.starts, rowSources: s.rowSources, meanWeights: mean,
	})
	l.Out.Forward(s.pool, act.cross.Out, act.cross.Ctx)
	return act.cross.Out
}

// assignSlots checks rows and gives each a slot of the caches. The first row that continues a
// hypothesis keeps its slot; the others get a copy of it in a free slot.
func (s *State) assignSlots(rows []Row) {
	if len(rows) > len(s.slotUsed) {
		panic(fmt.Sprintf("decode: Step of %d rows after Begin for %d", len(rows), len(s.slotUsed)))
	}
	// Lengths of all rows, and the slots of first children.
	const noSlot = -1
	clear(s.slotUsed)
	s.hasChild, s.next, s.tokens, s.rowSources = s.hasChild[:0], s.next[:0], s.tokens[:0], s.rowSources[:0]
	for range s.rows {
		s.hasChild = append(s.hasChild, false)
	}
	maxTokens := int32(0)
	for i, r := range rows {
		s.checkRow(i, r)
		h := cachedRow{noSlot, 1}
		if r.Parent >= 0 {
			parent := s.rows[r.Parent]
			h.tokens += parent.tokens
			if !s.hasChild[r.Parent] {
				s.hasChild[r.Parent], s.slotUsed[parent.slot], h.slot = true, true, parent.slot
			}
		}
		maxTokens = max(maxTokens, h.tokens)
		s.next, s.tokens, s.rowSources = append(s.next, h), append(s.tokens, r.Token), append(s.rowSources, r.Source)
	}
	if maxLen := s.w.model.Config.MaxLen; int(maxTokens) > maxLen {
		panic(fmt.Sprintf("decode: hypothesis of %d tokens with BOS, over the model's limit of %d", maxTokens, maxLen))
	}
	for l := range s.caches {
		s.caches[l].grow(int(maxTokens) - 1)
	}
	// Free slots for the rows without one, with the parent's keys and values.
	free := 0
	for i, r := range rows {
		if s.next[i].slot != noSlot {
			continue
		}
		for s.slotUsed[free] {
			free++
		}
		s.slotUsed[free], s.next[i].slot = true, int32(free)
		if r.Parent >= 0 {
			parent := s.rows[r.Parent]
			for l := range s.caches {
				s.caches[l].copySlot(free, int(parent.slot), int(parent.tokens))
			}
		}
	}
	s.rows, s.next = s.next, s.rows
}

func (s *State) checkRow(i int, r Row) {
	if v := s.w.model.Config.TgtVocab; r.Token < 0 || int(r.Token) >= v {
		panic(fmt.Sprintf("decode: id %d in row %d, want 0 to %d", r.Token, i, v-1))
	}
	if n := len(s.starts) - 1; r.Source < 0 || int(r.Source) >= n {
		panic(fmt.Sprintf("decode: source %d in row %d, want 0 to %d", r.Source, i, n-1))
	}
	if int(r.Parent) >= len(s.rows) {
		panic(fmt.Sprintf("decode: parent %d in row %d, but the last step had %d rows", r.Parent, i, len(s.rows)))
	}
}

// scoresWorkspace returns workspace for the attention scores of n rows. A row fits the longest
// source and all cached positions.
func (s *State) scoresWorkspace(n int) mat.Matrix {
	const line = 16 // float32 values of a cache line, which threads must not share
	width := (max(s.maxSource, s.caches[0].positions) + line - 1) / line * line
	if n*width > len(s.scores) {
		s.scores = make([]float32, len(s.slotUsed)*width)
	}
	return mat.Of(s.scores[:n*width], n, width)
}

// view returns views of the first n rows of all activations.
func (a *decoderActivations) view(n int) decoderActivations {
	v := *a
	v.x, v.logits = a.x.RowRange(0, n), a.logits.RowRange(0, n)
	v.self = attn.SelfAct{QKV: a.self.QKV.RowRange(0, n), Ctx: a.self.Ctx.RowRange(0, n), Out: a.self.Out.RowRange(0, n)}
	v.cross = attn.CrossAct{Q: a.cross.Q.RowRange(0, n), Ctx: a.cross.Ctx.RowRange(0, n), Out: a.cross.Out.RowRange(0, n)}
	v.ff.Hidden, v.ff.Out = a.ff.Hidden.RowRange(0, n), a.ff.Out.RowRange(0, n)
	norm := func(act layer.NormAct) layer.NormAct {
		return layer.NormAct{Y: act.Y.RowRange(0, n), Mean: act.Mean[:n], RStd: act.RStd[:n]}
	}
	v.norm1, v.norm2, v.norm3 = norm(a.norm1), norm(a.norm2), norm(a.norm3)
	return v
}
