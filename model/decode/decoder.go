package decode

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tfm/mat"
	"tfm/model"
)

// Decoder translates: it encodes sources, some at a time, and searches for their translations as
// Options say. A translation does not depend on the sentences beside it, nor on the number of
// threads. A Decoder is not for concurrent use; any number may share Weights.
type Decoder struct {
	w      *Weights
	pool   *mat.Pool
	state  *State
	search search
}

// New returns a Decoder of w whose loops run on p.
func New(w *Weights, p *mat.Pool) *Decoder {
	return &Decoder{w: w, pool: p, state: NewState(w, p)}
}

// Translate returns the best translation of each source, in the order of srcs, which are token
// ids without EOS: the first of those that NBest lists. The error is that of Options.Validate, or
// that of ctx, which is looked at before each step. It panics on ids outside the vocabulary and
// on more than Config.MaxLen-1 of them in a source.
func (d *Decoder) Translate(ctx context.Context, srcs [][]int32, o Options) ([]Hypothesis, error) {
	results := make([]Hypothesis, len(srcs))
	err := d.translate(ctx, srcs, o, func(i int, list []Hypothesis) { results[i] = list[0] })
	if err != nil {
		return nil, err
	}
	return results, nil
}

// NBest lists up to Options.NBest translations of each source, the ones with the highest scores
// first. A beam lists those that ended, or if none did those that the length limit cut, all
// different; sampling lists all that it drew, equal ones too. Errors and panics are those of
// Translate.
func (d *Decoder) NBest(ctx context.Context, srcs [][]int32, o Options) ([][]Hypothesis, error) {
	results := make([][]Hypothesis, len(srcs))
	err := d.translate(ctx, srcs, o, func(i int, list []Hypothesis) { results[i] = list })
	if err != nil {
		return nil, err
	}
	return results, nil
}

// translate calls done with the translations of each source and its index.
func (d *Decoder) translate(ctx context.Context, srcs [][]int32, o Options, done func(int, []Hypothesis)) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c := &d.w.model.Config
	for i, src := range srcs {
		checkIDs("source", i, src, c.SrcVocab, c.MaxLen)
	}
	order := longestFirst(srcs)
	how := strategyOf(&o)
	var batch [][]int32
	for len(order) > 0 {
		longest := len(srcs[order[0]])
		maxTokens := o.maxTokens(longest, c.MaxLen)
		n := min(len(order), o.batchSize(max(longest+1, maxTokens)))
		batch = batch[:0]
		d.search.reset()
		for place, i := range order[:n] {
			batch = append(batch, srcs[i])
			d.search.add(place, o.First+uint64(i), o.maxTokens(len(srcs[i]), c.MaxLen), &o, how)
		}
		d.state.Begin(batch, n*o.width(), maxTokens)
		err := d.search.run(ctx, d.pool, d.state, func(place int, list []Hypothesis) { done(order[place], list) })
		if err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// longestFirst orders the indices of srcs by length, so that what is decoded together has similar
// lengths and the first batch needs the most memory.
func longestFirst(srcs [][]int32) []int {
	order := make([]int, len(srcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(srcs[b]), len(srcs[a])) })
	return order
}

// Next returns the probability of every entry of the target's vocabulary to be the next token of
// the translation of src after the tokens given: one turn of the generation loop. The bits are
// those that searches decide by. Pad and BOS, which are never said, have 0. It panics on ids and
// lengths as Translate does.
func (d *Decoder) Next(src, given []int32) []float32 {
	c := &d.w.model.Config
	checkIDs("target", 0, given, c.TgtVocab, c.MaxLen)
	d.state.Begin([][]int32{src}, 1, len(given)+1)
	logits := d.state.Step([]Row{{model.BOS, 0, -1}})
	for _, id := range given {
		logits = d.state.Step([]Row{{Token: id}})
	}
	row := logits.Row(0)
	row[model.Pad], row[model.BOS] = float32(math.Inf(-1)), float32(math.Inf(-1))
	p := make([]float32, len(row))
	mat.Softmax(p, row, 1)
	return p
}

// Attention returns for each pair how much each token of the translation looked at each token of
// its source: the weights of the last decoder layer's cross-attention, averaged over the heads.
// Row i of a pair belongs to the step that says tgts[k][i], the last one EOS; column j is
// srcs[k][j], the last one EOS. Each row sums to 1. The error is that of ctx; it panics on ids
// and lengths as Translate does.
func (d *Decoder) Attention(ctx context.Context, srcs, tgts [][]int32) ([][][]float32, error) {
	c := &d.w.model.Config
	for i := range srcs {
		checkIDs("source", i, srcs[i], c.SrcVocab, c.MaxLen)
		checkIDs("target", i, tgts[i], c.TgtVocab, c.MaxLen)
	}
	result := make([][][]float32, len(srcs))
	order := longestFirst(tgts) // so that those that have ended stand behind those that go on
	for len(order) > 0 {
		longest := len(tgts[order[0]]) + 1
		for _, i := range order[:min(len(order), maxRows)] {
			longest = max(longest, len(srcs[i])+1)
		}
		n := min(len(order), max(1, maxPositions/longest), maxRows)
		if err := d.attention(ctx, order[:n], srcs, tgts, result); err != nil {
			return nil, err
		}
		order = order[n:]
	}
	return result, nil
}

// attention sets the results of the pairs at order, whose targets become shorter.
func (d *Decoder) attention(ctx context.Context, order []int, srcs, tgts [][]int32, result [][][]float32) error {
	s := d.state
	batch := make([][]int32, len(order))
	for place, i := range order {
		batch[place] = srcs[i]
	}
	longest := len(tgts[order[0]])
	s.Begin(batch, len(order), longest+1)
	s.meanWeights = mat.New(len(order), s.maxSource)
	defer func() { s.meanWeights = mat.Matrix{} }()
	rows := make([]Row, 0, len(order))
	for t := range longest + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows = rows[:0]
		for place, i := range order {
			switch tgt := tgts[i]; {
			case t == 0:
				rows = append(rows, Row{model.BOS, int32(place), -1})
			case t <= len(tgt):
				rows = append(rows, Row{tgt[t-1], int32(place), int32(place)})
			}
		}
		s.Step(rows)
		for place := range rows {
			i := order[place]
			result[i] = append(result[i], slices.Clone(s.meanWeights.Row(place)[:len(srcs[i])+1]))
		}
	}
	return nil
}
