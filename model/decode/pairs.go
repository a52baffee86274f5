package decode

import (
	"tfm/attn"
	"tfm/internal/exact"
	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// maxPairRows is the row limit of one pass over pairs on either side: enough for products at full
// speed. A single pair may exceed it.
const maxPairRows = 1 << 10

// pairPass is the workspace of passes over pairs of a source and its given translation. All
// positions of the translations are computed at once, as in training.
type pairPass struct {
	weights    *Weights
	scratch    scratch
	srcs, tgts [][]int32
	tgtIDs     []int32 // BOS and the tokens of each target
	next       []int32 // the tokens of each target and EOS
	tgtStarts  []int32 // index in tgtIDs of each target's first token, then len(tgtIDs)

	memory layer.Arena  // of kv, while that of scratch is used for the decoder
	logits []float32    // of some rows
	kv     []mat.Matrix // [m × (h·d_k + h·d_v)] keys and values of the sources in each layer

	// visitCross, if not nil, is called with the inputs of the cross-attention of each layer.
	visitCross func(layer int, in attn.Inputs, r attn.Ragged)
}

// set sets p to pairs and computes p.kv.
func (p *pairPass) set(srcs, tgts [][]int32) {
	p.srcs, p.tgts = srcs, tgts
	p.tgtIDs, p.next, p.tgtStarts = p.tgtIDs[:0], p.next[:0], append(p.tgtStarts[:0], 0)
	for i := range tgts {
		p.tgtIDs = append(append(p.tgtIDs, model.BOS), tgts[i]...)
		p.next = append(append(p.next, tgts[i]...), model.EOS)
		p.tgtStarts = append(p.tgtStarts, int32(len(p.tgtIDs)))
	}
	memory, sizes := p.weights.encode(&p.scratch, srcs), p.weights.sizes()
	p.memory.Alloc(func() {
		p.kv = p.kv[:0]
		for range p.weights.decoder {
			p.kv = append(p.kv, p.memory.Matrix(len(p.scratch.ids), sizes.Heads*(sizes.DK+sizes.DV)))
		}
	})
	for i := range p.weights.decoder {
		p.weights.decoder[i].kv.mulRounded(p.scratch.pool, p.kv[i], memory, &p.scratch.rounded)
	}
}

// decode returns the decoder's output [n × d] for all target tokens.
func (p *pairPass) decode(visitCross func(layer int, in attn.Inputs, r attn.Ragged)) mat.Matrix {
	p.visitCross = visitCross
	p.scratch.alloc(p.weights, len(p.tgtIDs), true)
	x := p.scratch.embedSentences(&p.weights.target, p.tgtIDs, p.tgtStarts)
	return p.weights.decode(&p.scratch, p, x)
}

func (p *pairPass) self(i int, x, h mat.Matrix) mat.Matrix {
	l, act, pool := &p.weights.decoder[i], &p.scratch.act, p.scratch.pool
	if p.weights.recurrent() {
		l.maps.mul(pool, act.maps, h, mat.Identity)
		y := act.maps.ColRange(0, h.Cols)
		p.weights.model.Decoder[i].SSRU.Recur(pool, y, act.cells, act.maps, p.tgtStarts)
		return l.residual.Forward(pool, &layer.ResidualAct{}, x, y, mat.Dropout{})
	}
	l.qkv.mul(pool, act.qkv, h, mat.Identity)
	sizes, ragged := p.weights.sizes(), attn.Ragged{QStarts: p.tgtStarts, KStarts: p.tgtStarts, Causal: true}
	attn.ScaledDotProductHeads(pool, act.ctx, p.scratch.selfInputs(sizes), sizes.Heads, ragged)
	return p.scratch.add(l.residual, x, act.ctx, &l.out)
}

func (p *pairPass) cross(i int, x, h mat.Matrix) mat.Matrix {
	l, act, pool := &p.weights.decoder[i], &p.scratch.act, p.scratch.pool
	l.q.mul(pool, act.q, h, mat.Identity)
	sizes, kv := p.weights.sizes(), p.kv[i]
	keys := sizes.Heads * sizes.DK
	in := attn.Inputs{Q: act.q, K: kv.ColRange(0, keys), V: kv.ColRange(keys, kv.Cols)}
	ragged := attn.Ragged{QStarts: p.tgtStarts, KStarts: p.scratch.starts}
	if p.visitCross != nil {
		p.visitCross(i, in, ragged)
	}
	attn.ScaledDotProductHeads(pool, act.ctx, in, sizes.Heads, ragged)
	return p.scratch.add(l.residual, x, act.ctx, &l.crossOut)
}

// logProbs returns the log-probability of each of p.next for the decoder's output x [n × d].
func (p *pairPass) logProbs(x mat.Matrix) []float64 {
	logProbs := make([]float64, x.Rows)
	for lo := 0; lo < x.Rows; lo += maxRows {
		hi := min(lo+maxRows, x.Rows)
		logits := matrix(&p.logits, hi-lo, p.weights.model.Config.TgtVocab)
		p.weights.output.mul(p.scratch.pool, logits, x.RowRange(lo, hi), mat.Identity)
		mat.Each(p.scratch.pool, hi-lo, 4, logProbRows{logits, p.next[lo:hi], logProbs[lo:hi]})
	}
	return logProbs
}

// logProbRows is the parallel loop over rows of logits that sets the log-probability of each row's
// next token.
type logProbRows struct {
	logits   mat.Matrix
	next     []int32
	logProbs []float64
}

func (t *logProbRows) Range(lo, hi int) {
	for i := lo; i < hi; i++ {
		z := t.logits.Row(i)
		zNext, zMax := float64(z[t.next[i]]), mat.Max(z)
		t.logProbs[i] = zNext - (float64(zMax) + exact.Log(float64(mat.ExpSum(z, z, zMax))))
	}
}

// marksLast turns the weights of a source, n elements of row, into those of its text and then one
// element for its marks: the sum of their weights, 0 without marks.
func marksLast(row []float32, n int, marks model.SourceLayout) {
	if !marks.HasBOS() && !marks.HasEOS() {
		row[n] = 0
	}
	if !marks.HasBOS() {
		return
	}
	bos := row[0]
	copy(row, row[1:n])
	if marks.HasEOS() {
		row[n-2] += bos
	} else {
		row[n-1] = bos
	}
}

// marksToLast returns a copy of weights with rows as marksLast makes them, of cols elements.
func marksToLast(weights mat.Matrix, cols int, marks model.SourceLayout) mat.Matrix {
	m, row := mat.New(weights.Rows, cols), make([]float32, weights.Cols+1)
	for i := range m.Rows {
		copy(row, weights.Row(i))
		marksLast(row, weights.Cols, marks)
		copy(m.Row(i), row)
	}
	return m
}
