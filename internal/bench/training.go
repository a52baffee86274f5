package bench

import (
	"context"
	"iter"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/train"
)

// Training is a model trained on random tokens, with dropout, clipping and Adam.
type Training struct {
	Name    string
	Config  model.Config
	Lengths []Length
	Tokens  int // target tokens of a batch, at most
	BF16    bool
}

// Base is the paper's base model with a vocabulary of 10,000 on 32 pairs of 32 + 32 tokens.
func Base() Training { return EqualPairs("base", 10_000, 32, 32) }

// EqualPairs is steps of a preset on the same pairs of n + n tokens.
func EqualPairs(preset string, vocab, pairs, n int) Training {
	return Training{Name: preset, Config: configOf(preset, vocab), Lengths: Equal(pairs, n, n), Tokens: pairs * n}
}

// Tiny is the preset for some ten thousand pairs with a vocabulary of 8,000, on batches of 4,096 target tokens.
func Tiny(lengths []Length) Training {
	return Training{Name: "tiny", Config: configOf("tiny", 8_000), Lengths: lengths, Tokens: 4096}
}

func configOf(preset string, vocab int) model.Config {
	c, err := model.Preset(preset)
	if err != nil {
		panic(err)
	}
	c.SrcVocab, c.TgtVocab = vocab, vocab
	return c
}

// Step is one that has been made.
type Step struct {
	Took     time.Duration
	Src, Tgt int     // tokens, with the marks
	FLOPs    float64 // Config.TrainFLOPs
}

// Steps trains on p's threads until whoever ranges over it has seen enough; the time that they take is not counted. The
// first step is slower than others, for it touches memory for the first time.
func (w Training) Steps(p *mat.Pool) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		m, err := model.New(w.Config)
		if err != nil {
			yield(Step{}, err)
			return
		}
		m.AllocForTraining()
		m.Init(1)
		o := train.DefaultOptions()
		o.Steps, o.Tokens, o.ValidEvery = 1<<30, w.Tokens, 0
		o.MaxLen, o.BF16 = min(o.MaxLen, o.Tokens-1), w.BF16
		pairs := pairsOf(w.Lengths, w.Config.SrcVocab)
		same, err := train.NewBatches(pairs, o.Tokens, o.MaxLen, o.Seed) // deals what the run is given, to be counted
		if err != nil {
			yield(Step{}, err)
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var b model.Batch
		begun := time.Now()
		_, err = train.Run(ctx, m, p, train.Data{Train: pairs}, o, func(e train.Event) {
			took := time.Since(begun)
			if e.Kind == train.Stepped && ctx.Err() == nil {
				same.Next(&b)
				if !yield(Step{took, len(b.Src), len(b.TgtIn), w.Config.TrainFLOPs(&b)}, nil) {
					stop()
				}
			}
			begun = time.Now()
		})
		if err != nil && ctx.Err() == nil {
			yield(Step{}, err)
		}
	}
}

// StepSpeed is how fast training steps are.
type StepSpeed struct {
	Preset      string  `json:"preset"`
	Precision   string  `json:"precision"` // of the products with weights
	Threads     int     `json:"threads"`
	Parameters  int     `json:"parameters"`
	SrcTokens   float64 `json:"source_tokens_per_step"`
	TgtTokens   float64 `json:"target_tokens_per_step"`
	Seconds     Figure  `json:"seconds_per_step"`
	SrcPerSec   Figure  `json:"source_tokens_per_second"`
	TgtPerSec   Figure  `json:"target_tokens_per_second"`
	GFLOPS      Figure  `json:"gflops"`       // useful ones
	Limit       Figure  `json:"limit_gflops"` // measured after each round, on as many threads
	Utilisation float64 `json:"utilisation"`
	PeakMemory  Memory  `json:"peak_memory"`
}

// Measure measures rounds of so many steps, after as many that are not counted.
func (w Training) Measure(threads, steps int, e Effort) (StepSpeed, error) {
	pool := mat.NewPool(threads)
	defer pool.Close()
	s := StepSpeed{Preset: w.Name, Precision: precision(w.BF16), Threads: threads, Parameters: w.Config.CountParams()}
	var seconds, src, tgt, gflops, limit []float64
	var round struct{ steps, seconds, src, tgt, flops float64 }
	begun, warm := time.Now(), false
	for step, err := range w.Steps(pool) {
		if err != nil {
			return s, err
		}
		round.steps++
		round.seconds += step.Took.Seconds()
		round.src += float64(step.Src)
		round.tgt += float64(step.Tgt)
		round.flops += step.FLOPs
		if !warm && (round.steps == float64(steps) || e.Rounds == 1) {
			begun, warm, round.steps = time.Now(), true, 0
			round.seconds, round.src, round.tgt, round.flops = 0, 0, 0, 0
		}
		if round.steps < float64(steps) {
			continue
		}
		s.SrcTokens += round.src
		s.TgtTokens += round.tgt
		seconds, gflops = append(seconds, round.seconds/round.steps), append(gflops, 1e-9*round.flops/round.seconds)
		src, tgt = append(src, round.src/round.seconds), append(tgt, round.tgt/round.seconds)
		limit = append(limit, peak(threads, w.BF16))
		if len(seconds) >= e.Rounds || time.Since(begun) > e.Time {
			break
		}
		round.steps, round.seconds, round.src, round.tgt, round.flops = 0, 0, 0, 0, 0
	}
	all := float64(len(seconds) * steps)
	s.SrcTokens, s.TgtTokens = s.SrcTokens/all, s.TgtTokens/all
	s.Seconds, s.SrcPerSec, s.TgtPerSec = figureOf(seconds), figureOf(src), figureOf(tgt)
	s.GFLOPS, s.Limit = figureOf(gflops), figureOf(limit)
	s.Utilisation, s.PeakMemory = part(s.GFLOPS, s.Limit), PeakMemory()
	return s, nil
}

// precision names what products are computed in.
func precision(bf16 bool) string {
	if bf16 {
		return "bf16"
	}
	return "float32"
}
