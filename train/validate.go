package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tfm/internal/exact"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/score"
	"tfm/train/runlog"
)

// Validation is the result of a validation of a step's weights.
type Validation struct {
	Step     int           `json:"step"`     // 0: of the initial weights of a fine-tuning
	Loss     float64       `json:"loss"`     // nats per target token, label-smoothed
	NLL      float64       `json:"nll"`      // nats per target token, without smoothing
	Accuracy float64       `json:"accuracy"` // share of target tokens ranked first, 0 to 1
	HasBLEU  bool          `json:"has_bleu"` // false without references
	BLEU     float64       `json:"bleu"`     // 0 to 100
	Took     time.Duration `json:"took"`

	ByLoss bool `json:"by_loss,omitempty"` // Data.ByLoss: BLEU does not compare
}

// Sample is the translation of a validation sentence.
type Sample = runlog.Sample

// Made reports whether v is a validation, not the zero value for none.
func (v Validation) Made() bool { return v != Validation{} }

// Perplexity returns e^NLL.
func (v Validation) Perplexity() float64 { return exact.Exp(v.NLL) }

// betterThan reports whether v has a higher BLEU, or the same BLEU or ByLoss and a lower NLL. A
// finite loss is better than no validation. A loss that is not finite is never better.
func (v Validation) betterThan(w Validation) bool {
	if !w.Made() || !finite(v.Loss+v.NLL) {
		return finite(v.Loss + v.NLL)
	}
	if v.HasBLEU && w.HasBLEU && !v.ByLoss && v.BLEU != w.BLEU {
		return v.BLEU > w.BLEU
	}
	return v.NLL < w.NLL
}

// averageBetterThan reports whether v, the validation of an average, is better than the best one. A
// lower NLL is sufficient, because the maximum BLEU of many validations is partly chance.
func (v Validation) averageBetterThan(best Validation) bool {
	return v.betterThan(best) || v.NLL < best.NLL && finite(v.Loss)
}

// validator measures the weights of a Transformer on the validation pairs.
type validator struct {
	pass    *model.Pass
	batches *Batches
	batch   model.Batch

	decoder     *decode.Decoder
	weights     *decode.Weights // of the decoder, in the memory of gradients
	gradients   []float32       // zeros, between steps
	pool        *mat.Pool
	search      decode.Options
	srcs        [][]int32 // by length, so that similar lengths are translated together
	begins      [][]int32 // of the targets of srcs, see decode.Begins; nil without
	blank       []bool    // srcs[i] has no word: its translation is empty
	refs        []string  // refs[i] is the reference of srcs[i]
	byLoss      bool
	parts       []ValidPart
	partOf      []int           // partOf[i] is the index of srcs[i]'s part; nil without parts
	tokenize    score.Tokenizer // set by run.begin
	detokenize  func([]int32) string
	sampleIndex []int // indices of the samples in srcs, ascending
	samples     []Sample
	distinct    map[string]struct{} // hypotheses of the last validation

	entropies *entropies // of the last validation; nil without Options.Entropies
}

// sampleCount is the number of samples in an Event, from short to long.
const sampleCount = 5

// newValidator returns the validator of d's validation pairs, nil without validation.
func newValidator(t *model.Transformer, pass *model.Pass, p *mat.Pool, d Data, o Options) (*validator, error) {
	if d.Valid == nil || d.Valid.Len() == 0 || o.ValidEvery == 0 {
		return nil, nil
	}
	v := &validator{byLoss: d.ByLoss, pass: pass, search: o.Search, detokenize: d.Detokenize, pool: p}
	if o.Entropies {
		v.entropies = &entropies{config: t.Config}
	}
	var err error
	if v.batches, err = newBatches(d.Valid, t.Config.Source, o.BatchTokens, o.MaxLen, 0); err != nil {
		return nil, fmt.Errorf("validation pairs: %w", err)
	}
	v.batch = v.batches.buffer()
	if d.References == nil {
		return v, nil
	}
	v.weights, v.gradients = decode.NewWeightsIn(t.Params.G, t), t.Params.G
	v.search.NoScore = true // for greedy search
	v.decoder = decode.New(v.weights, p)
	if d.TargetPiece != nil {
		v.search.Pieces = decode.NewPieces(t.Config.TgtVocab, d.TargetPiece)
	}
	order := make([]int, d.Valid.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Valid.src.length(a), d.Valid.src.length(b)) })
	for _, i := range order {
		src := d.Valid.Src(i)
		v.srcs = append(v.srcs, src[:min(len(src), t.Config.MaxSource())])
		v.blank = append(v.blank, len(src) == 0 || d.DetokenizeSource != nil && text.IsBlank(d.DetokenizeSource(src)))
		v.refs = append(v.refs, d.References[i])
		if t.Config.TargetBegins {
			v.begins = append(v.begins, t.Config.TargetBegin(d.Valid.Tgt(i)))
		}
	}
	v.divide(d.ValidParts, order)
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

