package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"tfm/mat"
	"tfm/model"
	"tfm/text/score"
)

// words is the number of ids of the copy task, from 3.
const words = 17

// copyTask returns pairs whose target is equal to the source, of 1 to longest tokens.
func copyTask(pairs, longest int, seed uint64) *Pairs {
	random := rand.New(rand.NewPCG(seed, 0))
	p := &Pairs{}
	for range pairs {
		s := make([]int32, 1+random.IntN(longest))
		for i := range s {
			s[i] = int32(3 + random.IntN(words))
		}
		p.Add(s, s)
	}
	return p
}

// spell returns ids as text, such as "w3 w4".
func spell(ids []int32) string {
	var s []string
	for _, id := range ids {
		s = append(s, fmt.Sprint("w", id))
	}
	return strings.Join(s, " ")
}

func references(p *Pairs) []string {
	var refs []string
	for i := range p.Len() {
		refs = append(refs, spell(p.Tgt(i)))
	}
	return refs
}

func copyData() Data {
	valid := copyTask(8, 6, 2)
	return Data{Train: copyTask(100, 6, 1), Valid: valid, References: references(valid), Detokenize: spell}
}

func smallConfig() model.Config {
	return model.Config{
		DModel: 16, Heads: 2, DFF: 32, EncoderLayers: 1, DecoderLayers: 1, Dropout: 0.1, LabelSmoothing: 0.1,
		SrcVocab: 3 + words, TgtVocab: 3 + words, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 64,
	}
}

func newModel(t testing.TB, c model.Config) *model.Transformer {
	t.Helper()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocForTraining()
	m.Init(1)
	return m
}

// smallOptions returns the options of a short run on copyData, whose epoch has seven batches.
func smallOptions(steps int) Options {
	o := DefaultOptions()
	o.Steps, o.BatchTokens, o.MaxLen, o.Warmup, o.LR = steps, 65, 20, 10, 3e-3
	o.ValidEvery, o.SaveEvery, o.Patience, o.Search.MaxExtra = 0, 0, 0, 5
	return o
}

