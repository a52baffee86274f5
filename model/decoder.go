package model

import (
	"math"

	"tfm/attn"
	"tfm/layer"
	"tfm/mat"
)

// Decoder translates: the encoder once a batch, then the decoder a token at a time with cached keys and
// values. A translation does not depend on the sentences beside it, nor on the number of threads. Once it has
// seen its largest batch a step allocates nothing. A Decoder is not for concurrent use; several may share one
// Transformer.
type Decoder struct {
	*Transformer
	pool    *mat.Pool
	pass    stacks     // the encoder's
	project mat.Matrix // [d × V] the output projection, transposed once, so that a step reads it along rows

	arena  layer.Arena
	memory []attn.Memory // of each decoder layer
	caches []attn.Cache  // of each decoder layer
	room   stepRoom

	search searchRoom
}

// stepRoom holds the activations of one step; every layer uses the same.
type stepRoom struct {
	x      mat.Matrix // [rows × d]
	self   attn.SelfState
	cross  attn.CrossState
	norm   [3]layer.Normed
	ff     layer.FeedForwardState
	final  layer.Normed // behind the stack, if there is a norm
	logits mat.Matrix   // [rows × V]
}

// NewDecoder returns a decoder whose loops run on p.
func NewDecoder(t *Transformer, p *mat.Pool) *Decoder {
	d := &Decoder{Transformer: t, pool: p, pass: newStacks(t, p, new(layer.Arena)),
		memory: make([]attn.Memory, len(t.Decoder)), caches: make([]attn.Cache, len(t.Decoder))}
	d.Refresh()
	return d
}

// Refresh is to be called after the weights have changed.
func (d *Decoder) Refresh() {
	e := d.Transformer.Output.E.Weights()
	if d.project.Data == nil {
		d.project = mat.New(e.Cols, e.Rows)
	}
	mat.Transpose(d.pool, d.project, e)
}

// begin encodes the sources and takes memory for up to beam hypotheses of each, of at most so many tokens.
func (d *Decoder) begin(b *Batch, beam, most int) {
	self, _, _ := b.ragged()
	d.pass.bind(len(b.Src), 0, false)
	memory := d.pass.encode(b.Src, self, dropouts{})
	rows := b.Sentences() * beam

	d.arena.Fit(func() { d.take(memory, rows, b.SrcStarts) })
	for i := range d.Decoder {
		d.memory[i].Fill(d.pool, d.Decoder[i].Cross, memory)
		d.caches[i].Reserve(rows, d.Decoder[i].Self.Sizes, most)
	}
}

func (d *Decoder) take(memory mat.Matrix, rows int, starts []int32) {
	a, c, l := &d.arena, d.Config, &d.Decoder[0] // as the others are
	for i := range d.Decoder {
		d.memory[i] = l.Cross.NewMemory(a, memory.Rows, starts)
	}
	d.room = stepRoom{
		x:      a.Matrix(rows, c.DModel),
		self:   l.Self.NewSelfState(a, rows),
		cross:  l.Cross.NewCrossState(a, rows, 0),
		ff:     l.FF.NewState(a, rows, false),
		logits: a.Matrix(rows, c.TgtVocab),
	}
	for i := range d.room.norm {
		d.room.norm[i] = layer.NewNormed(a, rows, c.DModel)
	}
	if c.HasFinalNorm() {
		d.room.final = layer.NewNormedAlone(a, rows, c.DModel)
	}
}

// rows views the first n rows of the room.
func (r *stepRoom) rows(n int) stepRoom {
	s := stepRoom{x: r.x.RowRange(0, n), logits: r.logits.RowRange(0, n), final: r.final}
	s.ff.Hidden = r.ff.Hidden.RowRange(0, n)
	s.self = attn.SelfState{QKV: r.self.QKV.RowRange(0, n), Ctx: r.self.Ctx.RowRange(0, n)}
	s.cross = attn.CrossState{Q: r.cross.Q.RowRange(0, n), Ctx: r.cross.Ctx.RowRange(0, n)}
	for i, norm := range r.norm {
		s.norm[i] = layer.Normed{R: norm.R.RowRange(0, n), Y: norm.Y.RowRange(0, n), Mean: norm.Mean[:n], RStd: norm.RStd[:n]}
	}
	return s
}

// step gives the decoder one token for each of n hypotheses, all at position t, and returns logits [n × V].
// Hypothesis i continues slots[i] and translates source sentences[i].
func (d *Decoder) step(ids, slots, sentences []int32, t int) mat.Matrix {
	r := d.room.rows(len(ids))
	d.TgtEmbed.At(r.x, ids, t)
	x := r.x
	none := mat.Dropout{}
	for i := range d.Decoder {
		l := &d.Decoder[i]
		l.Self.Step(d.pool, r.norm[0].R, r.self, l.Norm1.Before(d.pool, r.norm[0], x), &d.caches[i], slots, t)
		x = l.Norm1.After(d.pool, r.norm[0], x, none)
		l.Cross.Step(d.pool, r.norm[1].R, r.cross, l.Norm2.Before(d.pool, r.norm[1], x), d.memory[i], sentences)
		x = l.Norm2.After(d.pool, r.norm[1], x, none)
		l.FF.Forward(d.pool, r.norm[2].R, r.ff, l.Norm3.Before(d.pool, r.norm[2], x), none)
		x = l.Norm3.After(d.pool, r.norm[2], x, none)
	}
	if d.Config.HasFinalNorm() {
		d.DecNorm.Forward(d.pool, r.final, x)
		x = r.final.Y.RowRange(0, x.Rows)
	}
	d.Transformer.Output.LogitsBy(d.pool, r.logits, x, d.project)
	return r.logits
}

// Next is one turn of the generation loop seen from outside: the probability of every entry of the target's vocabulary
// to be the next token of the translation of src, after the tokens given. The bits are those that searches decide by.
// Pad and BOS, which are never said, have 0. It panics on ids and lengths as Pass.Train does.
func (d *Decoder) Next(src, given []int32) []float32 {
	var b Batch
	b.Append(src, given)
	b.check(d.Config)
	d.begin(&b, 1, len(b.TgtIn))
	only := []int32{0}
	var logits []float32
	for t := range b.TgtIn {
		logits = d.step(b.TgtIn[t:t+1], only, only, t).Row(0)
	}
	logits[Pad], logits[BOS] = float32(math.Inf(-1)), float32(math.Inf(-1))
	p := make([]float32, len(logits))
	mat.Softmax(p, logits, 1)
	return p
}

// Attention is how much each token of a translation looked at each token of its source: the weights of the
// last decoder layer's cross-attention, averaged over the heads. Row i is the step that said tgt[i], the last
// one EOS; column j is src[j], the last one EOS. It panics on ids and lengths as Pass.Train does.
func (d *Decoder) Attention(src, tgt []int32) [][]float32 {
	var b Batch
	b.Append(src, tgt)
	b.check(d.Config)
	d.pass.bind(len(b.Src), len(b.TgtIn), false)
	d.pass.forward(&b, dropouts{}, dropouts{})
	_, _, cross := b.ragged()
	last := len(d.Decoder) - 1
	mean := make([][]float32, len(b.TgtIn))
	for i := range mean {
		mean[i] = make([]float32, len(b.Src))
	}
	l, w := d.Decoder[last].Cross, mat.New(len(b.TgtIn), len(b.Src))
	in, heads := l.Inputs(d.pass.dec[last].cross), l.Heads
	for h := range heads {
		in.Weights(w, heads, 0, h, cross)
		for i := range mean {
			mat.Axpy(mean[i], 1/float32(heads), w.Row(i))
		}
	}
	return mean
}
