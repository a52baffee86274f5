package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/score"
)

// Validation is the result of a validation of a step's weights.
type Validation struct {
	Step     int           `json:"step"`
	Loss     float64       `json:"loss"`     // nats a target token, label-smoothed
	NLL      float64       `json:"nll"`      // the same without smoothing
	Accuracy float64       `json:"accuracy"` // share of target tokens that were the likeliest, 0 to 1
	HasBLEU  bool          `json:"has_bleu"` // if there are references
	BLEU     float64       `json:"bleu"`     // 0 to 100
	Took     time.Duration `json:"took"`
}

// Perplexity returns e^NLL.
func (v Validation) Perplexity() float64 { return mat.Exp(v.NLL) }

// betterThan reports whether v has the higher BLEU, or with the same BLEU the lower NLL. A finite
// loss is better than no validation; one that is not finite is never better.
func (v Validation) betterThan(w Validation) bool {
	if w.Step == 0 || !finite(v.Loss+v.NLL) {
		return finite(v.Loss + v.NLL)
	}
	if v.HasBLEU && w.HasBLEU && v.BLEU != w.BLEU {
		return v.BLEU > w.BLEU
	}
	return v.NLL < w.NLL
}

// averageBetterThan reports whether the mean of the last checkpoints is better than the best
// validation. A lower NLL is enough, because the highest BLEU of many validations is luck in part.
func (v Validation) averageBetterThan(best Validation) bool {
	return v.betterThan(best) || v.NLL < best.NLL && finite(v.Loss)
}

// validator measures the weights of a Transformer on the validation pairs.
type validator struct {
	pass    *model.Pass
	batches *Batches
	batch   model.Batch

	decoder     *decode.Decoder
	weights     *decode.Weights // of the decoder
	pool        *mat.Pool
	search      decode.Options
	srcs        [][]int32       // shortest first: similar lengths are translated together
	blank       []bool          // of each of srcs: its text has no word, so its translation is the empty text
	refs        []string        // refs[i] is the reference of srcs[i]
	tokenize    score.Tokenizer // set when the run begins
	detokenize  func([]int32) string
	sampleIndex []int // places in srcs, in ascending order
	samples     []Sample

	entropies *entropies // of the last run; nil if they are not asked for
}

// sampleCount is the number of translations in an Event, from short to long.
const sampleCount = 5

// newValidator returns nil if there are no validation pairs.
func newValidator(t *model.Transformer, pass *model.Pass, p *mat.Pool, d Data, o Options) (*validator, error) {
	if d.Valid == nil || d.Valid.Len() == 0 || o.ValidEvery == 0 {
		return nil, nil
	}
	v := &validator{pass: pass, search: o.Search, detokenize: d.Detokenize, pool: p}
	if o.Entropies {
		v.entropies = &entropies{config: t.Config}
	}
	var err error
	if v.batches, err = NewBatches(d.Valid, o.BatchTokens, o.MaxLen, 0); err != nil {
		return nil, fmt.Errorf("validation pairs: %w", err)
	}
	v.batch = v.batches.buffer()
	if d.References == nil {
		return v, nil
	}
	v.weights = decode.NewWeights(t, p)
	v.decoder = decode.New(v.weights, p)
	order := make([]int, d.Valid.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Valid.src.length(a), d.Valid.src.length(b)) })
	for _, i := range order {
		src := d.Valid.Src(i)
		v.srcs = append(v.srcs, src[:min(len(src), t.Config.MaxLen-1)])
		v.blank = append(v.blank, len(src) == 0 || d.DetokenizeSource != nil && text.IsBlank(d.DetokenizeSource(src)))
		v.refs = append(v.refs, d.References[i])
	}
	count := min(sampleCount, len(v.srcs))
	for k := range count {
		i := (2*k + 1) * len(v.srcs) / (2 * count)
		s := Sample{Reference: v.refs[i]}
		if d.DetokenizeSource != nil {
			s.Source = d.DetokenizeSource(v.srcs[i])
		}
		v.sampleIndex, v.samples = append(v.sampleIndex, i), append(v.samples, s)
	}
	return v, nil
}

// run validates the weights of a step. It reports false, and no result, if ctx ended before.
func (v *validator) run(ctx context.Context, step int) (Validation, bool) {
	start := time.Now()
	evaluate := v.pass.Evaluate
	if v.entropies != nil {
		v.entropies.reset()
		evaluate = func(b *model.Batch) model.Loss { return v.pass.Attention(b, v.entropies.add) }
	}
	var loss model.Loss
	v.batches.at.Batch = 0
	for range v.batches.Len() {
		if ctx.Err() != nil {
			return Validation{}, false
		}
		v.batches.Next(&v.batch)
		loss = loss.Plus(evaluate(&v.batch))
	}
	n := float64(loss.Tokens)
	result := Validation{Step: step, Loss: loss.Sum / n, NLL: loss.NLL / n, Accuracy: float64(loss.Correct) / n}
	if v.decoder != nil {
		score, done := v.translate(ctx)
		if !done {
			return Validation{}, false
		}
		result.HasBLEU, result.BLEU = true, score
	}
	result.Took = time.Since(start)
	return result, true
}

// translate returns the BLEU of the translations. It reports false, and no result, if ctx ended
// before.
func (v *validator) translate(ctx context.Context) (float64, bool) {
	const batchSize = 256 // sentences
	bleu := score.BLEU{Tokenizer: v.tokenize}
	v.weights.Refresh(v.pool)
	for lo := 0; lo < len(v.srcs); lo += batchSize {
		hypotheses, err := v.decoder.Translate(ctx, v.srcs[lo:min(lo+batchSize, len(v.srcs))], v.search)
		if err != nil { // ctx's: the options have been validated
			return 0, false
		}
		for i, h := range hypotheses {
			translation := "" // as package translate makes them
			if !v.blank[lo+i] {
				translation, _ = text.OneLine(v.detokenize(h.Tokens), nil)
			}
			bleu.Add(translation, v.refs[lo+i])
			if k, ok := slices.BinarySearch(v.sampleIndex, lo+i); ok {
				v.samples[k].Hypothesis = translation
			}
		}
	}
	// The last bits of the score are those of the machine's logarithm, which must not choose
	// between two steps.
	return math.Round(bleu.Score().Score*1e9) / 1e9, true
}

// event adds samples and entropies of the last run to e.
func (v *validator) event(e Event) Event {
	e.Samples = slices.Clone(v.samples)
	if v.entropies != nil {
		e.Entropies = v.entropies.list
	}
	return e
}

// estimate returns how long a validation takes, judged by the speed of training: evaluating a token
// takes a third of the time that training on it takes, and translating it greedily twice that time.
func (v *validator) estimate(tgtPerSec float64) time.Duration {
	if tgtPerSec == 0 {
		return 0
	}
	work := 1.0 / 3
	if v.decoder != nil {
		work += 2
	}
	return time.Duration(work * float64(len(v.batches.pairs.tgt.ids)) / tgtPerSec * float64(time.Second))
}
