package bench

import (
	"context"
	"iter"
	"slices"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/train"
)

// Training is a benchmark that trains a model on random tokens, with dropout, clipping and Adam.
type Training struct {
	Name        string
	Config      model.Config
	Lengths     []Length // of the training pairs
	BatchTokens int      // limit of target tokens in a batch
	BF16        bool     // see train.Options.BF16
}

// Base returns a Training of the paper's base model with a vocabulary of 10,000, on batches of 32
// pairs of 32 + 32 tokens.
func Base() Training { return EqualPairs("base", 10_000, 32, 32) }

// EqualPairs returns a Training of a preset whose batches are the given number of pairs of n + n
// tokens.
func EqualPairs(preset string, vocab, pairs, n int) Training {
	return Training{Name: preset, Config: configOf(preset, vocab), Lengths: slices.Repeat([]Length{{n, n}}, pairs), BatchTokens: pairs * n}
}

// Tiny returns a Training of the preset tiny with a vocabulary of 8,000, on batches of 4,096
// target tokens with the lengths of Captions.
func Tiny() Training {
	return Training{Name: "tiny", Config: configOf("tiny", 8_000), Lengths: Captions(), BatchTokens: 4096}
}

func configOf(preset string, vocab int) model.Config {
	c, err := model.Preset(preset)
	if err != nil {
		panic(err)
	}
	c.SrcVocab, c.TgtVocab = vocab, vocab
	return c
}

// Step is one measured training step.
type Step struct {
	Took     time.Duration
	Src, Tgt int     // tokens, with EOS
	FLOPs    float64 // Config.TrainFLOPs of the batch
}

// Steps trains on p and yields every step until the caller stops. The time of the loop's body is
// not counted. The first step is slower, because it is the first to touch its memory.
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
		o.Steps, o.BatchTokens, o.ValidEvery = 1<<30, w.BatchTokens, 0
		o.MaxLen, o.BF16 = min(o.MaxLen, o.BatchTokens-1), w.BF16
		pairs := pairsOf(w.Lengths, w.Config.SrcVocab)
		// the run's batches, to count their tokens
		same, err := train.NewBatches(pairs, o.BatchTokens, o.MaxLen, o.Seed)
		if err != nil {
			yield(Step{}, err)
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var b model.Batch
		start := time.Now()
		_, err = train.Run(ctx, m, p, train.Data{Train: pairs}, o, func(e train.Event) {
			took := time.Since(start)
			if e.Kind == train.Stepped && ctx.Err() == nil {
				same.Next(&b)
				if !yield(Step{took, len(b.Src), len(b.TgtIn), w.Config.TrainFLOPs(&b)}, nil) {
					stop()
				}
			}
			start = time.Now()
		})
		if err != nil && ctx.Err() == nil {
			yield(Step{}, err)
		}
	}
}

// StepSpeed is the result of a Training.
type StepSpeed struct {
	Preset      string  `json:"preset"`
	Precision   string  `json:"precision"` // of the products with weights: float32 or bf16
	Threads     int     `json:"threads"`
	Parameters  int     `json:"parameters"`
	SrcTokens   float64 `json:"source_tokens_per_step"`
	TgtTokens   float64 `json:"target_tokens_per_step"`
	Seconds     Figure  `json:"seconds_per_step"`
	SrcPerSec   Figure  `json:"source_tokens_per_second"`
	TgtPerSec   Figure  `json:"target_tokens_per_second"`
	GFLOPS      Figure  `json:"gflops"`       // TrainFLOPs per second
	Limit       Figure  `json:"limit_gflops"` // of registers, measured after each round
	Utilisation float64 `json:"utilisation"`  // GFLOPS / Limit
	PeakMemory  Memory  `json:"peak_memory"`
}

// Measure runs w on the given number of threads. A round is the given number of steps; a warm-up
// of that many steps comes first.
func (w Training) Measure(threads, steps int, e Effort) (StepSpeed, error) {
	pool := mat.NewPool(threads)
	defer pool.Close()
	s := StepSpeed{Preset: w.Name, Precision: map[bool]string{false: "float32", true: "bf16"}[w.BF16], Threads: threads, Parameters: w.Config.CountParams()}
	var seconds, src, tgt, gflops, limit []float64
	type sums struct{ steps, seconds, src, tgt, flops float64 }
	var round sums
	start, warm := time.Now(), false
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
			start, warm, round = time.Now(), true, sums{}
		}
		if round.steps < float64(steps) {
			continue
		}
		s.SrcTokens += round.src
		s.TgtTokens += round.tgt
		seconds, gflops = append(seconds, round.seconds/round.steps), append(gflops, 1e-9*round.flops/round.seconds)
		src, tgt = append(src, round.src/round.seconds), append(tgt, round.tgt/round.seconds)
		limit = append(limit, peak(threads, w.BF16))
		if len(seconds) >= e.Rounds || time.Since(start) > e.Time {
			break
		}
		round = sums{}
	}
	all := float64(len(seconds) * steps)
	s.SrcTokens, s.TgtTokens = s.SrcTokens/all, s.TgtTokens/all
	s.Seconds, s.SrcPerSec, s.TgtPerSec = figureOf(seconds), figureOf(src), figureOf(tgt)
	s.GFLOPS, s.Limit = figureOf(gflops), figureOf(limit)
	s.Utilisation, s.PeakMemory = ratio(s.GFLOPS, s.Limit), PeakMemory()
	return s, nil
}
