package translate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tfm/model"
	"tfm/text"
)

// The tuning for a text. BENCHMARKS.md has figures.
const (
	adaptSteps = 5
	adaptRate  = 0.256 // divided by d_model
)

// adapter translates single texts with a private copy of the model, whose last decoder layer it
// tunes to the pair of a memory that is closest to the text (Farajian et al., 2017, "Multi-Domain
// Neural Machine Translation through Unsupervised Adaptation"). Each text begins with the weights
// of the model, so that its translation depends on nothing else.
type adapter struct {
	mu    sync.Mutex
	t     *Translator // of the copy
	pass  *model.Pass
	batch model.Batch
	last  []tunedParam // of the last decoder layer
}

// tunedParam is the weights and gradients of a parameter, and its weights in the model.
type tunedParam struct{ w, g, model []float32 }

// newAdapter returns the adapter of t, which has its model.
func (t *Translator) newAdapter() (*adapter, error) {
	c := t.config
	c.Dropout, c.AttentionDropout, c.FFDropout, c.LabelSmoothing = 0, 0, 0, 0
	m, err := model.New(c)
	if err != nil {
		return nil, err
	}
	m.AllocForTraining()
	copy(m.Params.W, t.model.Params.W)
	own := &Translator{from: t.from, to: t.to, pool: t.pool, model: m, srcLang: t.srcLang, tgtLang: t.tgtLang}
	own.weights = (&Options{}).newWeights(m, t.pool)
	if err := own.prepare(t.tokenizers, t.decoding); err != nil {
		return nil, err
	}
	a := &adapter{t: own, pass: model.NewPass(m, t.pool), batch: model.Batch{Source: c.Source}}
	prefix := fmt.Sprintf("decoder.%d.", c.DecoderLayers-1)
	for _, p := range m.Params.List {
		if strings.HasPrefix(p.Name, prefix) {
			a.last = append(a.last, tunedParam{p.W, p.G, slices.Clone(p.W)})
		}
	}
	return a, nil
}

// tune tunes the copy to a pair. It reports whether the pair can be trained on.
func (a *adapter) tune(source, target string) bool {
	src, tgt := a.t.tokenizers.Source.Encode(nil, source), a.t.tokenizers.Target.Encode(nil, target)
	if n := a.t.config.MaxSource(); len(src) == 0 || len(tgt) == 0 || len(src) > n || len(tgt) > n {
		return false
	}
	params := a.t.model.Params
	for _, p := range a.last {
		copy(p.w, p.model)
	}
	a.batch.Reset()
	a.batch.Append(src, tgt)
	rate := adaptRate / float32(a.t.config.DModel)
	for range adaptSteps {
		a.pass.Train(&a.batch, 0, 1)
		for _, p := range a.last {
			for i, g := range p.g { // as Adam's first step
				if g > 0 {
					p.w[i] -= rate
				} else if g < 0 {
					p.w[i] += rate
				}
			}
		}
		clear(params.G)
	}
	a.t.weights.Refresh(a.t.pool)
	return true
}

// adapt sets the results of the texts that resemble a source of r.Memory.
func (t *Translator) adapt(ctx context.Context, r *Request, results []Result) error {
	if r.Adapt == 0 || r.Memory == nil || r.Decode.Sample || r.PhrasesOf != nil || r.KeepOf != nil || r.Glossary != nil || r.Decode.Constraint != nil || r.Certain != nil {
		return nil
	}
	if t.model == nil {
		return &model.FieldError{Field: "adapt", Found: r.Adapt, Expected: "0 without Options.KeepModel"}
	}
	for i, s := range r.Texts {
		if _, offset := t.textCode(s); results[i].InMemory || text.IsBlank(s) || r.prefix(i) != "" || offset > 0 {
			continue
		}
		close, similarity := r.Memory.index().closest(s, r.Adapt)
		if close == nil {
			continue
		}
		t.adapterOnce.Do(func() { t.adapter, t.adapterErr = t.newAdapter() })
		if t.adapterErr != nil {
			return t.adapterErr
		}
		one := *r
		one.Texts, one.Prefixes, one.Prefix, one.codes, one.Memory = []string{s}, nil, "", nil, nil
		list, err := t.adapter.do(ctx, close, one)
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

// do translates the text of r after tuning to a source, nil if it cannot be trained on.
func (a *adapter) do(ctx context.Context, close *memorySource, r Request) ([]Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.tune(close.source, close.target) {
		return nil, nil
	}
	return a.t.do(ctx, r)
}
