package model

import (
	"fmt"
	"strings"

	"tfm/layer"
	"tfm/mat"
)

// Tuner trains the last decoder layer of a model on a pair of sentences, without dropout and label
// smoothing. It shares all other weights with the model, which must not change. What the other
// layers make of the pair is computed once, so that a step passes through one layer and the output
// only. Losses and gradients are those of Pass.Train, and do not depend on the number of threads. A
// Tuner is not safe for concurrent use.
type Tuner struct {
	Model  *Transformer   // with the weights that are trained
	Params []*layer.Param // of its last decoder layer, whose weights the caller changes

	stacks
	initial [][]float32 // of Params: the weights of the model
	batch   Batch
	last    *DecoderLayer
	lastAct DecoderAct
	args    LayerArgs
	input   mat.Matrix // [n × d] of last
	losses  layer.Losses
}

// NewTuner returns a Tuner of a copy of t, whose memory must have been allocated, on the threads of
// pool.
func NewTuner(t *Transformer, pool *mat.Pool) *Tuner {
	c := t.Config
	c.Dropout, c.AttentionDropout, c.FFDropout, c.LabelSmoothing = 0, 0, 0, 0
	m := declare(c)
	m.SrcEmbed.Positions, m.TgtEmbed.Positions = t.SrcEmbed.Positions, t.TgtEmbed.Positions
	u := &Tuner{Model: m, stacks: newStacks(m, pool, new(layer.Arena)), last: &m.Decoder[c.DecoderLayers-1]}
	prefix := fmt.Sprintf("decoder.%d.", c.DecoderLayers-1)
	for i, p := range m.Params.List {
		p.W = t.Params.List[i].W
		if strings.HasPrefix(p.Name, prefix) {
			p.W, p.G = make([]float32, len(p.W)), make([]float32, len(p.W))
			u.Params, u.initial = append(u.Params, p), append(u.initial, t.Params.List[i].W)
		}
	}
	return u
}

// Begin sets the weights to those of the model and takes the pair of src and tgt, ids without BOS
// and EOS, through all layers but the last. It panics on ids and lengths as Pass.Train does.
func (u *Tuner) Begin(src, tgt []int32) {
	for i, p := range u.Params {
		copy(p.W, u.initial[i])
	}
	b := &u.batch
	b.Source = u.p.Config.Source
	b.Reset()
	b.Append(src, tgt)
	b.check(u.p.Config)
	m, n, d := len(b.Src), len(b.TgtIn), u.p.Config.DModel
	u.alloc(m, n, false, false, func() {
		u.lastAct, u.decGrad = u.last.Alloc(u.arena, n, m, true), u.last.AllocGrad(u.arena, n, m)
		u.losses = layer.AllocLosses(u.arena, n)
		u.dsrc, u.dtgt = u.arena.Matrix(m, d), u.arena.Matrix(n, d)
	})
	encoder, decoder := u.layerArgs(b.SrcStarts, b.TgtStarts, dropouts{}, dropouts{})
	u.args = decoder.forLayer(0)
	u.p.SrcEmbed.Forward(u.pool, u.act.src, b.Src, b.SrcStarts, mat.Dropout{})
	u.act.memory = u.encode(encoder, u.act.src)
	u.p.TgtEmbed.Forward(u.pool, u.act.tgt, b.TgtIn, b.TgtStarts, mat.Dropout{})
	u.input = u.act.tgt
	for i := range u.p.Decoder[:len(u.p.Decoder)-1] {
		u.input = u.p.Decoder[i].Forward(u.args, &u.act.dec[i], u.input, u.act.memory)
	}
}

// Step sets the gradients of Params to those of the summed loss of the pair of Begin, and returns
// the loss.
func (u *Tuner) Step() Loss {
	for _, p := range u.Params {
		clear(p.G)
	}
	x := u.last.Forward(u.args, &u.lastAct, u.input, u.act.memory)
	norm := u.p.Config.HasFinalNorm()
	if norm {
		x = u.p.DecNorm.Forward(u.pool, &u.act.decNorm, x)
	}
	u.p.Output.ForwardBackward(u.pool, u.dtgt, x, layer.Targets{IDs: u.batch.TgtOut, Losses: u.losses, Scale: 1}, u.act.loss)
	if norm {
		u.p.DecNorm.Backward(u.pool, u.dtgt, u.dtgt, &u.act.decNorm, layer.Set)
	}
	clear(u.dsrc.Data[:u.dsrc.Rows*u.dsrc.Cols])
	u.last.Backward(u.pool, u.dtgt, u.dsrc, &u.lastAct, &u.decGrad)
	return u.losses.Total()
}
