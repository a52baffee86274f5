package decode

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tfm/layer"
	"tfm/mat"
	"tfm/model"
)

// The number of sources in a step is limited by their rows, and by their positions for long ones.
func TestSchedulerLimits(t *testing.T) {
	for _, c := range []struct{ beam, tokens, want int }{
		{1, 80, 256}, {4, 80, 64}, {64, 80, 4}, {4, 1024, 8}, {1, 1 << 16, 1}, {64, 1 << 16, 1},
	} {
		s := schedulerOf(fixed(5, map[int32]float64{3: 0.9, 4: 0.1})) // never EOS
		s.add(requestOf(context.Background(), 600, c.tokens, Options{Beam: c.beam}, nil, nil))
		for range 3 {
			s.step()
		}
		for len(s.searches.list) < c.want { // sources of one token, up to maxAddedTokens a step
			before := len(s.searches.list)
			s.step()
			if len(s.searches.list) == before {
				break
			}
		}
		if got := len(s.searches.list); got != c.want {
			t.Errorf("beam %d, up to %d tokens: %d sources in a step, want %d", c.beam, c.tokens, got, c.want)
		}
		if s.foreground != (load{c.want, c.want * c.beam, c.want * c.beam * c.tokens}) {
			t.Errorf("beam %d: %d rows and %d positions reserved, want %d and %d", c.beam, s.foreground.rows, s.foreground.positions, c.want*c.beam, c.want*c.beam*c.tokens)
		}
	}
}

// Between two steps the sources that are encoded have up to maxAddedTokens tokens together.
func TestAddedTokensAreLimited(t *testing.T) {
	s := schedulerOf(fixed(4, map[int32]float64{3: 1}))
	o := Options{Beam: 1}
	var srcs [][]int32
	for _, n := range []int{maxAddedTokens + 5, 500, 500, 500, 10} {
		srcs = append(srcs, make([]int32, n-1))
	}
	s.add(newRequest(context.Background(), srcs, o, nil, nil))
	for _, want := range []int{1, 3, 5, 5} {
		s.step()
		if got := len(s.searches.list); got != want {
			t.Fatalf("%d sources in a step, want %d", got, want)
		}
	}
}

// A source holds up no other: a request that arrives while all rows translate sentences, with many
// more waiting, ends after the first of those that are done and its own steps. A wide beam gets its
// rows although sources of other requests would always take the free ones.
func TestLateRequestsAreNotHeldUp(t *testing.T) {
	for _, c := range []struct {
		first, second int // limits of the tokens of the many sources, and of the late one
		beam          int // of the late request
		ends          func(source int32, tokens int) bool
		most          int // steps
	}{
		{500, 4, 4, func(source int32, tokens int) bool { return source%2 == 0 && tokens == 3 }, 10}, // others never end
		{20, 20, 64, func(source int32, tokens int) bool { return tokens > int(source)%7 }, 40},
	} {
		m := &table{vocabulary: 4, logits: func(source int32, prefix []int32, row []float32) {
			clear(row)
			if row[3] = 50; c.ends(source, len(prefix)) {
				row[model.EOS] = 100
			}
		}}
		s := schedulerOf(m)
		s.add(requestOf(context.Background(), 100_000, c.first, Options{Beam: 1}, func(int, []Hypothesis) {}, func(error) {}))
		for range 40 {
			s.step()
		}
		ended := false
		s.add(requestOf(context.Background(), 1, c.second, Options{Beam: c.beam}, func(int, []Hypothesis) {}, func(error) { ended = true }))
		steps := 0
		for ; !ended && steps < 100; steps++ {
			s.step()
		}
		if steps > c.most || m.maxRows > maxRows {
			t.Errorf("beam %d: a request of one source ended after %d steps of up to %d rows, want at most %d of %d", c.beam, steps, m.maxRows, c.most, maxRows)
		}
	}
}

