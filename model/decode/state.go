package decode

import (
	"fmt"

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
	stack   stack // of the decoder in a step, of the encoder in Add
	sources sourceSet
	newest  newestTokens
	output  outputProjection
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
	s := &State{stack: stack{w: w, pool: p}}
	s.newest = newestTokens{stack: &s.stack, sourceSet: &s.sources}
	s.output = outputProjection{newestTokens: &s.newest, maxListBytes: maxListBytes}
	layers := len(w.decoder)
	for i := range w.decoder {
		var l layerState = &keyValues{newestTokens: &s.newest, decoderLayer: &w.decoder[i], layer: i}
		if w.recurrent() {
			l = &ssru{newestTokens: &s.newest, SSRU: w.model.Decoder[i].SSRU, maps: w.decoder[i].maps, layer: i}
			s.sources.cells.layers, s.sources.cells.d = layers, w.model.Config.DModel
		}
		s.newest.states = append(s.newest.states, l)
	}
	s.sources.pages.pageLayout = newPageLayout(layers, w.sizes())
	return s
}

// Add encodes sources, ids without EOS, in one batch, and appends their handles to handles. The
// batch needs memory in proportion to all tokens of sources. Add panics on ids outside the
// vocabulary and on a source of more than Config.MaxLen-1 tokens.
func (s *State) Add(handles []int32, sources ...[]int32) []int32 {
	c := &s.stack.w.model.Config
	for i, src := range sources {
		checkIDs("source", i, src, c.SrcVocab, c.MaxSource()+1)
	}
	if len(sources) == 0 {
		return handles
	}
	memory := s.stack.encode(sources)
	added := len(handles)
	for i, start := range s.stack.starts[:len(sources)] {
		handles = append(handles, s.sources.add(int(s.stack.starts[i+1]-start)))
	}
	for i := range s.stack.w.decoder {
		s.stack.w.decoder[i].kv.mulRounded(s.stack.pool, s.stack.act.kv, memory, &s.stack.rounded)
		mat.Each(s.stack.pool, len(sources), 1, storeSources{&s.newest, i, handles[added:]})
	}
	return handles
}

// Restrict leaves only the logits of ids in the rows of a source; Step returns -Inf for other
// pieces. It may be called once for a source. It panics on a handle that is not valid, and on ids
// that are outside the vocabulary or not in ascending order.
func (s *State) Restrict(handle int32, ids []int32) {
	if !s.sources.valid(handle) || s.sources.encoded[handle].list != nil {
		panic(fmt.Sprintf("decode: Restrict of source %d, which is not in the State or is restricted", handle))
	}
	vocabulary := s.stack.w.model.Config.TgtVocab
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
	logits, _ := s.stepAll(rows, stepOutputs{})
	return logits
}

// StepWeights is Step that also returns the cross-attention weights of the last decoder layer,
// averaged over its heads, [rows × longest source]: those of a row to the tokens of its source,
// and last that to its marks, together, such as EOS. They are valid until the next StepWeights.
func (s *State) StepWeights(rows []Row) (logits, weights mat.Matrix) {
	return s.stepAll(rows, stepOutputs{weights: true})
}

// stepAll is step with the logits of all pieces.
func (s *State) stepAll(rows []Row, outputs stepOutputs) (logits, weights mat.Matrix) {
	if len(rows) == 0 {
		return mat.Matrix{}, mat.Matrix{}
	}
	_, weights = s.step(s.treeRows(rows), outputs)
	return s.output.expand(), weights
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
	c := &s.stack.w.model.Config
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

func (s *State) step(rows []treeRow, outputs stepOutputs) (logits, weights mat.Matrix) {
	if len(rows) == 0 {
		return mat.Matrix{}, mat.Matrix{}
	}
	s.newest.begin(rows, outputs.weights)
	s.stack.decode(&s.newest)
	s.output.project(outputs.bounds)
	return s.stack.act.logits, s.newest.weights
}

func (s *State) refine(row int, id int32) (logit float32, wasBound bool) {
	return s.output.refine(row, id)
}