// divide sets the parts of srcs, which have the given order.
func (v *validator) divide(parts []ValidPart, order []int) {
	if v.parts = slices.Clone(parts); parts == nil {
		return
	}
	var partOf []int
	for i, p := range parts {
		partOf = append(partOf, slices.Repeat([]int{i}, p.Pairs)...)
	}
	for _, i := range order {
		v.partOf = append(v.partOf, partOf[i])
	}
}

// measure validates the weights of a step. It returns false if ctx ends.
func (v *validator) measure(ctx context.Context, step int) (Validation, bool) {
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
		result.HasBLEU, result.BLEU, result.ByLoss = true, score, v.byLoss
	}
	result.Took = time.Since(start)
	return result, true
}

// translate returns the BLEU of the translations of srcs. It returns false if ctx ends.
func (v *validator) translate(ctx context.Context) (float64, bool) {
	const batchSize = 256 // sentences
	translations := make([]string, 0, len(v.srcs))
	v.weights.Refresh(v.pool)
	defer clear(v.gradients)
	v.distinct = make(map[string]struct{}, len(v.srcs))
	for lo := 0; lo < len(v.srcs); lo += batchSize {
		hi := min(lo+batchSize, len(v.srcs))
		if v.begins != nil {
			v.search.Begins = &decode.Begins{Targets: v.begins[lo:hi]}
		}
		hypotheses, err := v.decoder.Translate(ctx, v.srcs[lo:hi], v.search)
		if err != nil { // ctx ended; the options are valid
			return 0, false
		}
		for i, h := range hypotheses {
			translation := "" // computed as package translate does
			if !v.blank[lo+i] {
				translation, _ = text.OneLine(v.detokenize(h.Tokens))
			}
			translations = append(translations, translation)
			v.distinct[translation] = struct{}{}
			if k, ok := slices.BinarySearch(v.sampleIndex, lo+i); ok {
				v.samples[k].Hypothesis = translation
			}
		}
	}
	for k := range v.parts {
		var hypotheses, refs []string
		for i, part := range v.partOf {
			if part == k {
				hypotheses, refs = append(hypotheses, translations[i]), append(refs, v.refs[i])
			}
		}
		v.parts[k].BLEU = v.bleu(hypotheses, refs)
	}
	return v.bleu(translations, v.refs), true
}

// bleu returns the BLEU of translations.
func (v *validator) bleu(translations, refs []string) float64 {
	// The last bits of the score depend on the machine's logarithm. Rounding keeps them from
	// choosing the best step.
	bleu := score.Count(score.BLEU{Tokenizer: v.tokenize}, translations, refs).Result().Score
	return math.Round(bleu*1e9) / 1e9
}

// estimate estimates the duration of a validation from the training speed. Evaluating a token takes
// about 1/3 of the time of training on it, and translating it greedily about 2/3.
func (v *validator) estimate(tgtPerSec float64) time.Duration {
	if tgtPerSec == 0 {
		return 0
	}
	passes := 1.0 / 3
	if v.decoder != nil {
		passes += 2. / 3
	}
	return time.Duration(passes * float64(len(v.batches.pairs.tgt.ids)) / tgtPerSec * float64(time.Second))
}