// Requests that arrive and are cancelled at any step have the results of a request alone, and a
// cancelled one gets no result after its end.
func TestAnyArrivalGivesTheSameTranslations(t *testing.T) {
	options := []Options{
		{Beam: 1}, DefaultOptions(), {Beam: 7, NBest: 5, Alpha: 1, Penalty: PenaltyPower}, {Beam: 64, NBest: 3},
		{Sample: true, Temperature: 1, TopP: 1, NBest: 3, Seed: 4}, {Sample: true, Temperature: 1, TopP: 0.9, TopK: 3, Seed: 5, First: 9},
		{Beam: 1, NoRepeat: 2, MinTokens: 3}, {Beam: 4, NoRepeat: 1, RepetitionPenalty: 1.5, Alpha: 1, NBest: 2},
		{Beam: 3, Pieces: piecesOf("a", "\xC3", "\xA9", "b", " ", "\xE4"), MinTokens: 2, MaxTokens: 6},
		{Sample: true, Temperature: 1, TopP: 1, NBest: 2, Pieces: piecesOf("a", "\xC3", "\xA9", "b", " ", "\xE4"), NoRepeat: 3},
	}
	// The logits depend on the number of the source in its request, which is its only token.
	logits := language(9, 3, 1).logits
	want := make([][][]Hypothesis, len(options))
	for k, o := range options {
		want[k] = find(t, &table{vocabulary: 9, logits: logits}, 40, 12, o)
	}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		var numbers []int32 // of each source, by handle
		m := &numbered{table: table{vocabulary: 9}, numbers: &numbers}
		m.logits = func(source int32, prefix []int32, row []float32) { logits(numbers[source], prefix, row) }
		s := schedulerOf(m)
		ended, cancelled, count := 0, 0, 30
		for added := 0; added < count || !s.idle(); {
			if added < count && r.IntN(3) == 0 {
				added++
				k, first, n := r.IntN(len(options)), r.IntN(20), r.IntN(20)
				o := options[k]
				o.MaxExtra, o.First, o.Background = 10, o.First+uint64(first), r.IntN(3) == 0
				srcs := make([][]int32, n)
				for i := range srcs {
					srcs[i] = []int32{int32(first + i)}
				}
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(4) == 0 {
					defer cancel()
				}
				results, over := 0, false
				s.add(newRequest(ctx, srcs, o, func(i int, list []Hypothesis) {
					if results++; over || !reflect.DeepEqual(list, want[k][first+i]) {
						t.Errorf("request of %+v, source %d: %+v, over %t, want %+v", o, first+i, list, over, want[k][first+i])
					}
					if r.IntN(20) == 0 {
						cancel()
					}
				}, func(err error) {
					ended++
					if errors.Is(err, context.Canceled) {
						cancelled++
					} else if err != nil || results != n {
						t.Errorf("request ended with error %v and %d results, want %d", err, results, n)
					}
					if over {
						t.Error("request ended twice")
					}
					over = true
				}))
			}
			s.step()
		}
		if ended != count || cancelled == 0 || cancelled == count {
			t.Errorf("%d requests ended, %d of them cancelled; want %d and some", ended, cancelled, count)
		}
		if len(m.removed) != int(m.added) || s.foreground != (load{}) || s.background != (load{}) {
			t.Errorf("%d of %d sources removed, loads %+v and %+v; want all and none", len(m.removed), m.added, s.foreground, s.background)
		}
	}
}

// numbered is a table whose logits depend on the only token of a source.
type numbered struct {
	table
	numbers *[]int32
}

func (m *numbered) Add(handles []int32, sources ...[]int32) []int32 {
	for _, src := range sources {
		*m.numbers = append(*m.numbers, src[0])
	}
	return m.table.Add(handles, sources...)
}

