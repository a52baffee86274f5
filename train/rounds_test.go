package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// roundOptions returns the options of rounds of 4 steps on copyData, whose epoch has seven batches.
func roundOptions(t *testing.T, workers, rounds int) Options {
	o := smallOptions(4 * rounds)
	o.Dir, o.ValidEvery, o.SaveEvery, o.Keep, o.Average = t.TempDir(), 4, 4, 2, 2
	o.Rounds = Rounds{Workers: workers, LocalSteps: 4, Rounds: rounds}
	return o
}

// begun begins a training in rounds.
func begun(t *testing.T, o Options) Options {
	t.Helper()
	if err := Begin(context.Background(), newModel(t, smallConfig()), nil, copyData(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func mustWork(t *testing.T, o Options, p *mat.Pool, round, worker int) {
	t.Helper()
	m := newModel(t, smallConfig())
	fill(m.Params.W, 7) // nothing depends on it
	if err := Work(context.Background(), m, p, copyData(), o, round, worker, nil); err != nil {
		t.Fatal(err)
	}
}

func mustMerge(t *testing.T, o Options, round, quorum int) {
	t.Helper()
	if err := Merge(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, round, quorum, nil); err != nil {
		t.Fatal(err)
	}
}

// finished returns the result of a training whose rounds are merged.
func finished(t *testing.T, o Options) (Result, []float32) {
	t.Helper()
	m := newModel(t, smallConfig())
	r, err := Finish(context.Background(), m, nil, copyData(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, m.Params.W
}

// inTurn makes all rounds in turn.
func inTurn(t *testing.T, o Options) (Result, []float32) {
	t.Helper()
	for round := range o.Rounds.Rounds {
		for worker := range o.Rounds.Workers {
			mustWork(t, o, nil, round+1, worker)
		}
		mustMerge(t, o, round+1, 0)
	}
	return finished(t, o)
}

func fill(x []float32, value float32) {
	for i := range x {
		x[i] = value
	}
}

// outers returns the bytes of the outer files.
func outers(t *testing.T, o Options) (files []string) {
	t.Helper()
	for round := range o.Rounds.Rounds + 1 {
		if b, err := os.ReadFile(o.OuterPath(round + 1)); err == nil {
			files = append(files, fmt.Sprint(round+1, " ", string(b)))
		}
	}
	return files
}

// One worker makes the same weights as Run, with a cooldown, a mean of the last checkpoints, and
// initial weights that nothing improves on.
func TestOneWorkerIsRun(t *testing.T) {
	for accumulate, optimizer := range map[int]string{1: OptimizerMuon, 2: OptimizerAdam} {
		o := roundOptions(t, 1, 5)
		o.Optimizer, o.Accumulate, o.Cooldown = optimizer, accumulate, 0.4
		if optimizer == OptimizerMuon {
			o.Momentum, o.MuonScale = 0.95, 0.2
		} else {
			o.LR, o.Init = 1e-30, "not worse"
		}
		got, weights := inTurn(t, begun(t, o))

		o.Rounds, o.Dir = Rounds{}, t.TempDir()
		m := newModel(t, smallConfig())
		want := mustRun(t, context.Background(), m, nil, copyData(), o, nil)
		wantSameWeights(t, optimizer, weights, m.Params.W)
		got.Best.Took, want.Best.Took = 0, 0
		if got.Step != want.Step || got.Best != want.Best || got.Averaged != want.Averaged || got.Decoding != want.Decoding {
			t.Errorf("%s: result %+v, want %+v", optimizer, got, want)
		}
		if o.Init != "" && (!want.Best.Made() || want.Best.Step != 0) {
			t.Errorf("best %+v, want the initial weights", want.Best)
		}
	}
}

// Workers deal out the batches of Run among them.
func TestWorkersDealOutBatches(t *testing.T) {
	collect := func(workers, worker, steps int) (batches []string) {
		o := smallOptions(steps)
		o.Accumulate = 2
		r, err := newRun(newModel(t, smallConfig()), nil, copyData(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer r.loader.stop()
		r.worker, r.workers, r.others = worker, workers, r.loader.newBuffer()
		r.alloc()
		for range steps {
			if _, err := r.next(); err != nil {
				t.Fatal(err)
			}
			for _, b := range r.batches {
				batches = append(batches, fmt.Sprint(b.Src, b.TgtOut))
			}
		}
		return batches
	}
	all := collect(1, 0, 15)
	for worker := range 3 {
		for i, b := range collect(3, worker, 5) {
			if b != all[3*i+worker] {
				t.Errorf("batch %d of worker %d of 3 is not batch %d of all", i, worker, 3*i+worker)
			}
		}
	}
}

// Any order of the workers, number of attempts and of threads, and interruptions write the same
// bytes.
func TestAttemptsChangeNoBit(t *testing.T) {
	o := roundOptions(t, 3, 4)
	_, want := inTurn(t, begun(t, o))
	files := outers(t, o)

	o.Dir = t.TempDir()
	begun(t, o)
	random := rand.New(rand.NewPCG(1, 2))
	for round := 1; round <= 4; round++ {
		for i, worker := range append(random.Perm(3), random.Perm(3)...) {
			stopped, stop := context.WithCancel(context.Background())
			stop()
			err := Work(stopped, newModel(t, smallConfig()), nil, copyData(), o, round, worker, nil)
			if done := i >= 3; (err == nil) != done || err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("a worker that is done (%v), and interrupted: %v", done, err)
			}
			mustWork(t, o, pool(t, 1+i%3), round, worker)
			again := o.WorkerPath(round, worker)
			before, _ := os.ReadFile(again)
			if err := os.Remove(again); err != nil {
				t.Fatal(err)
			}
			mustWork(t, o, pool(t, 2), round, worker)
			if after, _ := os.ReadFile(again); !slices.Equal(before, after) {
				t.Errorf("round %d: a further attempt of worker %d writes other bytes", round, worker)
			}
		}
		mustMerge(t, o, round, 0)
		mustMerge(t, o, round, 0)
		mustWork(t, o, nil, round, 0) // late: does nothing
	}
	for round := 1; round <= 4; round++ { // also of rounds whose weights were removed
		if mustWork(t, o, nil, round, 0); !MergeDone(o, round) || !WorkDone(o, round, 1) || there(o.WorkerPath(round, 0)) && round < 4 {
			t.Errorf("round %d is made again", round)
		}
	}
	_, got := finished(t, o)
	wantSameWeights(t, "final", got, want)
	if !slices.Equal(outers(t, o), files) {
		t.Error("the outer files differ")
	}
	if left, _ := os.ReadDir(o.roundDir(2)); len(left) > 1 {
		t.Errorf("round 2 still has %d files, want at most that of the weights", len(left))
	}
}

// Attempts at a merge at the same time all succeed, also those whose files another removes.
func TestMergesAtOnce(t *testing.T) {
	o := begun(t, roundOptions(t, 3, 8))
	for round := 1; round <= 8; round++ {
		for worker := range 3 {
			mustWork(t, o, nil, round, worker)
		}
		errs := make(chan error)
		for range 4 {
			go func() {
				errs <- Merge(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, round, 0, nil)
			}()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
	}
}

// An attempt at a merge that ends after later rounds removes none of their files.
func TestLateMerge(t *testing.T) {
	o := roundOptions(t, 2, 8)
	o.Optimizer, o.LR, o.Warmup = OptimizerSGD, 5, 32 // rises too high, so that an early round is best
	o.Keep, o.Average = 1, 1
	begun(t, o)
	merged, later, late := make(chan bool), make(chan bool), make(chan error)
	for round := 1; round <= 8; round++ {
		mustWork(t, o, nil, round, 0)
		mustWork(t, o, nil, round, 1)
		if round == 2 {
			go func() {
				late <- Merge(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, round, 0, func(e Event) {
					if e.Kind == Merged {
						close(merged)
						<-later
					}
				})
			}()
			<-merged
		}
		mustMerge(t, o, round, 0)
	}
	before := outers(t, o)
	close(later)
	if err := <-late; err != nil || !slices.Equal(outers(t, o), before) {
		t.Errorf("a late merge changes the files; error %v", err)
	}
	if r, _ := finished(t, o); r.Best.Step > 8 {
		t.Errorf("the best step is %d, want one of an early round", r.Best.Step)
	}
}

// A round without a worker is refused, or recorded, and can be repeated.
func TestQuorum(t *testing.T) {
	o := begun(t, roundOptions(t, 3, 4))
	merge := func(round, quorum int) error {
		return Merge(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, round, quorum, nil)
	}
	incomplete := func(what string, err error, wants ...string) {
		t.Helper()
		e := IncompleteError{}
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v, want an IncompleteError", what, err)
		}
		for _, want := range wants {
			if !strings.Contains(e.Error(), want) {
				t.Errorf("%s: %v, want %q in it", what, e, want)
			}
		}
	}
	incomplete("no worker", merge(1, 1), "round 1", "worker-0", "worker-2")
	incomplete("next round", Work(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, 2, 0, nil), "round 2", "outer")
	for round, workers := range [][]int{{0, 2}, {2}, {0, 1, 2}, {0, 1, 2}} {
		round++
		for _, worker := range workers {
			mustWork(t, o, nil, round, worker)
		}
		if absent := 3 - len(workers); absent > 0 {
			incomplete("all needed", merge(round, 0), "worker-1")
			incomplete("more needed", merge(round, len(workers)+1), "worker-1")
		}
		if err := merge(round, len(workers)); err != nil {
			t.Fatal(err)
		}
	}
	_, want := finished(t, o)
	c, err := OpenCheckpoint(o.OuterPath(5))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.State.Missing != "1/1 2/0 2/1" {
		t.Errorf("missing is %q, want 1/1 2/0 2/1", c.State.Missing)
	}
	o.Dir, o.Rounds.Missing = t.TempDir(), c.State.Missing
	_, got := inTurn(t, begun(t, o))
	wantSameWeights(t, "repeated", got, want)
}

// The weights after a round are those that Average computes.
func TestMergeAverages(t *testing.T) {
	o := begun(t, roundOptions(t, 2, 2))
	for round := 1; round <= 2; round++ {
		mustWork(t, o, nil, round, 0)
		mustWork(t, o, nil, round, 1)
		want, got := newModel(t, smallConfig()), newModel(t, smallConfig())
		if err := Average(context.Background(), want, []string{o.WorkerPath(round, 0), o.WorkerPath(round, 1)}, nil); err != nil {
			t.Fatal(err)
		}
		mustMerge(t, o, round, 0)
		if err := readWeights(o.OuterPath(round+1), got, got.Params.W); err != nil {
			t.Fatal(err)
		}
		wantSameWeights(t, fmt.Sprint("round ", round), got.Params.W, want.Params.W)
	}
}

func TestRoundsOfOthers(t *testing.T) {
	o := begun(t, roundOptions(t, 2, 2))
	ctx, m := context.Background(), newModel(t, smallConfig())
	d := copyData()
	d.Train = copyTask(100, 6, 9)
	if err := Work(ctx, m, nil, d, o, 1, 0, nil); !errors.Is(err, ErrOtherPairs) {
		t.Errorf("other pairs: %v", err)
	}
	other := o
	other.Rounds.Workers = 3
	if err := Work(ctx, m, nil, copyData(), other, 1, 0, nil); err == nil || !strings.Contains(err.Error(), "rounds is") {
		t.Errorf("another number of workers: %v", err)
	}
	mustWork(t, o, nil, 1, 0)
	mustWork(t, o, nil, 1, 1)
	path := o.WorkerPath(1, 1)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	behind := 4*m.Params.Count() + 9 // the first byte of the weights
	for what, at := range map[string]int{"weights": bytes.Index(b, weightBytes(t, path)), "moments": bytes.Index(b, weightBytes(t, path)) + behind, "header": bytes.Index(b, []byte(`\"position\":{\"epoch\":0,\"batch\":`)) + 35} {
		damaged := bytes.Clone(b)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Merge(ctx, m, nil, copyData(), o, 1, 0, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("damaged %s: %v", what, err)
		}
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	mustMerge(t, o, 1, 0)
	path = o.OuterPath(2)
	if b, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	b[bytes.LastIndex(b, weightBytes(t, path))+behind] ^= 1
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Work(ctx, m, nil, copyData(), o, 2, 1, nil); err == nil || !strings.Contains(err.Error(), path+": found adam.m.=") {
		t.Errorf("damaged moments: %v", err)
	}
}

// weightBytes returns the first bytes of the weights in a checkpoint.
func weightBytes(t *testing.T, path string) (b []byte) {
	t.Helper()
	m := newModel(t, smallConfig())
	if err := readWeights(path, m, m.Params.W); err != nil {
		t.Fatal(err)
	}
	for _, w := range m.Params.W[:8] {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w))
	}
	return b
}

func TestInvalidRounds(t *testing.T) {
	for field, change := range map[string]func(*Options){
		"workers":     func(o *Options) { o.Rounds.Workers = 1025 },
		"local_steps": func(o *Options) { o.Rounds.LocalSteps = 0 },
		"rounds":      func(o *Options) { o.Rounds.Rounds = 10_000 },
		"steps":       func(o *Options) { o.Steps++ },
		"valid_every": func(o *Options) { o.ValidEvery = 3 },
		"save_every":  func(o *Options) { o.SaveEvery = 8 },
		"time":        func(o *Options) { o.Time = 1 },
		"patience":    func(o *Options) { o.Patience = 1 },
		"bf16":        func(o *Options) { o.BF16 = true },
		"dir":         func(o *Options) { o.Dir, o.Average = "", 0 },
	} {
		o := roundOptions(t, 2, 2)
		change(&o)
		var e *model.FieldError
		if err := o.Validate(); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
