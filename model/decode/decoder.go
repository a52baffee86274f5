package decode

import (
	"context"
	"fmt"
	"slices"

	"tfm/attn"
	"tfm/mat"
	"tfm/model"
)

// Decoder translates for one goroutine. A translation depends neither on the other sources nor on
// the number of threads. A Decoder is not safe for concurrent use; any number of Decoders may share
// Weights. An Engine translates for many goroutines.
type Decoder struct {
	w         *Weights
	pool      *mat.Pool
	state     *State
	scheduler *scheduler
	handles   []int32 // workspace of Next
	pairs     pairPass
}

// New returns a Decoder with the weights w whose loops run on p.
func New(w *Weights, p *mat.Pool) *Decoder {
	d := &Decoder{w: w, pool: p, pairs: pairPass{weights: w, scratch: scratch{pool: p}}}
	d.reset()
	return d
}

// reset makes d a Decoder without requests.
func (d *Decoder) reset() {
	d.state = NewState(d.w, d.pool)
	d.scheduler = newScheduler(d.w, d.state, d.pool)
}

// Translate returns the best translation of each source, in the order of srcs: the first of its
// list from NBest. Errors and panics are those of NBest.
func (d *Decoder) Translate(ctx context.Context, srcs [][]int32, o Options) ([]Hypothesis, error) {
	lists, err := d.NBest(ctx, srcs, o)
	if err != nil {
		return nil, err
	}
	best := make([]Hypothesis, len(lists))
	for i, list := range lists {
		best[i] = list[0]
	}
	return best, nil
}

// NBest returns for each source a list of 1 to Options.NBest translations by descending score. Beam
// search lists different translations: those that end in EOS, or else the truncated ones. Sampling
// lists all draws, equal ones too. Sources are ids without EOS. The error is that of
// Options.Validate, or that of ctx, which NBest checks before each step. It panics on ids outside
// the vocabulary and on a source of more than Config.MaxLen-1 tokens.
func (d *Decoder) NBest(ctx context.Context, srcs [][]int32, o Options) (lists [][]Hypothesis, err error) {
	if err := checkCall(d.w, srcs, &o); err != nil {
		return nil, err
	}
	defer func() {
		if !d.scheduler.idle() { // a step has panicked, whose request must not be in the next call
			d.reset()
		}
	}()
	lists = make([][]Hypothesis, len(srcs))
	d.scheduler.add(newRequest(ctx, srcs, o, func(i int, list []Hypothesis) { lists[i] = list }, func(e error) { err = e }))
	for !d.scheduler.idle() {
		d.scheduler.step()
	}
	if err != nil {
		return nil, err
	}
	return lists, nil
}

// Next returns, for every id of the target vocabulary, the probability of being the next token
// after given in the translation of src: one decode step. The probabilities are those of the
// searches, bit for bit. Pad and BOS have 0, suppressed pieces their share. Next panics on ids and
// lengths as Translate does.
func (d *Decoder) Next(src, given []int32) []float32 {
	c := &d.w.model.Config
	checkIDs("target", 0, given, c.TgtVocab, c.MaxLen)
	d.handles = d.state.Add(d.handles[:0], src)
	defer d.state.Remove(d.handles[0])
	logits := d.state.Step([]Row{{Source: d.handles[0], Token: model.BOS, Parent: -1}})
	for _, id := range given {
		logits = d.state.Step([]Row{{Source: d.handles[0], Token: id}})
	}
	p := slices.Clone(logits.Row(0))
	mask(p, nil)
	mat.Softmax(p, p, 1)
	return p
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
