package bench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tfm/mat"
	"tfm/model"
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
			t.Errorf("%v: %+v, want %+v", c.x, got, c.want)
		}
	}
	rounds := 0
	next := func() float64 { rounds++; return float64(rounds) }
	if f := (Effort{Rounds: 5, Time: time.Hour}).measure(next); f != (Figure{4, 2, 6, 5}) || rounds != 6 {
		t.Errorf("five rounds after one: %+v of %d", f, rounds)
	}
	if f := (Effort{Rounds: 5}).measure(next); f.Rounds != 1 {
		t.Errorf("no time: %+v, want one round", f)
	}
	rounds = 0
	if f := (Effort{Rounds: 1}).measure(next); f != (Figure{1, 1, 1, 1}) {
		t.Errorf("one round: %+v", f)
	}
}

func TestCaptionsAreAsLongAsMulti30ks(t *testing.T) {
	all := Captions()
	var src, tgt, srcSquares, tgtSquares float64
	for _, l := range all {
		s, u := float64(l.Src), float64(l.Tgt)
		src, tgt, srcSquares, tgtSquares = src+s, tgt+u, srcSquares+s*s, tgtSquares+u*u
	}
	n := float64(len(all))
	deviation := func(sum, squares float64) float64 { return math.Sqrt(squares/n - sum/n*sum/n) }
	// The training set's own, counted; a fit by two numbers is off by a few hundredths.
	for _, c := range []struct{ got, want float64 }{
		{n, 29000}, {src / n, 15.12}, {tgt / n, 15.47}, {deviation(src, srcSquares), 4.70}, {deviation(tgt, tgtSquares), 5.28},
	} {
		if math.Abs(c.got/c.want-1) > 0.04 {
			t.Errorf("%v, want about %v", c.got, c.want)
		}
	}
	if !reflect.DeepEqual(all, Captions()) {
		t.Error("another call gives other lengths")
	}
}

