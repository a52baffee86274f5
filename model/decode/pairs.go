package decode

import (
	"context"
	"fmt"

	"tfm/attn"
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

// LogProbs returns the log-probabilities of given translations: for each pair, those of the tokens
// of the target, each after the tokens before it, and of EOS. They have the values of the training
// loss without label smoothing: unlike in a search, Pad and BOS have a probability. They depend
// neither on the other pairs nor on the number of threads. The error is that of ctx. LogProbs
// panics if srcs and tgts differ in length, and on ids and lengths as Translate does.
func (d *Decoder) LogProbs(ctx context.Context, srcs, tgts [][]int32) ([][]float64, error) {
	result := make([][]float64, len(srcs))
	err := d.eachPairs(ctx, srcs, tgts, func(first int, p *pairPass) {
		all := p.logProbs(p.decode(nil))
		for i := range p.tgts {
			result[first+i] = all[p.tgtStarts[i]:p.tgtStarts[i+1]:p.tgtStarts[i+1]]
		}
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Attention returns the attention weights of each pair of a source and a target: the
// cross-attention weights of the heads that align selects, averaged over them. Row i of pair k
// belongs to tgts[k][i], the last row to EOS; column j is srcs[k][j], the last column the marks of
// the source, such as EOS. Each row sums to 1. With align.Next a row is that of the next step,
// except the last. Errors and panics are those of LogProbs; Attention also panics on a head that
// the model does not have.
func (d *Decoder) Attention(ctx context.Context, srcs, tgts [][]int32, align AlignHeads) ([][][]float32, error) {
	checkPairs(&d.w.model.Config, srcs, tgts)
	heads := align.Heads
	if len(heads) == 0 {
		for head := range d.w.sizes().Heads {
			heads = append(heads, CrossHead{Layer: len(d.w.decoder) - 1, Head: head})
		}
	}
	means := make([]mat.Matrix, len(srcs))
	for i := range means {
		means[i] = mat.New(len(tgts[i])+1, len(srcs[i])+1)
	}
	err := d.CrossAttention(ctx, srcs, tgts, heads, func(pair, _ int, weights mat.Matrix) {
		mat.Axpy(1/float32(len(heads)), weights.Data, means[pair].Data)
	})
	if err != nil {
		return nil, err
	}
	result := make([][][]float32, len(srcs))
	for i, mean := range means {
		for row := range mean.Rows {
			if align.Next {
				row = min(row+1, mean.Rows-1)
			}
			result[i] = append(result[i], mean.Row(row))
		}
	}
	return result, nil
}

// CrossAttention calls visit with the weights [targets × sources] of each pair and each of heads,
// by its index. Row i is the step that predicts the pair's target token i, the last row EOS; the
// last column is EOS. Layers come in ascending order; visit may use weights only during the call.
// Errors and panics are those of Attention.
func (d *Decoder) CrossAttention(ctx context.Context, srcs, tgts [][]int32, heads []CrossHead, visit func(pair, head int, weights mat.Matrix)) error {
	if err := (AlignHeads{Heads: heads}).Validate(d.w.model.Config); err != nil {
		panic(fmt.Sprintf("decode: %v", err))
	}
	var workspace []float32
	marks := d.w.model.Config.Source
	return d.eachPairs(ctx, srcs, tgts, func(first int, p *pairPass) {
		p.decode(func(layer int, in attn.Inputs, r attn.Ragged) {
			for k, h := range heads {
				if h.Layer != layer {
					continue
				}
				for i := range p.srcs {
					rows, cols, tokens := len(p.tgts[i])+1, len(p.srcs[i])+1, int(p.scratch.starts[i+1]-p.scratch.starts[i])
					if n := rows * max(cols, tokens); len(workspace) < n {
						workspace = make([]float32, 2*n)
					}
					weights := mat.Of(workspace[:rows*tokens], rows, tokens)
					in.Weights(weights, d.w.sizes().Heads, i, h.Head, r)
					if marks.HasBOS() || !marks.HasEOS() {
						weights = marksToLast(weights, cols, marks)
					}
					visit(first+i, k, weights)
				}
			}
		})
	})
}

// eachPairs calls f with passes over consecutive pairs and the index of the first pair. The sources
// of a pass are encoded.
func (d *Decoder) eachPairs(ctx context.Context, srcs, tgts [][]int32, f func(first int, p *pairPass)) error {
	checkPairs(&d.w.model.Config, srcs, tgts)
	for first := 0; first < len(srcs); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end, m, n := first, 0, 0
		for end < len(srcs) && (end == first || max(m+len(srcs[end]), n+len(tgts[end]))+1 <= maxPairRows) {
			m, n = m+len(srcs[end])+1, n+len(tgts[end])+1
			end++
		}
		d.pairs.set(srcs[first:end], tgts[first:end])
		f(first, &d.pairs)
		first = end
	}
	return nil
}

// checkPairs panics on invalid pairs.
func checkPairs(c *model.Config, srcs, tgts [][]int32) {
	if len(srcs) != len(tgts) {
		panic(fmt.Sprintf("decode: %d sources and %d targets", len(srcs), len(tgts)))
	}
	for i := range srcs {
		checkIDs("source", i, srcs[i], c.SrcVocab, c.MaxSource()+1)
		checkIDs("target", i, tgts[i], c.TgtVocab, c.MaxLen)
	}
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
		t.logProbs[i] = zNext - (float64(zMax) + mat.Log(float64(mat.ExpSum(z, z, zMax))))
	}
}
