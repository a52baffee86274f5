package decode

import (
	"fmt"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// State is sources that have been encoded and the keys and values of the hypotheses that
// translate them. Begin encodes sources; Step gives each of some hypotheses one token and returns
// the logits of the next. A row's logits depend on its source and its tokens alone, not on the
// rows beside it nor on the number of threads, and have the bits of the forward pass over the
// whole sentence.
//
// After its largest batch a State allocates nothing in Step. It is not for concurrent use; any
// number of States may share Weights.
type State struct {
	w    *Weights
	pool *mat.Pool

	arena   layer.Arena
	encoder encoderActivations
	decoder decoderActivations
	sources []sourceKV // of each decoder layer
	caches  []cache    // of each decoder layer
	ids     []int32    // the sources' tokens, each with EOS at its end
	starts  []int32    // where each source begins in ids, and at the end len(ids)

	scores    []float32 // [rows × longest source or positions] scratch of the attentions
	maxSource int       // tokens of a source, with EOS

	rows, next  []cachedRow // of the last step, and of the one that begins
	hasChild    []bool      // of each row of the last step: has one
	slotUsed    []bool      // of each slot
	tokens      []int32     // of the rows of a step
	rowSources  []int32     // their sources
	meanWeights mat.Matrix  // see crossStep; only in Attention
}

// Row is one hypothesis in a step.
type Row struct {
	Token  int32 // the newest token: BOS for a new hypothesis
	Source int32 // the source that it translates, as Begin was given them
	Parent int32 // the row of the last step that it continues, or -1 for a new hypothesis
}

// cachedRow is a row's place in the caches.
type cachedRow struct {
	slot   int32
	tokens int32 // with BOS
}

// NewState returns a State of w whose loops run on p.
func NewState(w *Weights, p *mat.Pool) *State {
	n := len(w.model.Decoder)
	return &State{w: w, pool: p, sources: make([]sourceKV, n), caches: make([]cache, n)}
}

// encoderActivations are those of every encoder layer: a layer has read its input before it writes
// its result, so that all can share them.
type encoderActivations struct {
	x     mat.Matrix // [m × d] embedded tokens
	layer model.EncoderAct
	final layer.NormAct // of the norm behind the stack, if there is one
}

// decoderActivations are those of every decoder layer in a step.
type decoderActivations struct {
	x                   mat.Matrix // [rows × d]
	self                attn.SelfAct
	cross               attn.CrossAct // without keys and values
	norm1, norm2, norm3 layer.NormAct
	ff                  layer.FeedForwardAct
	final               layer.NormAct
	logits              mat.Matrix // [rows × V]
}

// Begin forgets all hypotheses and encodes sources, which are token ids without EOS, for steps of
// up to rows rows. positions is the most tokens that a hypothesis is expected to have, BOS
// counted; memory for that many is kept between batches, and Step makes more if it must. It
// panics on ids outside the vocabulary, on sources of more than Config.MaxLen-1 of them, and on
// rows below 1.
func (s *State) Begin(sources [][]int32, rows, positions int) {
	c := &s.w.model.Config
	if rows < 1 {
		panic(fmt.Sprintf("decode: steps of %d rows", rows))
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

// checkIDs panics if ids are not those of a sentence that the model can take.
func checkIDs(side string, i int, ids []int32, vocabulary, maxLen int) {
	if len(ids) >= maxLen {
		panic(fmt.Sprintf("decode: %s %d has %d tokens, its mark counted, for a model that takes %d", side, i, len(ids)+1, maxLen))
	}
	for _, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			panic(fmt.Sprintf("decode: id %d in %s %d, whose vocabulary has %d entries", id, side, i, vocabulary))
		}
	}
}

// alloc takes the memory for m source tokens and steps of n rows.
func (s *State) alloc(m, n int) {
	a, c, l := &s.arena, &s.w.model.Config, &s.w.model.Decoder[0] // as the others
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
		keys := l.Cross.Heads * l.Cross.DK
		s.sources[i] = sourceKV{a.Matrix(m, keys+l.Cross.Heads*l.Cross.DV), a.Matrix(keys, m)}
	}
}

// encode returns the encoder's output [m × d].
func (s *State) encode() mat.Matrix {
	p, act := s.pool, &s.encoder
	r := model.LayerArgs{Pool: p, Self: attn.Ragged{Q: s.starts, K: s.starts}}
	s.w.model.SrcEmbed.Forward(p, act.x, s.ids, s.starts, mat.Dropout{})
	x := act.x
	for i := range s.w.model.Encoder {
		x = s.w.model.Encoder[i].Forward(r, &act.layer, x)
	}
	if s.w.model.Config.HasFinalNorm() {
		x = s.w.model.EncNorm.Forward(p, &act.final, x)
	}
	return x
}

