package bench

import (
	"context"
	"math/rand/v2"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
)

// Decoding is a benchmark that translates a batch of sentences of equal length. The weights are
// those of decode.Random; the time does not depend on them. Translations are as long as their
// sources.
type Decoding struct {
	Config      model.Config
	Weights     decode.Form
	Beam, Batch int
	Length      int // tokens of each source and of each translation, with EOS
}

// BaseDecoding returns a Decoding by the paper's base model with a vocabulary of 32,000, on
// sentences of 32 tokens.
func BaseDecoding(weights decode.Form, beam, batch int) Decoding {
	return Decoding{configOf("base", 32_000), weights, beam, batch, 32}
}

// DecodeSpeed is the result of a Decoding.
type DecodeSpeed struct {
	Weights    string `json:"weights"` // "float32" or "int8"
	Beam       int    `json:"beam"`    // 1 is greedy
	Batch      int    `json:"batch"`
	Threads    int    `json:"threads"`
	Tokens     int    `json:"tokens_per_sentence"`
	PerSec     Figure `json:"tokens_per_second"` // target tokens
	Seconds    Figure `json:"seconds_per_batch"`
	PeakMemory Memory `json:"peak_memory"`
}

// Measure runs w on the given number of threads. A round is one batch.
func (w Decoding) Measure(threads int, e Effort) (DecodeSpeed, error) {
	s := DecodeSpeed{Weights: w.Weights.String(), Beam: w.Beam, Batch: w.Batch, Threads: threads, Tokens: w.Length}
	pool := mat.NewPool(threads)
	defer pool.Close()
	weights, err := decode.Random(w.Config, w.Weights, pool)
	if err != nil {
		return s, err
	}
	defer weights.Close()
	d, search := decode.New(weights, pool), decode.DefaultOptions()
	search.Beam, search.MaxExtra = w.Beam, 0
	search.NoScore = true // as tfm translate does in greedy search
	r, srcs := rand.New(rand.NewPCG(2, 1)), make([][]int32, w.Batch)
	for i := range srcs {
		srcs[i] = tokens(r, w.Length, w.Config.SrcVocab)
	}
	var rates []float64
	s.Seconds = e.measure(func() float64 {
		start, tokens := time.Now(), 0
		// no error: valid options, no cancellation
		translations, _ := d.Translate(context.Background(), srcs, search)
		for _, h := range translations {
			tokens += len(h.Tokens) + 1
		}
		took := time.Since(start).Seconds()
		rates = append(rates, float64(tokens)/took)
		return took
	})
	s.PerSec, s.PeakMemory = figureOf(rates[len(rates)-s.Seconds.Rounds:]), PeakMemory()
	return s, nil
}
