package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/model/safetensors"
)

func open(t *testing.T, path string) *Checkpoint {
	t.Helper()
	c, err := OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// wantSameCheckpoint compares two checkpoints, except for their durations.
func wantSameCheckpoint(t *testing.T, name, got, want string) {
	t.Helper()
	a, b := open(t, got), open(t, want)
	for _, s := range []*State{&a.State, &b.State} {
		s.Trained, s.Best.Took = 0, 0
	}
	if a.State != b.State {
		t.Errorf("%s: state\n%+v, want\n%+v", name, a.State, b.State)
	}
	as, bs := a.file.Tensors(), b.file.Tensors()
	if len(as) != len(bs) || len(as) == 0 {
		t.Fatalf("%s: %d tensors, want %d", name, len(as), len(bs))
	}
	for i := range as {
		if as[i].Name != bs[i].Name || !bytes.Equal(as[i].Data, bs[i].Data) {
			t.Fatalf("%s: tensors %s and %s differ", name, as[i].Name, bs[i].Name)
		}
	}
}

// stopAt runs and cancels after the given step.
func stopAt(t *testing.T, step int, m *model.Transformer, p *mat.Pool, d Data, o Options) Result {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return mustRun(t, ctx, m, p, d, o, func(e Event) {
		if e.Kind == Stepped && e.Step == step {
			cancel()
		}
	})
}

// changing returns the data of a Stream whose pairs change with the epoch.
func changing() Data {
	return Data{Stream: &testStream{pairs: copyTask(200, 6, 1), windows: 6, change: func(ids []int32, epoch, i int) []int32 {
		ids = slices.Clone(ids)
		for j := range ids {
			ids[j] = 3 + (ids[j]-3+int32(epoch+i))%words
		}
		return ids
	}}}
}

// A run that is stopped repeatedly and resumed on other threads ends as an uninterrupted run. The
// stops are in the middle of an epoch, after a step with batches of two epochs, before a
// validation, and between validations; of a Stream in windows, at their ends, and after steps of
// two windows.
func TestResumeIsExact(t *testing.T) {
	memory, windows := smallOptions(14), smallOptions(25)
	memory.Accumulate, memory.ValidEvery, memory.SaveEvery, memory.Keep, memory.Patience = 2, 5, 4, 2, 50
	windows.Accumulate, windows.SaveEvery = 2, 4
	var every []int
	for step := range windows.Steps - 1 {
		every = append(every, step+1)
	}
	for _, c := range []struct {
		o     Options
		data  func() Data
		stops [][]int
	}{{memory, copyData, [][]int{{1}, {4}, {5}, {11}, {2, 3, 5, 6, 7, 13}}}, {windows, changing, [][]int{every}}} {
		c.o.Dir = t.TempDir()
		direct := newModel(t, smallConfig())
		want := mustRun(t, context.Background(), direct, nil, c.data(), c.o, nil)
		across := false // a stop is after a step with batches of two epochs
		for _, stops := range c.stops {
			resumed := c.o
			resumed.Dir = t.TempDir()
			for i, stop := range stops {
				r := stopAt(t, stop, newModel(t, smallConfig()), pool(t, 1+i%3), c.data(), resumed)
				if r.Reason != Interrupted || r.Step != stop || r.Checkpoint != checkpointPath(resumed.Dir, stop) {
					t.Fatalf("result %+v, want interrupted at step %d", r, stop)
				}
				at := open(t, r.Checkpoint).State.Position
				across = across || at.Epoch > 0 && at.Batch == 1
				resumed.Resume = true
			}
			m := newModel(t, smallConfig())
			m.Init(77) // the resume replaces these weights
			got := mustRun(t, context.Background(), m, pool(t, 3), c.data(), resumed, nil)
			name := fmt.Sprint("stopped after ", stops)
			wantSameCheckpoint(t, name, got.Checkpoint, want.Checkpoint)
			wantSameWeights(t, name, m.Params.W, direct.Params.W)
			got.Best.Took, want.Best.Took = 0, 0
			if got.Best != want.Best || got.Reason != AllSteps {
				t.Errorf("%s: result %+v, want %+v", name, got, want)
			}
		}
		if !across {
			t.Error("no stop after a step with batches of two epochs")
		}
	}
}

// An interrupted run averages the same checkpoints, those of steps 8, 12 and 14, as an
// uninterrupted run.
func TestAverageIsExactAfterResume(t *testing.T) {
	o := smallOptions(14)
	o.ValidEvery, o.SaveEvery, o.Keep, o.Average, o.Dir = 0, 4, 3, 3, t.TempDir()
	d := copyData()
	d.Valid, d.References = nil, nil
	direct, resumed := newModel(t, smallConfig()), newModel(t, smallConfig())
	if r := mustRun(t, context.Background(), direct, nil, d, o, nil); r.Averaged != 3 {
		t.Fatalf("result %+v, want 3 averaged", r)
	}
	o.Dir = t.TempDir()
	for _, stop := range []int{3, 9, 10, 11, 13} {
		stopAt(t, stop, newModel(t, smallConfig()), nil, copyData(), o)
		o.Resume = true
	}
	mustRun(t, context.Background(), resumed, nil, d, o, nil)
	wantSameWeights(t, "average", resumed.Params.W, direct.Params.W)
}

// A checkpoint has the state of every optimizer and schedule.
func TestResumeIsExactWithEveryOptimizerAndSchedule(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"adamw, cooldown": func(o *Options) { o.Optimizer, o.WeightDecay, o.Cooldown = OptimizerAdamW, 0.1, 0.5 },
		"sgd, constant":   func(o *Options) { o.Optimizer, o.Schedule, o.Warmup = OptimizerSGD, ScheduleConstant, 0 },
		"momentum, paper": func(o *Options) { o.Optimizer, o.Momentum, o.LR = OptimizerSGD, 0.9, 0 },
		"R-Drop":          func(o *Options) { o.RDrop = 3 },
		"muon":            func(o *Options) { o.Optimizer, o.Momentum, o.MuonScale = OptimizerMuon, 0.95, 0.7 },
	} {
		t.Run(name, func(t *testing.T) {
			o := smallOptions(9)
			change(&o)
			o.Accumulate, o.Dir = 2, t.TempDir()
			want := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
			o.Dir = t.TempDir()
			stopAt(t, 4, newModel(t, smallConfig()), pool(t, 2), copyData(), o)
			o.Resume = true
			got := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
			wantSameCheckpoint(t, "stopped after 4 of 9 steps", got.Checkpoint, want.Checkpoint)
		})
	}
}