func TestReadLengths(t *testing.T) {
	read := func(text string) ([]Length, error) {
		path := filepath.Join(t.TempDir(), "lengths.tsv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadLengths(path)
	}
	if got, err := read("3\t4\n257 2\n"); err != nil || !reflect.DeepEqual(got, []Length{{3, 4}, {257, 2}}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"": "no lengths", "3\t4\n5\n": `lengths.tsv:2: found "5"`, "3\t4\t5\n": "lengths.tsv:1: found", "a b\n": "lengths.tsv:1: found",
		"1\t4\n": "expected 2 to 257", "3\t258\n": "expected 2 to 257", "3\t-4\n": "expected 2 to 257", "3 99999999999999999999\n": "lengths.tsv:1: found",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ReadLengths(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error for a file that is not there")
	}
}

// The steps count what the run itself reports.
func TestStepsCountTheirTokens(t *testing.T) {
	w := Training{Name: "demo", Config: configOf("demo", 50), Lengths: []Length{{4, 6}, {5, 3}, {9, 7}, {2, 2}, {3, 5}}, Tokens: 10}
	steps, src, tgt := 0, 0, 0
	for step, err := range w.Steps(nil) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Took <= 0 || step.FLOPs <= 0 || step.Tgt > 10 {
			t.Errorf("%+v", step)
		}
		src, tgt, steps = src+step.Src, tgt+step.Tgt, steps+1
		if src == 23 {
			break // an epoch
		}
	}
	if tgt != 23 || steps < 3 {
		t.Errorf("%d source and %d target tokens in %d steps, want those of an epoch, 23 and 23", src, tgt, steps)
	}
	w.Lengths = nil
	for _, err := range w.Steps(nil) {
		if err == nil {
			t.Fatal("a step without pairs")
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
		t.Errorf("%+v", s)
	}
	for name, f := range map[string]Figure{"s/step": s.Seconds, "tokens/s": s.TgtPerSec, "GFLOP/s": s.GFLOPS, "limit": s.Limit} {
		if f.Rounds != 3 || !(0 < f.Low && f.Low <= f.Median && f.Median <= f.High) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	// Figures of the same rounds, so their medians are of the same one.
	near := func(name string, got, want float64) {
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("target tokens a step", s.TgtPerSec.Median*s.Seconds.Median, 15)
	near("source tokens a step", s.SrcPerSec.Median*s.Seconds.Median, 15)
	near("operations a step", 1e9*s.GFLOPS.Median*s.Seconds.Median, w.Config.TrainFLOPs(&b))
	near("utilisation", s.Utilisation, s.GFLOPS.Median/s.Limit.Median)
	if s.PeakMemory.Bytes < int64(16*s.Parameters) { // weights, gradients, two moments
		t.Errorf("%+v for %d parameters", s.PeakMemory, s.Parameters)
	}
}

func TestDecodingSpeed(t *testing.T) {
	for _, beam := range []int{1, 4} {
		s, err := Decoding{configOf("demo", 50), beam, 3, 7}.Measure(1, Effort{Rounds: 3, Time: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		// Every sentence has all of its tokens.
		if got := s.PerSec.Median * s.Seconds.Median; math.Abs(got-3*7) > 1e-6 || s.PerSec.Rounds != 3 || s.PeakMemory.Bytes == 0 {
			t.Errorf("%v tokens a batch, want 21: %+v", got, s)
		}
	}
}

func TestLimits(t *testing.T) {
	l := MeasureLimits(2, Effort{Rounds: 1}, true)
	for name, f := range map[string]Figure{"float32": l.Float32, "bf16": l.BF16, "read": l.Read, "copy": l.Copy, "update": l.Update} {
		if !(f.Median > 0) || math.IsInf(f.Median, 0) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if l.Threads != 2 || l.Buffer != 64<<20 {
		t.Errorf("%+v", l)
	}
	if m := Describe(); m.Float32 != mat.Kernel() || m.Cores < 1 || len(m.InForce) > len(m.Processor) {
		t.Errorf("%+v", m)
	}
}

// Who reads the JSON relies on its names.
func TestNamesOfTheReport(t *testing.T) {
	full := Report{Limits: make([]Limits, 1), Products: make([]ProductSpeed, 1), Training: make([]StepSpeed, 1), Decoding: make([]DecodeSpeed, 1)}
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
		"machine.kernels", "machine.kernels_bf16", "machine.kernels_int8", "machine.features_in_force", "machine.features",
		"limits", "limits.threads")
	add(figures("limits.float32_gflops", "limits.bf16_gflops")...)
	add("limits.buffer_bytes", "limits.buffer_beyond_cache")
	add(figures("limits.read_bytes_per_second", "limits.copy_bytes_per_second", "limits.update_bytes_per_second")...)
	add("gemm", "gemm.what", "gemm.form", "gemm.m", "gemm.n", "gemm.k", "gemm.precision", "gemm.threads")
	add(figures("gemm.gflops", "gemm.limit_gflops")...)
	add("gemm.share", "training", "training.preset", "training.precision", "training.threads", "training.parameters",
		"training.source_tokens_per_step", "training.target_tokens_per_step")
	add(figures("training.seconds_per_step", "training.source_tokens_per_second", "training.target_tokens_per_second",
		"training.gflops", "training.limit_gflops")...)
	add("training.utilisation", "training.peak_memory", "training.peak_memory.bytes", "training.peak_memory.of",
		"decoding", "decoding.beam", "decoding.batch", "decoding.threads", "decoding.tokens_per_sentence")
	add(figures("decoding.tokens_per_second", "decoding.seconds_per_batch")...)
	add("decoding.peak_memory", "decoding.peak_memory.bytes", "decoding.peak_memory.of")
	if !reflect.DeepEqual(keys, want) {
		t.Errorf("the names are\n%q\nwant\n%q", keys, want)
	}
}

// A Training is what train.Run takes for granted: the lengths of its batches.
func TestWorkloadsAreValid(t *testing.T) {
	for _, w := range []Training{Base(), Tiny(Captions())} {
		if err := w.Config.Validate(); err != nil {
			t.Error(err)
		}
		if _, err := train.NewBatches(pairsOf(w.Lengths, w.Config.SrcVocab), w.Tokens, min(train.DefaultOptions().MaxLen, w.Tokens-1), 1); err != nil {
			t.Error(err)
		}
	}
}