// Concurrent calls of an Engine, some cancelled, have the results of a Decoder.
func TestEngine(t *testing.T) {
	w := NewWeights(perturbed(t, toy(), 7), nil)
	srcs := randomSources(60, 0, 8)
	options := []Options{
		{Beam: 1, MaxExtra: 20}, {Beam: 4, Alpha: 0.6, MaxExtra: 8, NBest: 4}, {Beam: 20, MaxExtra: 3},
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7, NBest: 2}, {Beam: 3, Alpha: 1, MaxExtra: 8, NBest: 3},
	}
	for i := range options {
		options[i].First = 100
	}
	want := make([][][]Hypothesis, len(options))
	for k, o := range options {
		want[k] = nBest(t, New(w, nil), srcs, o)
	}
	pool := mat.NewPool(2)
	defer pool.Close()
	e := NewEngine(w, pool)
	var all sync.WaitGroup
	for caller := range 16 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(9, uint64(caller)))
			for range 6 {
				k, first := r.IntN(len(options)), r.IntN(len(srcs))
				o, mine := options[k], srcs[first:min(len(srcs), first+r.IntN(8))]
				o.First += uint64(first)
				ctx, cancel := context.WithCancel(context.Background())
				if r.IntN(3) == 0 {
					results := 0
					stop := r.IntN(3)
					err := e.Stream(ctx, mine, o, nil, func(i int, list []Hypothesis) {
						if results++; results > stop {
							cancel()
						}
						if !reflect.DeepEqual(list, want[k][first+i]) {
							t.Errorf("cancelled call, source %d: %+v, want %+v", first+i, list, want[k][first+i])
						}
					})
					if err != nil && !errors.Is(err, context.Canceled) || err == nil && results != len(mine) {
						t.Errorf("cancelled call: error %v and %d of %d results", err, results, len(mine))
					}
				} else if got, err := e.NBest(ctx, mine, o); err != nil || !reflect.DeepEqual(got, want[k][first:first+len(mine)]) {
					t.Errorf("call of %+v: error %v, %+v, want %+v", o, err, got, want[k][first:first+len(mine)])
				}
				cancel()
			}
		})
	}
	all.Wait()
	for running := true; running; runtime.Gosched() { // its goroutine ends soon after the last call
		e.mu.Lock()
		running = e.running
		e.mu.Unlock()
	}
	if !e.scheduler.idle() || e.scheduler.foreground != (load{}) {
		t.Errorf("after all calls: %d requests, load %+v", len(e.scheduler.requests), e.scheduler.foreground)
	}
}

// A call after one that panicked translates its own sources only.
func TestDecoderAfterAPanic(t *testing.T) {
	w := NewWeights(perturbed(t, toy(), 7), nil)
	d, good := New(w, nil), w.output
	srcs := randomSources(5, 1, 3)
	w.output.bias = &layer.Param{W: make([]float32, 1)}
	func() {
		defer func() {
			if s, ok := recover().(string); !ok || !strings.Contains(s, "bias of 1 elements") {
				t.Errorf("panic %q, want that of a product", s)
			}
		}()
		d.NBest(context.Background(), srcs, DefaultOptions())
	}()
	w.output = good
	got, want := translate(t, d, srcs[:2], DefaultOptions()), translate(t, New(w, nil), srcs[:2], DefaultOptions())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A panic in the Engine's goroutine is repeated by all calls in progress, and later calls succeed.
func TestPanicInEngineIsThatOfItsCalls(t *testing.T) {
	w := NewWeights(perturbed(t, toy(), 7), nil)
	e := NewEngine(w, nil)
	good := w.output
	w.output.bias = &layer.Param{W: make([]float32, 1)}
	values := make([]any, 3)
	var all sync.WaitGroup
	for i := range values {
		all.Go(func() {
			defer func() { values[i] = recover() }()
			e.NBest(context.Background(), [][]int32{{3}}, DefaultOptions())
		})
	}
	all.Wait()
	for _, v := range values {
		if s, ok := v.(string); !ok || !strings.Contains(s, "bias of 1 elements") {
			t.Errorf("panic %v, want that of a product", v)
		}
	}
	w.output = good
	got, err := e.NBest(context.Background(), [][]int32{{3}}, DefaultOptions())
	want := nBest(t, New(w, nil), [][]int32{{3}}, DefaultOptions())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("after the panic: %v, %v, want %v", got, err, want)
	}
}