func mustRun(t *testing.T, ctx context.Context, m *model.Transformer, p *mat.Pool, d Data, o Options, report func(Event)) Result {
	t.Helper()
	r, err := Run(ctx, m, p, d, o, report)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Without label smoothing, the loss of the training pairs goes to 0, and the model translates all
// of them correctly, in float32 and bfloat16. With bfloat16 the loss depends on the instructions:
// after 120 steps it is 0.013 with VDPBF16PS, after 180 steps 0.0005.
func TestRunLearnsToCopy(t *testing.T) {
	for name, c := range map[string]struct {
		width, steps int
		bf16         bool
	}{"float32": {32, 120, false}, "bf16": {64, 180, true}} {
		if c.bf16 && testing.Short() {
			continue
		}
		config := smallConfig()
		config.DModel, config.DFF, config.Dropout, config.LabelSmoothing = c.width, 2*c.width, 0, 0
		d := copyData()
		d.Train = copyTask(24, 5, 1)
		d.Valid, d.References = d.Train, references(d.Train)
		o := smallOptions(c.steps)
		o.BatchTokens, o.ValidEvery, o.LR, o.Warmup, o.BF16 = 200, 60, 1e-2, 20, c.bf16
		var first, last Event
		r := mustRun(t, context.Background(), newModel(t, config), pool(t, 2), d, o, func(e Event) {
			if e.Kind == Stepped {
				if last = e; e.Step == 1 {
					first = e
				}
			}
		})
		// The predictions of an untrained model are about uniform over 20 pieces: the loss is
		// about log 20 = 3.
		if math.Abs(first.Loss-math.Log(20)) > 1.5 {
			t.Errorf("%s: first loss %v, want log 20 ± 1.5", name, first.Loss)
		}
		if last.Loss > 0.01 || last.Accuracy != 1 {
			t.Errorf("%s: last loss %v and accuracy %v, want at most 0.01 and 1", name, last.Loss, last.Accuracy)
		}
		if r.Reason != AllSteps || r.Step != c.steps || r.Best.BLEU < 99.99 || r.Best.NLL > 0.01 {
			t.Errorf("%s: result %+v, want all steps, BLEU 100 and an NLL of at most 0.01", name, r)
		}
	}
}

// Neither threads nor validations change a bit of the weights after the last step.
func TestThreadsChangeNoBit(t *testing.T) {
	o := smallOptions(8)
	o.Accumulate = 2
	train := func(p *mat.Pool) (last []float32) {
		m := newModel(t, smallConfig())
		mustRun(t, context.Background(), m, p, copyData(), o, func(e Event) {
			if e.Kind == Stepped {
				last = slices.Clone(m.Params.W)
			}
		})
		return last
	}
	want := train(nil)
	for _, threads := range []int{1, 2, 3} {
		wantSameWeights(t, fmt.Sprint(threads, " threads"), train(pool(t, threads)), want)
	}
	o.ValidEvery = 2
	wantSameWeights(t, "with validations", train(nil), want)
	o.Seed++
	if slices.Equal(train(nil), want) {
		t.Error("different seeds give equal weights")
	}
}

// The gradient of three accumulated batches equals that of one batch with their sentences, up to
// float32 rounding relative to the largest element, because the order of the sums differs.
func TestAccumulatedBatchesAreOneBatch(t *testing.T) {
	c := smallConfig()
	c.Dropout = 0
	m := newModel(t, c)
	o := smallOptions(1)
	o.Accumulate = 3
	r, err := newRun(m, nil, copyData(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	size, err := r.next()
	if err != nil {
		t.Fatal(err)
	}
	loss := r.backward(size.tgt)
	accumulated := slices.Clone(m.Params.G)

	var merged model.Batch
	for _, b := range r.batches {
		for i := range b.Sentences() {
			merged.Append(b.Src[b.SrcStarts[i]:b.SrcStarts[i+1]-1], b.TgtOut[b.TgtStarts[i]:b.TgtStarts[i+1]-1])
		}
	}
	clear(m.Params.G)
	want := r.pass.Train(&merged, 0, 1/float32(len(merged.TgtOut)))
	if loss.Tokens != want.Tokens || size != (batchSize{len(merged.Src), len(merged.TgtOut)}) || math.Abs(loss.Sum/want.Sum-1) > 1e-6 {
		t.Errorf("loss %+v of a batch of %+v, want %+v of %d source and %d target tokens", loss, size, want, len(merged.Src), len(merged.TgtOut))
	}
	var largest float64
	for _, g := range m.Params.G {
		largest = max(largest, math.Abs(float64(g)))
	}
	for i, g := range m.Params.G {
		if math.Abs(float64(accumulated[i]-g)) > 1e-5*largest {
			t.Fatalf("gradient[%d] = %v, want %v (largest element: %v)", i, accumulated[i], g, largest)
		}
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	for name, change := range map[string]func(*model.Config, *Options){
		"plain":  func(*model.Config, *Options) {},
		"R-Drop": func(c *model.Config, o *Options) { o.RDrop = 1 },
		"bf16":   func(c *model.Config, o *Options) { *c, o.BF16, o.BatchTokens = wideConfig(), true, 200 },
	} {
		t.Run(name, func(t *testing.T) {
			c, o := smallConfig(), smallOptions(1000)
			o.Accumulate, o.ValidEvery = 2, 1000
			change(&c, &o)
			testStepAllocatesNothing(t, c, o)
		})
	}
}

func testStepAllocatesNothing(t *testing.T, c model.Config, o Options) {
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	steps := 0
	r, err := newRun(newModel(t, c), pool(t, 2), copyData(), o, func(Event) { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	// mat allocates packing buffers at the first batch of a size.
	for r.loader.Position().Epoch == 0 {
		if err := r.step(); err != nil {
			t.Fatal(err)
		}
	}
	r.valid.measure(context.Background(), 1) // does not use the memory of the steps
	n := testing.AllocsPerRun(40, func() {
		if err := r.step(); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations per step, want 0", n)
	}
	if r.loader.Position().Epoch < 3 {
		t.Errorf("%d steps ended in epoch %d, want at least 3", steps, r.loader.Position().Epoch)
	}
}

// Run does not allocate between steps either. The tolerance is for the Go runtime.
func TestLoopAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	// A garbage collection would empty the sync.Pools of package mat.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	o := smallOptions(300)
	o.ValidEvery = 0
	d := copyData()
	d.Valid, d.References = nil, nil
	mustRun(t, context.Background(), newModel(t, smallConfig()), pool(t, 2), d, o, func(e Event) {
		switch {
		case e.Kind == Stepped && e.Step == 100:
			runtime.ReadMemStats(&before)
		case e.Kind == Stepped && e.Step == 300:
			runtime.ReadMemStats(&after)
		}
	})
	if n := after.Mallocs - before.Mallocs; n > 100 {
		t.Errorf("%d allocations in 200 steps, want at most 100", n)
	}
}

// R-Drop reduces the KL divergence between the two copies and does not change the batches.
func TestRDropReducesKL(t *testing.T) {
	c := smallConfig()
	c.Dropout = 0.3
	last := func(alpha float64) (e Event) {
		o := smallOptions(30)
		o.RDrop, o.LR = alpha, 1e-2
		mustRun(t, context.Background(), newModel(t, c), nil, copyData(), o, func(event Event) { e = event })
		return e
	}
	strong, weak, none := last(5), last(1e-6), last(0)
	if !(strong.KL > 0 && strong.KL < weak.KL/2) || none.KL != 0 {
		t.Errorf("KL %v with alpha 5, %v with 1e-6, %v without", strong.KL, weak.KL, none.KL)
	}
	if !(strong.NLL > 0 && strong.NLL < strong.Loss) || strong.Epoch != none.Epoch {
		t.Errorf("last step %+v with R-Drop, %+v without", strong, none)
	}
}

// The learning rate is too small to change a weight, so that all validations are equal and none is
// better than the first.
func TestPatience(t *testing.T) {
	o := smallOptions(100)
	o.LR, o.ValidEvery, o.Patience = 1e-30, 2, 3
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil)
	if r.Reason != NoImprovement || r.Step != 8 || r.Best.Step != 2 {
		t.Errorf("result: step %d, reason %q, best step %d; want 8, %q, 2", r.Step, r.Reason, r.Best.Step, NoImprovement)
	}
}

// scripted returns data whose validation number good, from 1, has BLEU 100, and all others BLEU 0.
// report must be called with every event.
func scripted(good int) (d Data, report func(Event)) {
	d = copyData()
	const sentence = "one two three four five"
	d.References = slices.Repeat([]string{sentence}, d.Valid.Len())
	validation := 1
	d.Detokenize = func([]int32) string {
		if validation == good {
			return sentence
		}
		return "nothing"
	}
	return d, func(e Event) {
		if e.Kind == Validated {
			validation++
		}
	}
}

func TestBestWeightsAreLeft(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		o := smallOptions(8)
		o.ValidEvery, o.Dir = 2, dir
		m := newModel(t, smallConfig())
		d, count := scripted(2)
		var fourth []float32
		r := mustRun(t, context.Background(), m, nil, d, o, func(e Event) {
			count(e)
			if e.Kind == Stepped && e.Step == 4 {
				fourth = slices.Clone(m.Params.W)
			}
		})
		if r.Best.Step != 4 || r.Best.BLEU != 100 || !r.Best.HasBLEU || r.Step != 8 {
			t.Fatalf("result %+v, want best step 4 of 8 with BLEU 100", r)
		}
		wantSameWeights(t, "after the run", m.Params.W, fourth)
	}
}

// A fine-tuning that only does harm leaves the initial weights, which are validated first, also
// when it is interrupted before its first step and resumed.
func TestFineTuningKeepsBetterWeights(t *testing.T) {
	ctx, p, d := context.Background(), pool(t, 2), copyData()
	d.Valid = d.Train
	d.References = references(d.Valid)
	o := smallOptions(60)
	good := newModel(t, smallConfig())
	mustRun(t, ctx, good, p, d, o, nil)
	o.Steps, o.ValidEvery, o.LR, o.Init = 9, 4, 10, "good"
	for _, dir := range []string{"", t.TempDir()} {
		tuned := newModel(t, smallConfig())
		copy(tuned.Params.W, good.Params.W)
		o.Dir, o.Resume = dir, false
		if dir != "" {
			stopped, stop := context.WithCancel(ctx)
			r := mustRun(t, stopped, tuned, p, d, o, func(e Event) {
				if e.Kind == Validated {
					stop()
				}
			})
			if r.Reason != Interrupted || r.Checkpoint != checkpointPath(dir, 0) {
				t.Fatalf("interrupted: %+v", r)
			}
			o.Resume = true
			clear(tuned.Params.W)
		}
		var steps []int
		r := mustRun(t, ctx, tuned, p, d, o, func(e Event) {
			if e.Kind == Validated {
				steps = append(steps, e.Valid.Step)
			}
		})
		if want := []int{0, 4, 8, 9}; !slices.Equal(steps, want) && !(o.Resume && slices.Equal(steps, want[1:])) {
			t.Errorf("validated steps %v, want %v", steps, want)
		}
		if !r.Best.Made() || r.Best.Step != 0 {
			t.Errorf("best %+v, want the initial weights", r.Best)
		}
		wantSameWeights(t, "initial weights "+dir, tuned.Params.W, good.Params.W)
		if dir != "" {
			if path, err := Best(dir); err != nil || path != checkpointPath(dir, 0) {
				t.Errorf("best checkpoint %s, %v", path, err)
			}
		}
	}
}

// References in a script without spaces are split into characters by default. 13a does not split a
// clause, so that a translation with one wrong character has BLEU 0.
func TestValidationChoosesItsTokenizer(t *testing.T) {
	d := copyData()
	d.References = slices.Repeat([]string{"没有人知道灯为什么灭了。"}, d.Valid.Len())
	d.Detokenize = func([]int32) string { return "没有人知道灯为何灭了。" }
	run := func(dir string, steps int, tok score.Tokenizer, resume bool) float64 {
		o := smallOptions(steps)
		o.ValidEvery, o.Tokenize, o.Dir, o.Resume = 1, tok, dir, resume
		return mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, nil).Best.BLEU
	}
	for _, c := range []struct {
		given, want score.Tokenizer
		right       bool
	}{{score.Auto, score.TokZh, true}, {score.Tok13a, score.Tok13a, false}} {
		dir := t.TempDir()
		if bleu := run(dir, 1, c.given, false); (bleu > 0) != c.right {
			t.Errorf("%v: BLEU %v, want more than 0: %v", c.given, bleu, c.right)
		}
		if found := open(t, checkpointPath(dir, 1)).Options.Tokenize; found != c.want {
			t.Errorf("%v: Tokenize of the checkpoint = %v, want %v", c.given, found, c.want)
		}
		// A resumed run with Auto keeps the tokenizer of the checkpoint.
		if bleu := run(dir, 2, score.Auto, true); (bleu > 0) != c.right {
			t.Errorf("%v resumed: BLEU %v, want more than 0: %v", c.given, bleu, c.right)
		}
		if found := open(t, checkpointPath(dir, 2)).Options.Tokenize; found != c.want {
			t.Errorf("%v resumed: Tokenize of the checkpoint = %v, want %v", c.given, found, c.want)
		}
	}
}

func TestBestByLossWithoutReferences(t *testing.T) {
	o := smallOptions(40)
	o.ValidEvery = 10
	d := copyData()
	d.References = nil
	var losses []Validation
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, func(e Event) {
		if e.Kind == Validated {
			losses = append(losses, e.Valid)
		}
	})
	if len(losses) != 4 {
		t.Fatalf("%d validations, want 4", len(losses))
	}
	best := slices.MinFunc(losses, func(a, b Validation) int { return int(math.Copysign(1, a.NLL-b.NLL)) })
	if r.Best != best || best.HasBLEU {
		t.Errorf("Best = %+v, want %+v", r.Best, best)
	}
	if got := best.Perplexity(); math.Abs(got-math.Exp(best.NLL)) > 1e-9*got {
		t.Errorf("Perplexity() = %v, want %v", got, math.Exp(best.NLL))
	}
}

func TestTimeEndsTheRun(t *testing.T) {
	o := smallOptions(0)
	o.Time, o.ValidEvery, o.Dir = 200*time.Millisecond, 1000000, t.TempDir()
	validated, saved := 0, 0
	r := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, func(e Event) {
		switch e.Kind {
		case Validated:
			validated = e.Step
		case Saved:
			saved = e.Step
		case Stepped:
			if e.Left > o.Time {
				t.Errorf("Left = %v, want at most %v", e.Left, o.Time)
			}
		}
	})
	if r.Reason != OutOfTime || r.Step == 0 || validated != r.Step || saved != r.Step {
		t.Errorf("result: step %d, reason %q, validated step %d, saved step %d", r.Step, r.Reason, validated, saved)
	}
	if got := open(t, r.Checkpoint).State.OutOfTime; got != o.Time {
		t.Errorf("OutOfTime of the checkpoint = %v, want %v", got, o.Time)
	}
	// Time before a resume counts: a smaller limit leaves no time.
	o.Resume, o.Time = true, time.Millisecond
	if again := mustRun(t, context.Background(), newModel(t, smallConfig()), nil, copyData(), o, nil); again.Step != r.Step || again.Reason != OutOfTime {
		t.Errorf("resumed: step %d, reason %q, want step %d, %q", again.Step, again.Reason, r.Step, OutOfTime)
	}
}

func TestEvents(t *testing.T) {
	o := smallOptions(4)
	o.ValidEvery, o.SaveEvery, o.Dir = 2, 3, t.TempDir()
	d, count := scripted(1)
	d.Train.Add(slices.Repeat([]int32{3}, 21), []int32{3})
	d.Train.Add(nil, []int32{3})
	var got []string
	mustRun(t, context.Background(), newModel(t, smallConfig()), nil, d, o, func(e Event) {
		count(e)
		got = append(got, fmt.Sprint([]string{"started", "stepped", "validated", "saved", "averaged", "saving"}[e.Kind], e.Step, e.Best))
		switch e.Kind {
		case Started:
			if e.Pairs != 100 || e.TooLong != 1 || e.Empty != 1 || e.SrcTokens < 200 || e.TgtTokens < 200 || !(e.UnigramNLL > 0) || e.Path != "" {
				t.Errorf("Started event %+v", e)
			}
		case Saving: // before the checkpoint exists, after the events of all that it contains
			if _, err := os.Stat(e.Path); err == nil || e.Path != checkpointPath(o.Dir, e.Step) {
				t.Errorf("step %d: Path = %s, Stat error %v, want the path of a file that does not exist yet", e.Step, e.Path, err)
			}
		case Saved:
			open(t, e.Path)
		case Stepped:
			if !(e.Loss > 0 && e.NLL > 0 && e.GradNorm > 0 && e.SrcPerSec > 0 && e.TgtPerSec > 0) ||
				e.TokensPerSec() != e.SrcPerSec+e.TgtPerSec || e.Rate != o.LearningRate(16).Rate(e.Step) || e.Steps != 4 {
				t.Errorf("Stepped event %+v", e)
			}
		}
	})
	want := []string{"started0 false", "stepped1 false", "stepped2 false", "validated2 true", "saving2 false", "saved2 false",
		"stepped3 false", "saving3 false", "saved3 false", "stepped4 false", "validated4 false", "saving4 false", "saved4 false"}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%v, want\n%v", got, want)
	}
}

