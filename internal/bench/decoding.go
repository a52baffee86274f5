package bench

import (
	"context"
	"math/rand/v2"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// Decoding is the translation of a batch of sentences of equal length by a model of random weights,
// which takes as long as by a trained one. Translations are as long as the sources, because the end
// mark is never chosen earlier.
type Decoding struct {
	Config             model.Config
	Beam, Batch, Words int // Words: tokens of a source and of a translation, with the end mark
}

// BaseDecoding is the paper's base model with a vocabulary of 32,000, on sentences of 32 tokens.
func BaseDecoding(beam, batch int) Decoding {
	return Decoding{configOf("base", 32_000), beam, batch, 32}
}

// DecodeSpeed is how fast translations are.
type DecodeSpeed struct {
	Beam       int    `json:"beam"` // 1 is greedy
	Batch      int    `json:"batch"`
	Threads    int    `json:"threads"`
	Tokens     int    `json:"tokens_per_sentence"`
	PerSec     Figure `json:"tokens_per_second"` // of translations
	Seconds    Figure `json:"seconds_per_batch"`
	PeakMemory Memory `json:"peak_memory"`
}

// Measure measures rounds of one batch.
func (w Decoding) Measure(threads int, e Effort) (DecodeSpeed, error) {
	s := DecodeSpeed{Beam: w.Beam, Batch: w.Batch, Threads: threads, Tokens: w.Words}
	w.Config.OutputBias = true
	m, err := model.New(w.Config)
	if err != nil {
		return s, err
	}
	m.AllocWeights()
	m.Init(1)
	for _, p := range m.Params.List {
		if p.Name == "output.bias" {
			p.W[model.EOS] = -1e9
		}
	}
	pool := mat.NewPool(threads)
	defer pool.Close()
	d, search := decode.New(decode.NewWeights(m, pool), pool), decode.DefaultOptions()
	search.Beam, search.MaxExtra = w.Beam, 0
	r, srcs := rand.New(rand.NewPCG(2, 1)), make([][]int32, w.Batch)
	for i := range srcs {
		srcs[i] = tokens(r, w.Words, w.Config.SrcVocab)
	}
	var rates []float64
	s.Seconds = e.measure(func() float64 {
		begun, steps := time.Now(), 0
		translations, _ := d.Translate(context.Background(), srcs, search) // valid options, and nothing ends it
		for _, h := range translations {
			steps += len(h.Tokens) + 1
		}
		took := time.Since(begun).Seconds()
		rates = append(rates, float64(steps)/took)
		return took
	})
	s.PerSec, s.PeakMemory = figureOf(rates[len(rates)-s.Seconds.Rounds:]), PeakMemory()
	return s, nil
}
