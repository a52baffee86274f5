package bench

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/train"
)

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want Figure
	}{
		{[]float64{3}, Figure{3, 3, 3, 1}},
		{[]float64{5, 1}, Figure{3, 1, 5, 2}},
		{[]float64{9, 1, 2}, Figure{2, 1, 9, 3}},
	} {
		if got := figureOf(c.x); got != c.want {
			t.Errorf("figureOf(%v) = %+v, want %+v", c.x, got, c.want)
		}
	}
	rounds := 0
	next := func() float64 { rounds++; return float64(rounds) }
	if f := (Effort{Rounds: 5, Time: time.Hour}).measure(next); f != (Figure{4, 2, 6, 5}) || rounds != 6 {
		t.Errorf("5 rounds: figure %+v after %d calls, want 5 rounds after a warm-up", f, rounds)
	}
	if f := (Effort{Rounds: 5}).measure(next); f.Rounds != 1 {
		t.Errorf("no time: figure %+v, want 1 round", f)
	}
	rounds = 0
	if f := (Effort{Rounds: 1}).measure(next); f != (Figure{1, 1, 1, 1}) {
		t.Errorf("1 round: figure %+v after %d calls, want no warm-up", f, rounds)
	}
}

func TestCaptionsMatchMulti30k(t *testing.T) {
	all := Captions()
	var src, tgt, srcSquares, tgtSquares float64
	for _, l := range all {
		s, u := float64(l.Src), float64(l.Tgt)
		src, tgt, srcSquares, tgtSquares = src+s, tgt+u, srcSquares+s*s, tgtSquares+u*u
	}
	n := float64(len(all))
	deviation := func(sum, squares float64) float64 { return math.Sqrt(squares/n - sum/n*sum/n) }
	// The wanted values are counted on the training set. The tolerance covers the error of the
	// log-normal fit.
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"pairs", n, 29000},
		{"mean source length", src / n, 15.12},
		{"mean target length", tgt / n, 15.47},
		{"standard deviation of source lengths", deviation(src, srcSquares), 4.70},
		{"standard deviation of target lengths", deviation(tgt, tgtSquares), 5.28},
	} {
		if math.Abs(c.got/c.want-1) > 0.04 {
			t.Errorf("%s = %v, want %v ± 4%%", c.name, c.got, c.want)
		}
	}
	if !reflect.DeepEqual(all, Captions()) {
		t.Error("two calls of Captions return different lengths")
	}
}

// The tokens of an epoch's steps add up to those of the training pairs.
func TestStepTokens(t *testing.T) {
	w := Training{Name: "demo", Config: configOf("demo", 50), Lengths: []Length{{4, 6}, {5, 3}, {9, 7}, {2, 2}, {3, 5}}, BatchTokens: 10}
	steps, src, tgt := 0, 0, 0
	for step, err := range w.Steps(nil) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Took <= 0 || step.FLOPs <= 0 || step.Tgt > 10 {
			t.Errorf("step %+v, want positive time and FLOPs and at most 10 target tokens", step)
		}
		src, tgt, steps = src+step.Src, tgt+step.Tgt, steps+1
		if src == 23 {
			break // an epoch
		}
	}
	if tgt != 23 || steps < 3 {
		t.Errorf("%d source and %d target tokens in %d steps, want 23 and 23 in at least 3", src, tgt, steps)
	}
	w.Lengths = nil
	for _, err := range w.Steps(nil) {
		if err == nil {
			t.Fatal("no error without training pairs")
		}
	}
}