func TestRunErrors(t *testing.T) {
	unallocated, err := model.New(smallConfig())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Data, *Options) *model.Transformer
		wants  []string
	}{
		"no gradients":    {func(*Data, *Options) *model.Transformer { return unallocated }, []string{"not allocated"}},
		"no pairs":        {func(d *Data, o *Options) *model.Transformer { d.Train = nil; return nil }, []string{"no training pairs"}},
		"no usable pairs": {func(d *Data, o *Options) *model.Transformer { d.Train = &Pairs{}; return nil }, []string{"no usable pairs"}},
		"an id too large": {func(d *Data, o *Options) *model.Transformer {
			d.Valid.Add([]int32{99}, nil)
			d.References = nil
			return nil
		}, []string{"validation pairs", "pair 8", "99"}},
		"missing reference": {func(d *Data, o *Options) *model.Transformer { d.References = d.References[1:]; return nil }, []string{"found 7 references"}},
		"no detokenizer":    {func(d *Data, o *Options) *model.Transformer { d.Detokenize = nil; return nil }, []string{"without Data.Detokenize"}},
		"positions":         {func(d *Data, o *Options) *model.Transformer { o.MaxLen = 64; return nil }, []string{"max_len is 64", "at most 63"}},
		"R-Drop without dropout": {func(d *Data, o *Options) *model.Transformer {
			c := smallConfig()
			c.Dropout, o.RDrop = 0, 1
			return newModel(t, c)
		}, []string{"r_drop is 1", "without dropout"}},
		"no limit": {func(d *Data, o *Options) *model.Transformer { o.Steps = 0; return nil }, []string{"steps is 0"}},
		"patience without validation": {func(d *Data, o *Options) *model.Transformer {
			o.Steps, o.Patience, o.ValidEvery, d.Valid, d.References = 0, 1, 1, nil, nil
			return nil
		}, []string{"without validation pairs"}},
		"nothing to resume": {func(d *Data, o *Options) *model.Transformer { o.Dir, o.Resume = t.TempDir(), true; return nil }, []string{"no checkpoint in"}},
	} {
		d, o := copyData(), smallOptions(1)
		m := c.change(&d, &o)
		if m == nil {
			m = newModel(t, smallConfig())
		}
		_, err := Run(context.Background(), m, nil, d, o, nil)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
}