// Step gives each row its token and returns the logits [rows × V] of the next one. They are valid
// until the next Step and may be overwritten. Rows may have any number of tokens each and
// translate any source. A hypothesis of the last step that no row continues is forgotten. Step
// panics if there are more rows than Begin was told, on ids, sources and parents that do not
// exist, and on more than Config.MaxLen tokens.
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

// layer is DecoderLayer.Forward of layer i for the newest tokens x [rows × d], with cached keys
// and values.
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

// self is the self-attention of layer i: x [rows × d] attend to all tokens of their hypotheses.
func (s *State) self(i int, act *decoderActivations, x, scores mat.Matrix) mat.Matrix {
	l := &s.w.model.Decoder[i].Self
	l.QKV.Forward(s.pool, act.self.QKV, x)
	mat.Each(s.pool, x.Rows, 1, selfStep{&l.Sizes, &s.caches[i], act.self.QKV, act.self.Ctx, scores, s.rows})
	l.Out.Forward(s.pool, act.self.Out, act.self.Ctx)
	return act.self.Out
}

// cross is the attention of layer i to the sources.
func (s *State) cross(i int, act *decoderActivations, x, scores mat.Matrix) mat.Matrix {
	l := &s.w.model.Decoder[i].Cross
	var mean mat.Matrix
	if i == len(s.w.model.Decoder)-1 {
		mean = s.meanWeights
	}
	l.Q.Forward(s.pool, act.cross.Q, x)
	mat.Each(s.pool, x.Rows, 1, crossStep{&l.Sizes, &s.sources[i], act.cross.Q, act.cross.Ctx, scores, s.starts, s.rowSources, mean})
	l.Out.Forward(s.pool, act.cross.Out, act.cross.Ctx)
	return act.cross.Out
}

// assignSlots gives each row a slot of the caches. The first row that continues a hypothesis stays in its
// slot; the others get copies in slots that no row has.
func (s *State) assignSlots(rows []Row) {
	if len(rows) > len(s.slotUsed) {
		panic(fmt.Sprintf("decode: a step of %d rows, Begin was told %d", len(rows), len(s.slotUsed)))
	}
	clear(s.slotUsed)
	s.hasChild, s.next, s.tokens, s.rowSources = s.hasChild[:0], s.next[:0], s.tokens[:0], s.rowSources[:0]
	for range s.rows {
		s.hasChild = append(s.hasChild, false)
	}
	const none = -1
	most := int32(0)
	for i, r := range rows {
		s.checkRow(i, r)
		h := cachedRow{none, 1}
		if r.Parent >= 0 {
			parent := s.rows[r.Parent]
			h.tokens += parent.tokens
			if !s.hasChild[r.Parent] {
				s.hasChild[r.Parent], s.slotUsed[parent.slot], h.slot = true, true, parent.slot
			}
		}
		most = max(most, h.tokens)
		s.next, s.tokens, s.rowSources = append(s.next, h), append(s.tokens, r.Token), append(s.rowSources, r.Source)
	}
	if maxLen := s.w.model.Config.MaxLen; int(most) > maxLen {
		panic(fmt.Sprintf("decode: a hypothesis of %d tokens, BOS counted, for a model that takes %d", most, maxLen))
	}
	for l := range s.caches {
		s.caches[l].grow(int(most) - 1)
	}
	free := 0
	for i, r := range rows {
		if s.next[i].slot != none {
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
		panic(fmt.Sprintf("decode: id %d in row %d, the target's vocabulary has %d entries", r.Token, i, v))
	}
	if n := len(s.starts) - 1; r.Source < 0 || int(r.Source) >= n {
		panic(fmt.Sprintf("decode: row %d translates source %d of %d", i, r.Source, n))
	}
	if int(r.Parent) >= len(s.rows) {
		panic(fmt.Sprintf("decode: row %d continues row %d of a step of %d", i, r.Parent, len(s.rows)))
	}
}

// scoresWorkspace returns the scores of n rows, each wide enough for every source and every cached
// position.
func (s *State) scoresWorkspace(n int) mat.Matrix {
	const line = 16 // floats of a cache line: threads write to neighbouring rows
	width := (max(s.maxSource, s.caches[0].positions) + line - 1) / line * line
	if n*width > len(s.scores) {
		s.scores = make([]float32, len(s.slotUsed)*width)
	}
	return mat.Of(s.scores[:n*width], n, width)
}

// view is the first n rows of all activations.
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