func TestTrainingSpeed(t *testing.T) {
	w := EqualPairs("demo", 50, 3, 5)
	s, err := w.Measure(2, 2, Effort{Rounds: 3, Time: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var b model.Batch
	for range 3 {
		b.Append(make([]int32, 4), make([]int32, 4))
	}
	if s.SrcTokens != 15 || s.TgtTokens != 15 || s.Parameters != w.Config.CountParams() || s.Preset != "demo" || s.Precision != "float32" || s.Threads != 2 {
		t.Errorf("speed %+v", s)
	}
	for name, f := range map[string]Figure{"s/step": s.Seconds, "tokens/s": s.TgtPerSec, "GFLOP/s": s.GFLOPS, "limit": s.Limit} {
		if f.Rounds != 3 || !(0 < f.Low && f.Low <= f.Median && f.Median <= f.High) {
			t.Errorf("%s: figure %+v, want 3 rounds with 0 < low ≤ median ≤ high", name, f)
		}
	}
	// The figures are functions of the same rounds, so that their medians belong to one round.
	near := func(name string, got, want float64) {
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	near("target tokens per step", s.TgtPerSec.Median*s.Seconds.Median, 15)
	near("source tokens per step", s.SrcPerSec.Median*s.Seconds.Median, 15)
	near("FLOPs per step", 1e9*s.GFLOPS.Median*s.Seconds.Median, w.Config.TrainFLOPs(&b))
	near("utilisation", s.Utilisation, s.GFLOPS.Median/s.Limit.Median)
	if s.PeakMemory.Bytes < int64(16*s.Parameters) { // weights, gradients, two moments
		t.Errorf("peak memory %+v with %d parameters, want at least 16 bytes each", s.PeakMemory, s.Parameters)
	}
}

func TestDecodingSpeed(t *testing.T) {
	for i, beam := range []int{1, 4} {
		s, err := Decoding{configOf("demo", 50), decode.Form(i), beam, 3, 7}.Measure(1, Effort{Rounds: 3, Time: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		// Each of the 3 translations has the full length of 7 tokens.
		if got := s.PerSec.Median * s.Seconds.Median; math.Abs(got-3*7) > 1e-6 || s.PerSec.Rounds != 3 || s.PeakMemory.Bytes == 0 || s.Weights != []string{"float32", "int8"}[i] {
			t.Errorf("beam %d: %v tokens per batch, want 21: %+v", beam, got, s)
		}
	}
}

func TestLimits(t *testing.T) {
	l := MeasureLimits(2, Effort{Rounds: 1}, true)
	for name, f := range map[string]Figure{"float32": l.Float32, "bf16": l.BF16, "update": l.Update} {
		if !(f.Median > 0) || math.IsInf(f.Median, 0) {
			t.Errorf("%s: figure %+v, want a positive finite median", name, f)
		}
	}
	if l.Threads != 2 || l.Buffer != 64<<20 {
		t.Errorf("%d threads and buffers of %d bytes, want 2 and %d", l.Threads, l.Buffer, 64<<20)
	}
	if m := Describe(); m.Float32 != mat.Kernel() || m.Cores < 1 || len(m.InUse) > len(m.Supported) {
		t.Errorf("Describe() = %+v", m)
	}
}

// The names in the JSON are an interface: programs read them.
func TestReportNames(t *testing.T) {
	full := Report{Limits: make([]Limits, 1), Training: make([]StepSpeed, 1), Decoding: make([]DecodeSpeed, 1)}
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	var walk func(prefix string)
	d := json.NewDecoder(strings.NewReader(string(data)))
	walk = func(prefix string) {
		token, _ := d.Token()
		switch token {
		case json.Delim('{'):
			for d.More() {
				key, _ := d.Token()
				name := strings.TrimPrefix(prefix+"."+key.(string), ".")
				keys = append(keys, name)
				walk(name)
			}
			d.Token()
		case json.Delim('['):
			for d.More() {
				walk(prefix)
			}
			d.Token()
		}
	}
	walk("")
	figures := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, name, name+".median", name+".low", name+".high", name+".rounds")
		}
		return all
	}
	var want []string
	add := func(names ...string) { want = append(want, names...) }
	add("version", "quick", "machine", "machine.cpu", "machine.cores", "machine.cache_bytes", "machine.memory_bytes", "machine.system", "machine.go",
		"machine.kernels", "machine.kernels_bf16", "machine.kernels_int8", "machine.features_in_use", "machine.features",
		"limits", "limits.threads")
	add(figures("limits.float32_gflops", "limits.bf16_gflops")...)
	add("limits.buffer_bytes", "limits.buffer_beyond_cache")
	add(figures("limits.update_bytes_per_second")...)
	add("training", "training.preset", "training.precision", "training.threads", "training.parameters",
		"training.source_tokens_per_step", "training.target_tokens_per_step")
	add(figures("training.seconds_per_step", "training.source_tokens_per_second", "training.target_tokens_per_second",
		"training.gflops", "training.limit_gflops")...)
	add("training.utilisation", "training.peak_memory", "training.peak_memory.bytes", "training.peak_memory.of",
		"decoding", "decoding.weights", "decoding.beam", "decoding.batch", "decoding.threads", "decoding.tokens_per_sentence")
	add(figures("decoding.tokens_per_second", "decoding.seconds_per_batch")...)
	add("decoding.peak_memory", "decoding.peak_memory.bytes", "decoding.peak_memory.of")
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("names:\n%q\nwant:\n%q", keys, want)
	}
}

// The configurations are valid, and every sentence fits into a batch.
func TestTrainingsAreValid(t *testing.T) {
	for _, w := range []Training{Base(), Tiny()} {
		if err := w.Config.Validate(); err != nil {
			t.Error(err)
		}
		if _, err := train.NewBatches(pairsOf(w.Lengths, w.Config.SrcVocab), w.BatchTokens, min(train.DefaultOptions().MaxLen, w.BatchTokens-1), 1); err != nil {
			t.Error(err)
		}
	}
}
