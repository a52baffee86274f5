package translate

import (
	"context"
	"math"
	"slices"
	"sync"

	"tfm/model"
	"tfm/text"
)

// The tuning for a text. BENCHMARKS.md has figures.
const (
	adaptSteps = 5
	adaptRate  = 0.256 // divided by d_model
)

// adapter translates single texts with a private copy of the last decoder layer, which it tunes to
// the pair of a memory that is closest to the text (Farajian et al., 2017, "Multi-Domain Neural
// Machine Translation through Unsupervised Adaptation"). Each text begins with the weights of the
// model, so that its translation depends on nothing else.
type adapter struct {
	mu    sync.Mutex
	t     *Translator // with the weights of tuner
	tuner *model.Tuner
}

// newAdapter returns the adapter of t, which has its model.
func (t *Translator) newAdapter() (*adapter, error) {
	a := &adapter{tuner: model.NewTuner(t.model, t.pool)}
	a.t = &Translator{from: t.from, to: t.to, pool: t.pool, srcLang: t.srcLang, tgtLang: t.tgtLang}
	a.t.weights = t.weights.Sharing(a.tuner.Model)
	return a, a.t.prepare(t.tokenizers, t.decoding)
}

// tune tunes the copy to a pair. It reports whether the pair can be trained on.
func (a *adapter) tune(src, tgt []int32) bool {
	if n := a.t.MaxSource(); len(src) == 0 || len(tgt) == 0 || len(src) > n || len(tgt) > n {
		return false
	}
	a.tuner.Begin(src, tgt)
	const signBit = 1 << 31
	rate := math.Float32bits(adaptRate / float32(a.t.config.DModel))
	for range adaptSteps {
		a.tuner.Step()
		for _, p := range a.tuner.Params {
			for i, g := range p.G { // by the sign of g, as Adam's first step
				if g != 0 {
					p.W[i] -= math.Float32frombits(rate | math.Float32bits(g)&signBit)
				}
			}
		}
	}
	a.t.weights.Refresh(a.t.pool)
	return true
}

// adaptable reports whether each text of r can be translated alone, as tuning needs: nothing in r
// depends on the number of a text or on other texts.
func (r *Request) adaptable() bool {
	return !r.Decode.Sample && r.Glossary == nil && r.Certain == nil
}

// adapt sets the results of the texts that resemble a source of r.Memory. It comes after standIns.
func (t *Translator) adapt(ctx context.Context, r *Request, results []Result) error {
	if r.Adapt == 0 || r.Memory == nil {
		return nil
	}
	if t.model == nil {
		return &model.FieldError{Field: "adapt", Found: r.Adapt, Expected: "0 without Options.KeepModel"}
	}
	known := affixesByCodes{}
	for i, s := range r.Texts {
		if err := ctx.Err(); err != nil {
			return err
		}
		around, offset, ok := t.inLanguagesOf(known, r, i)
		if !ok || results[i].InMemory || text.IsBlank(s[offset:]) || r.prefix(i) != "" || r.isKept(i) {
			continue
		}
		close, similarity := r.Memory.index().closest(s[offset:], r.Adapt)
		if close == nil {
			continue
		}
		t.adapterOnce.Do(func() { t.adapter, t.adapterErr = t.newAdapter() })
		if t.adapterErr != nil {
			return t.adapterErr
		}
		one := *r
		one.Texts, one.Prefixes, one.Prefix, one.standIns, one.Memory = []string{s}, nil, "", nil, nil
		if i < len(r.codes) {
			one.codes = r.codes[i : i+1]
		}
		src, tgt := t.tokenizers.Source.Encode(nil, close.source), t.tokenizers.Target.Encode(nil, close.target)
		list, err := t.adapter.do(ctx, around.wrap(src), slices.Concat(around.Begin, tgt), one)
		if err != nil {
			return err
		}
		if list != nil {
			results[i] = list[0]
			results[i].Similarity = similarity
		}
	}
	return nil
}

// do translates the text of r after tuning to a pair, nil if it cannot be trained on.
func (a *adapter) do(ctx context.Context, src, tgt []int32, r Request) ([]Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := ctx.Err(); err != nil { // ended while others were translated
		return nil, err
	}
	if !a.tune(src, tgt) {
		return nil, nil
	}
	return a.t.do(ctx, r)
}