// Steps of a scheduler allocate nothing while no source is done. After a warm-up, adding sources
// allocates nothing either.
func TestSchedulerStepDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("race detector: it allocates")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would empty sync.Pools
	m := perturbed(t, toy(), 7)
	for i := range m.Config.DModel { // EOS is improbable
		m.Output.E.W[model.EOS*m.Config.DModel+i] = 0
	}
	for _, w := range []*Weights{NewWeights(m, nil), NewWeightsInt8(m, nil)} {
		schedulerStepDoesNotAllocate(t, w)
	}
}

func schedulerStepDoesNotAllocate(t *testing.T, w *Weights) {
	s := newScheduler(w, NewState(w, nil), nil)
	pieces := piecesOf("a", "b", "c", "\xC3", "\xA9", " ", "é", "d")
	constrained := Options{Beam: 3, MaxExtra: 50, MinTokens: 50, NoRepeat: 4, RepetitionPenalty: 1.01, Pieces: pieces, Prefixes: &Begins{[][]int32{{3, 4, 5}, nil, {6, 7, 8}}}}
	constrainedDraws := constrained
	constrainedDraws.Sample, constrainedDraws.Temperature, constrainedDraws.TopP, constrainedDraws.NBest = true, 1, 1, 3
	listed := constrained
	listed.Shortlist = randomShortlist(w.model.Config, 4, 1)
	run := func(check bool) {
		ctx, cancel := context.WithCancel(context.Background())
		done := func(int, []Hypothesis) {}
		for _, o := range []Options{{Beam: 1, MaxExtra: 50}, {Beam: 5, Alpha: 0.6, MaxExtra: 50}, {Sample: true, Temperature: 1, TopP: 1, NBest: 3, MaxExtra: 50}, {Sample: true, Temperature: 1, TopP: 0.9, TopK: 5, MaxExtra: 50, MinTokens: 50}, constrained, constrainedDraws, listed} {
			s.add(newRequest(ctx, randomSources(10, 5, 2), o, done, func(error) {}))
		}
		steps := 0
		allocations := testing.AllocsPerRun(10, func() {
			before := len(s.searches.list)
			s.step()
			if steps++; len(s.searches.list) < before {
				t.Fatalf("a source is done after %d steps", steps)
			}
		})
		if check && allocations != 0 {
			t.Errorf("%v allocations a step, want 0", allocations)
		}
		cancel()
		s.step()
		if !s.idle() {
			t.Error("requests remain after their cancellation")
		}
	}
	for range 40 { // a source has the memory of another one, until all have seen the widest beam
		run(false)
	}
	run(true)
}

// longestFirst is stable, so that sources of equal length keep their order.
func TestLongestFirst(t *testing.T) {
	if got, want := longestFirst([][]int32{{1}, {1, 2}, nil, {3}, {3, 4}}), []int{1, 4, 0, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("longestFirst = %v, want %v", got, want)
	}
}