// The JSON of a checkpoint is read by package strict.
func TestCheckpointJSONIsStrict(t *testing.T) {
	m := newModel(t, smallConfig())
	for _, c := range []struct{ options, state, want string }{
		{`{"rate":0.002}`, `{}`, `train.options in the metadata: json: unknown field "rate"`},
		{`{}`, `{"step":1}[]`, `train.state in the metadata: found "[" after the object`},
	} {
		path := filepath.Join(t.TempDir(), "c.safetensors")
		meta, tensors, err := model.File{Model: m, Info: map[string]string{keyOptions: c.options, keyState: c.state}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := safetensors.Write(path, meta, tensors); err != nil {
			t.Fatal(err)
		}
		_, err = OpenCheckpoint(path)
		wantError(t, err, path, c.want)
	}
}

// A finished run that is resumed with more steps ends as a run with all steps.
func TestResumeWithMoreSteps(t *testing.T) {
	o := smallOptions(9)
	o.Dir = t.TempDir()
	want := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	o.Dir, o.Steps = t.TempDir(), 4
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	o.Steps, o.Resume = 9, true
	got := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	wantSameCheckpoint(t, "4 and 5 steps", got.Checkpoint, want.Checkpoint)
}

func TestCancelledBeforeTheFirstStep(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := smallOptions(5)
	o.ValidEvery, o.Dir = 1, t.TempDir()
	r := mustRun(t, ctx, newModel(t, smallConfig()), nil, copyData(), o, nil)
	if r.Reason != Interrupted || r.Step != 0 || r.Checkpoint != "" {
		t.Errorf("result %+v, want interrupted at step 0 without a checkpoint", r)
	}
}

func TestCheckpointIsAModelFile(t *testing.T) {
	o := smallOptions(2)
	o.Dir = t.TempDir()
	d := copyData()
	d.Tokenizers = map[string][]byte{"joint": []byte("odd")}
	m := newModel(t, smallConfig())
	r := mustRun(t, context.Background(), m, nil, d, o, nil)
	f, err := model.Load(r.Checkpoint, false)
	if err != nil {
		t.Fatal(err)
	}
	wantSameWeights(t, "loaded as a model", f.Model.Params.W, m.Params.W)
	if string(f.Tokenizers["joint"]) != "odd" || f.Model.Config != smallConfig() {
		t.Errorf("loaded as a model: tokenizers %v, configuration %+v", f.Tokenizers, f.Model.Config)
	}
	c := open(t, r.Checkpoint)
	if c.Options.BatchTokens != o.BatchTokens || c.State.Step != 2 || c.Config != smallConfig() {
		t.Errorf("checkpoint %+v, want step 2, the run's options and configuration", c)
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := (model.File{Model: m}).Save(path); err != nil {
		t.Fatal(err)
	}
	_, err = OpenCheckpoint(path)
	wantError(t, err, path, "not a checkpoint")
}

// Checkpoints contain the languages of the data. A run that is resumed without languages keeps the
// checkpoint's.
func TestCheckpointsNameTheLanguages(t *testing.T) {
	o := smallOptions(1)
	o.Dir = t.TempDir()
	for _, c := range []struct {
		src, tgt         string
		wantSrc, wantTgt string
	}{{"EN", "zh-hans", "en", "zh-Hans"}, {"", "", "en", "zh-Hans"}, {"en-GB", "", "en-GB", "zh-Hans"}} {
		d := copyData()
		d.SrcLang, d.TgtLang = c.src, c.tgt
		r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, nil)
		got := open(t, r.Checkpoint)
		for what, lang := range map[string][2]string{"checkpoint": {got.SrcLang, got.TgtLang}, "result": {r.SrcLang, r.TgtLang}} {
			if want := [2]string{c.wantSrc, c.wantTgt}; lang != want {
				t.Errorf("step %d, languages %q and %q: %s has %q, want %q", r.Step, c.src, c.tgt, what, lang, want)
			}
		}
		o.Resume = true
		o.Steps++
	}
	d := copyData()
	d.TgtLang = "zh_CN"
	_, err := Run(context.Background(), newModel(t, smallConfig()), nil, d, smallOptions(1), nil)
	wantError(t, err, "train: tgt_lang is \"zh_CN\", expected a BCP 47 language tag")
}

// Checkpoints and results contain the length penalty of Options.Search, which a resume may change.
func TestCheckpointsHaveTheLengthPenalty(t *testing.T) {
	o := smallOptions(1)
	o.Dir = t.TempDir()
	for _, want := range []decode.Settings{decode.PaperSettings(), {LengthPenalty: decode.PenaltyPower, Alpha: 1}} {
		o.Search.Penalty, o.Search.Alpha = want.LengthPenalty, want.Alpha
		r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
		h, err := model.LoadHeader(r.Checkpoint)
		if err != nil || h.Decoding != want.String() || r.Decoding != want {
			t.Errorf("step %d: checkpoint %+v, %v, result %+v; want %+v", r.Step, h.Decoding, err, r.Decoding, want)
		}
		o.Resume = true
		o.Steps++
	}
}

// Opening a checkpoint whose configuration does not match its tensors is an error, before a model
// of that configuration is allocated.
func TestCheckpointWithoutItsWeights(t *testing.T) {
	m := newModel(t, smallConfig())
	path := filepath.Join(t.TempDir(), "c.safetensors")
	if err := writeCheckpoint(path, model.File{Model: m}, NewAdam(m.Params.Count(), 0.9, 0.98, 1e-9).Moments(), DefaultOptions(), State{Step: 1}); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	huge := smallConfig()
	huge.DFF = 1 << 20
	text, err := json.Marshal(huge)
	if err != nil {
		t.Fatal(err)
	}
	meta := f.Metadata()
	meta["config"] = string(text)
	other := filepath.Join(t.TempDir(), "huge.safetensors")
	if err := safetensors.Write(other, meta, f.Tensors()); err != nil {
		t.Fatal(err)
	}
	_, err = OpenCheckpoint(other)
	wantError(t, err, other, "encoder.0", "[16 32]", "[16 1048576]")
}

// Opening a checkpoint and reading its weights and moments allocates at most 32 times the size of
// its header and 64 KiB, garbage included, because values are copied directly to their destination.
func TestCheckpointAllocatesNoMoreThanItsHeaderAllows(t *testing.T) {
	m := newModel(t, smallConfig())
	moments := func(name string, elements int) (list []safetensors.Tensor) {
		for _, p := range m.Params.List {
			list = append(list, safetensors.Float32Tensor(name+p.Name, []int{elements}, make([]float32, elements)))
		}
		return list
	}
	const mb = 1 << 20
	huge := moments("adam.m.", mb/4)
	unknown := []safetensors.Tensor{safetensors.Float32Tensor("lion.m.embedding", []int{16 * mb}, make([]float32, 16*mb))}
	for _, c := range []struct {
		name           string
		options, state string
		more           []safetensors.Tensor
		want           string // in the error
	}{
		{"no moments", "{}", "{}", nil, `tensor "adam.m.embedding" is missing`},
		{"moments of other shapes", "{}", "{}", huge, `tensor "adam.m.embedding": found shape [262144], expected`},
		{"moments without elements", "{}", "{}", moments("adam.m.", 0), `tensor "adam.m.embedding": found shape [0], expected`},
		{"unknown moments", "{}", "{}", unknown, `tensor "adam.m.embedding" is missing`},
		{"long options", `{"schedule":"` + strings.Repeat("a", mb) + `"}`, "{}", nil, `tensor "adam.m.embedding" is missing`},
		{"long number", `{"steps":` + strings.Repeat("1", mb) + `}`, "{}", nil, "steps: found number 111"},
		{"long field", "{}", `{"` + strings.Repeat("a", mb) + `":1}`, nil, `unknown field "aaa`},
		{"nested state", "{}", `{"best":` + strings.Repeat(`{"best":`, mb/8), nil, "exceeded max depth"},
		{"nested position", "{}", strings.Repeat(`{"position":`, 5000) + "{}" + strings.Repeat("}", 5000), nil, `unknown field "position"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			meta, tensors, err := model.File{Model: m, Info: map[string]string{keyOptions: c.options, keyState: c.state}}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			path := checkpointPath(t.TempDir(), 1)
			if err := safetensors.Write(path, meta, append(tensors, c.more...)); err != nil {
				t.Fatal(err)
			}
			optimizer := NewAdam(m.Params.Count(), 0.9, 0.98, 1e-9)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			checkpoint, err := Newest(filepath.Dir(path))
			if err == nil {
				err = errors.Join(checkpoint.Weights(m.Params), checkpoint.resume(m.Params, optimizer))
				checkpoint.Close()
			}
			runtime.ReadMemStats(&after)
			wantError(t, err, path, c.want)
			if n := len(err.Error()); n > 4*len(path)+600 {
				t.Errorf("error of %d bytes, want at most 600 plus the paths", n)
			}
			header := 0
			for k, v := range meta {
				header += len(k) + len(v)
			}
			header += 100 * (len(tensors) + len(c.more))
			if used := int(after.TotalAlloc - before.TotalAlloc); used > 32*header+64<<10 {
				t.Errorf("allocated %d bytes with a header of %d, want at most %d", used, header, 32*header+64<<10)
			}
		})
	}
}

func TestResumeErrors(t *testing.T) {
	o := smallOptions(2)
	o.Dir = t.TempDir()
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	_, err := Run(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	wantError(t, err, o.Dir, "contains checkpoints of a run", r.Checkpoint)
	replace, nothing := o, copyData()
	replace.Replace, nothing.Train = true, &Pairs{}
	if _, err := Run(context.Background(), newModel(t, smallConfig()), nil, nothing, replace, nil); err == nil {
		t.Error("no pairs: no error")
	}
	open(t, r.Checkpoint) // a run that cannot start removes nothing
	other := replace
	other.Dir = t.TempDir()
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), other, nil)
	other.Steps = 1
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), other, nil)
	if paths, err := Checkpoints(other.Dir); err != nil || !slices.Equal(paths, []string{checkpointPath(other.Dir, 1)}) {
		t.Errorf("Checkpoints = %v, %v, want only that of the replacing run", paths, err)
	}
	o.Resume = true
	for _, c := range []struct {
		name   string
		change func(*model.Config, *Data, *Options)
		wants  []string
	}{
		{"width", func(c *model.Config, d *Data, o *Options) { c.DModel = 64 }, []string{r.Checkpoint, "d_model is 16, expected 64"}},
		{"dropout", func(c *model.Config, d *Data, o *Options) { c.Dropout = 0.25 }, []string{r.Checkpoint, "dropout is 0.1, expected 0.25"}},
		{"rate", func(c *model.Config, d *Data, o *Options) { o.LR = 1 }, []string{r.Checkpoint, "lr is 0.003, expected 1"}},
		{"bf16", func(c *model.Config, d *Data, o *Options) { o.BF16 = true }, []string{r.Checkpoint, "bf16 is false, expected true"}},
		{"optimizer", func(c *model.Config, d *Data, o *Options) { o.Optimizer, o.Momentum = OptimizerSGD, 0.9 }, []string{r.Checkpoint, "optimizer is adam, expected sgd"}},
		{"schedule", func(c *model.Config, d *Data, o *Options) { o.Schedule = ScheduleConstant }, []string{r.Checkpoint, "schedule is inverse-sqrt, expected constant"}},
		{"R-Drop", func(c *model.Config, d *Data, o *Options) { o.RDrop = 1 }, []string{r.Checkpoint, "r_drop is 0, expected 1"}},
		{"seed", func(c *model.Config, d *Data, o *Options) { o.Seed = 5 }, []string{r.Checkpoint, "seed is 1, expected 5"}},
		{"pairs", func(c *model.Config, d *Data, o *Options) { d.Train.Add([]int32{3}, []int32{3}) }, []string{r.Checkpoint, "other training pairs"}},
	} {
		config, d, opts := smallConfig(), copyData(), o
		c.change(&config, &d, &opts)
		_, err := Run(context.Background(), newModel(t, config), nil, d, opts, nil)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
}

// A run keeps its validation pairs, because their scores choose the best step. It may have none at
// first, or for a while.
func TestResumeWithOtherValidation(t *testing.T) {
	o := smallOptions(2)
	o.Dir = t.TempDir()
	resume := func(steps, validEvery int, valid *Pairs) error {
		o.Steps, o.ValidEvery = steps, validEvery
		d := copyData()
		d.Valid, d.References = valid, nil
		_, err := Run(context.Background(), newModel(t, smallConfig()), nil, d, o, nil)
		o.Resume = true
		return err
	}
	first, second := copyTask(8, 6, 2), copyTask(8, 6, 3)
	for i, step := range []struct {
		validEvery int
		valid      *Pairs
		err        string
	}{
		{0, nil, ""}, {1, first, ""}, {1, second, "other validation pairs"}, {0, nil, ""}, {0, second, ""}, {1, second, "other validation pairs"}, {2, first, ""},
	} {
		err := resume(2+i, step.validEvery, step.valid)
		if step.err != "" {
			wantError(t, err, o.Dir, step.err)
		} else if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
}

func TestDamagedCheckpoint(t *testing.T) {
	o := smallOptions(3)
	o.Dir, o.SaveEvery = t.TempDir(), 1
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	o.Resume, o.Steps = true, 5
	good, err := os.ReadFile(r.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	older := checkpointPath(o.Dir, 2)
	flipped := slices.Clone(good)
	flipped[len(good)/2] ^= 1
	for name, content := range map[string][]byte{"flipped bit": flipped, "truncated": good[:len(good)-100], "empty": {}, "text": []byte("not a checkpoint")} {
		if err := os.WriteFile(r.Checkpoint, content, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Run(context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
		t.Run(name, func(t *testing.T) { wantError(t, err, r.Checkpoint, "damaged", "resume from "+older) })
	}
	paths, err := Checkpoints(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(r.Checkpoint)
	if got := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil); got.Step != 5 {
		t.Errorf("without the damaged file: resumed to step %d, want 5", got.Step)
	}
	for _, path := range paths {
		os.Remove(path)
	}
	for _, step := range []int{4, 5} {
		os.WriteFile(checkpointPath(o.Dir, step), []byte("nothing"), 0o666)
	}
	_, err = Newest(o.Dir)
	wantError(t, err, checkpointPath(o.Dir, 5), "no valid older one")
}

// Names have at least eight digits. Files with other names are not checkpoints.
func TestCheckpointNames(t *testing.T) {
	dir := t.TempDir()
	want := []string{checkpointPath(dir, 7), checkpointPath(dir, 99_999_999), checkpointPath(dir, 1_234_567_890)}
	others := []string{"step-0000000007.safetensors", "step-7.safetensors", "step-0000001x.safetensors", "step-00000008.safetensors.bak",
		"xstep-00000008.safetensors", "step--0000008.safetensors", "step-+0000008.safetensors", "step-99999999999999999999.safetensors"}
	for _, path := range want {
		others = append(others, filepath.Base(path))
	}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Checkpoints(dir); err != nil || !slices.Equal(got, want) {
		t.Errorf("Checkpoints = %q, %v, want %q", got, err, want)
	}
}

func TestKeepsTheNewestAndTheBest(t *testing.T) {
	o := smallOptions(8)
	o.ValidEvery, o.SaveEvery, o.Keep, o.Dir = 2, 1, 2, t.TempDir()
	stale := filepath.Join(o.Dir, ".step-00000099.safetensors.0123456789abcdef.tfm-tmp")
	foreign := filepath.Join(o.Dir, "step-1.safetensors")
	for _, path := range []string{stale, foreign} {
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, count := scripted(2)
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, count)
	got, err := Checkpoints(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{checkpointPath(o.Dir, 4), checkpointPath(o.Dir, 7), checkpointPath(o.Dir, 8)}
	if !slices.Equal(got, want) {
		t.Errorf("Checkpoints = %v, want %v", got, want)
	}
	if best, err := Best(o.Dir); err != nil || best != want[0] {
		t.Errorf("Best = %s, %v, want %s", best, err, want[0])
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the temporary file of a killed run was not removed: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is not a checkpoint was removed: %v", err)
	}
}

// If the best checkpoint is missing, a resumed run warns and finds a new best.
func TestResumeWithoutTheBest(t *testing.T) {
	o := smallOptions(8)
	o.ValidEvery, o.Keep, o.Dir = 2, 1, t.TempDir()
	d, count := scripted(2)
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, count)
	if err := os.Remove(checkpointPath(o.Dir, 4)); err != nil {
		t.Fatal(err)
	}
	o.Resume, o.Steps = true, 10
	var warning error
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, func(e Event) {
		if e.Kind == Started {
			warning = e.Warning
		}
	})
	wantError(t, warning, "best checkpoint", checkpointPath(o.Dir, 4))
	if r.Best.Step != 10 {
		t.Errorf("best step %d, want 10", r.Best.Step)
	}
}

// Valid options and states survive a round trip.
func FuzzDecodeRun(f *testing.F) {
	for _, seed := range []struct {
		o Options
		s State
	}{{DefaultOptions(), State{}}, {OptionsFor("small"), State{Step: 7, Position: Position{Epoch: 1, Batch: 2}, Best: Validation{Step: 3, NLL: 2.5, HasBLEU: true}}}} {
		options, err := json.Marshal(seed.o)
		if err != nil {
			f.Fatal(err)
		}
		state, err := json.Marshal(seed.s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(options), string(state))
	}
	f.Add(`{"lr":0.002,"warmup":800}`, `{}`)
	f.Fuzz(func(t *testing.T, options, state string) {
		o, s, err := decodeRun(map[string]string{keyOptions: options, keyState: state})
		if err != nil {
			return
		}
		again, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		stateAgain, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		o2, s2, err := decodeRun(map[string]string{keyOptions: string(again), keyState: string(stateAgain)})
		if err != nil || o2 != o || s2 != s {
			t.Errorf("round trip: %+v and %+v, %v, want %+v and %+v", o2, s2, err, o, s)
		}
	})
}