// Requests in the background have some rows in every eighth of equally long steps while others are
// in progress, which have rows in all, and few for a second after them.
func TestBackgroundRequestsArePaused(t *testing.T) {
	m := fixed(5, map[int32]float64{3: 0.9, 4: 0.1}) // never EOS
	s := schedulerOf(m)
	s.now = func() time.Time { return time.Unix(0, 0).Add(time.Duration(m.steps) * foregroundStays / 2) }
	background := Options{Beam: 4, Background: true}
	ended := map[string]int{}
	add := func(name string, n, tokens int, o Options) {
		s.add(requestOf(context.Background(), n, tokens, o, func(int, []Hypothesis) {}, func(error) { ended[name] = m.steps }))
	}
	add("background", 200, 20, background)
	for range 5 {
		s.step()
	}
	add("foreground", 3, 10, Options{Beam: 4})
	add("long foreground", 2, 15, Options{Beam: 1})
	for i := range 15 {
		m.maxRows = 0
		s.step()
		want := 3*4 + 2
		if i >= 10 {
			want = 2
		}
		if i == 8 {
			want += maxBesideRows
		}
		if i >= 2 && m.maxRows != want { // the first steps have fewer hypotheses
			t.Errorf("step %d with requests in the foreground: %d rows, want %d", i, m.maxRows, want)
		}
	}
	if ended["foreground"] != 5+10 || ended["long foreground"] != 5+15 || ended["background"] != 0 {
		t.Errorf("requests ended after steps %v, want the foreground after 15 and 20", ended)
	}
	for i, want := range []int{maxBesideRows, maxRows} {
		m.maxRows = 0
		if s.step(); m.maxRows != want {
			t.Errorf("%d steps after the foreground has ended: %d rows, want %d", i, m.maxRows, want)
		}
	}
	for !s.idle() {
		s.step()
	}
	if s.background != (load{}) || len(m.removed) != int(m.added) {
		t.Errorf("at the end: load %+v, %d of %d sources removed", s.background, len(m.removed), m.added)
	}
}

// The tokens that are reported as certain are those of the best translation, and with greedy search
// and a single sample each is reported after its step.
func TestCertainTokens(t *testing.T) {
	early, total := 0, 0
	for seed := range uint64(8) {
		m := language(7, seed, 3)
		for _, o := range []Options{
			{Beam: 1}, {Beam: 1, NoScore: true, NoRepeat: 1}, {Sample: true, Temperature: 1, TopP: 1}, {Sample: true, Temperature: 1, TopP: 1, NBest: 4},
			{Beam: 2, Alpha: 1}, {Beam: 5, Alpha: 0.6, NBest: 5, Search: SearchExact}, {Beam: 3, MinTokens: 6, Alpha: 2},
		} {
			for _, maxTokens := range []int{1, 4, 20} {
				const sources = 4
				got, lists := make([][]int32, sources), make([][]Hypothesis, sources)
				steps := make([][]int, sources) // at which each token was reported
				m.added, m.removed, m.steps = 0, nil, 0
				s := schedulerOf(m)
				r := requestOf(context.Background(), sources, maxTokens, o, func(i int, list []Hypothesis) { lists[i] = list }, func(error) {})
				r.token = func(i int, token int32) {
					if lists[i] != nil {
						t.Errorf("%+v: token of source %d after its list", o, i)
					}
					got[i], steps[i] = append(got[i], token), append(steps[i], m.steps)
				}
				for s.add(r); !s.idle(); {
					s.step()
				}
				for i, list := range lists {
					if !slices.Equal(got[i], list[0].Tokens) {
						t.Errorf("%+v: tokens %v of source %d, want those of %+v", o, got[i], i, list[0])
					}
					for k, step := range steps[i] {
						if single := o.Beam == 1 || o.Sample && o.NBest == 0; single && step != k+1 {
							t.Errorf("%+v: token %d reported after step %d", o, k, step)
						}
						if total++; o.Beam > 1 && step < steps[i][len(steps[i])-1] {
							early++
						}
					}
				}
			}
		}
	}
	if early < 100 {
		t.Errorf("%d of %d tokens were certain before the last step of a beam search, want at least 100", early, total)
	}
}

// After a panic of a function of the caller, the Engine does not use the weights for its call.
func TestCallThatPanicsLeaves(t *testing.T) {
	e := NewEngine(NewWeights(perturbed(t, toy(), 7), nil), nil)
	srcs := make([][]int32, 50*maxRows)
	for i := range srcs {
		srcs[i] = []int32{3}
	}
	func() {
		defer func() { recover() }()
		e.Stream(context.Background(), srcs, Options{Beam: 1, MaxExtra: 5}, nil, func(int, []Hypothesis) { panic("done") })
		t.Error("no panic")
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.scheduler.searches.list); n > 0 {
		t.Errorf("%d sources are translated after the call", n)
	}
}
