package translate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tfm/model/decode"
	"tfm/text"
	"tfm/translate"
)

// arrivalsVar is the environment variable with the duration of TestMixedArrivals, for example 1h,
// and optionally a space and a model file instead of the toy.
const arrivalsVar = "TFM_ARRIVALS"

// While 1 to 64 callers come, go and cancel, with short and long texts, every call that is not
// cancelled gets the results that it gets alone, and memory stays level.
func TestMixedArrivals(t *testing.T) {
	duration, path := time.Second, ""
	if testing.Short() {
		duration = 500 * time.Millisecond
	}
	if given := os.Getenv(arrivalsVar); given != "" {
		var err error
		given, path, _ = strings.Cut(given, " ")
		if duration, err = time.ParseDuration(given); err != nil {
			t.Fatalf("%s: %v", arrivalsVar, err)
		}
	}
	if path == "" {
		path = toyModel()
	}
	for _, o := range []translate.Options{{Threads: 2}, {Threads: 2, Int8: true}, {Threads: 1, Concurrent: 5}} {
		t.Run(fmt.Sprintf("threads=%d,int8=%t,concurrent=%d", o.Threads, o.Int8, o.Concurrent), func(t *testing.T) {
			tr := openFile(t, path, o)
			a := newArrivals(t, tr)
			goroutines := runtime.NumGoroutine()
			const phases = 4
			var memory [phases]uint64
			for i := range phases {
				a.run(uint64(i), time.Now().Add(duration/3/phases))
				for waited := time.Duration(0); runtime.NumGoroutine() > goroutines; waited += time.Millisecond {
					if waited > 10*time.Second {
						t.Fatalf("%d goroutines after all calls, want %d as before", runtime.NumGoroutine(), goroutines)
					}
					time.Sleep(time.Millisecond)
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				memory[i] = m.HeapAlloc >> 10
			}
			// The engine keeps the memory of its largest step, which later phases may
			// exceed.
			if limit := memory[0] + memory[0]/2 + 4<<10; memory[phases-1] > limit {
				t.Errorf("memory after each phase: %d kB, want at most %d", memory, limit)
			}
			// On a slow machine there are too few calls.
			for i := uint64(phases); a.done.Load() < 20 || a.cancelled.Load() < 5; i++ {
				a.run(i, time.Now().Add(duration/3/phases))
			}
			t.Logf("%d calls of up to %d callers, %d cancelled; memory after each phase %d kB",
				a.done.Load(), a.most.Load(), a.cancelled.Load(), memory)
		})
	}
}

// arrivals are calls of a Translator and the results that they have alone.
type arrivals struct {
	t     *testing.T
	tr    *translate.Translator
	texts []string
	// Of each of options, the result of each text. Sampling depends on the position of the text
	// in a call; calls of these options have one text.
	options []translate.Request
	want    [][]translate.Result
	scores  []translate.PairScore // of each text as a translation of itself

	running, most, done, cancelled atomic.Int64
}

func newArrivals(t *testing.T, tr *translate.Translator) *arrivals {
	a := &arrivals{t: t, tr: tr}
	sources, _ := phrases()
	for i := range sources {
		a.texts = append(a.texts, strings.Join(slices.Repeat(sources[i:min(i+4, len(sources))], 1+i%3), " "), sources[i])
	}
	a.texts = append(a.texts, "", "日本語")
	request := func(f func(o *decode.Options)) translate.Request {
		r := translate.Request{Decode: tr.DefaultOptions()}
		f(&r.Decode)
		return r
	}
	a.options = []translate.Request{
		request(func(o *decode.Options) { o.Beam = 1 }),
		request(func(o *decode.Options) {}),
		request(func(o *decode.Options) { o.Beam, o.NBest = 10, 10 }),
		request(func(o *decode.Options) { o.Sample, o.Temperature, o.NBest, o.Seed = true, 2, 3, 4 }),
	}
	a.options[1].Attention = true
	var pairs []text.Pair
	for _, s := range a.texts {
		pairs = append(pairs, text.Pair{Source: s, Target: s})
		if len(a.want) == 0 {
			a.want = make([][]translate.Result, len(a.options))
		}
		for i, r := range a.options {
			r.Texts = []string{s}
			results := do(t, tr, r)
			a.want[i] = append(a.want[i], results[0])
		}
	}
	var err error
	if a.scores, err = tr.ScorePairs(background, pairs); err != nil {
		t.Fatal(err)
	}
	return a
}

// run calls the Translator from a changing number of goroutines until end, and waits for them.
func (a *arrivals) run(seed uint64, end time.Time) {
	var all sync.WaitGroup
	defer all.Wait()
	random := rand.New(rand.NewPCG(seed, 1))
	callers, until := int64(1), time.Time{}
	for n := uint64(0); time.Now().Before(end) && !a.t.Failed(); n++ {
		if time.Now().After(until) {
			callers, until = 1+random.Int64N(64), time.Now().Add(time.Duration(random.IntN(30))*time.Millisecond)
		}
		for a.running.Load() >= callers {
			time.Sleep(100 * time.Microsecond)
		}
		a.most.Store(max(a.most.Load(), a.running.Add(1)))
		all.Add(1)
		go func() {
			defer all.Done()
			defer a.running.Add(-1)
			a.call(rand.New(rand.NewPCG(seed, n)))
		}()
	}
}

// call makes one call with random options, which may be cancelled, and checks its results.
func (a *arrivals) call(r *rand.Rand) {
	ctx, stop := background, func() {}
	if r.IntN(4) == 0 {
		ctx, stop = context.WithTimeout(background, time.Duration(r.IntN(5000))*time.Microsecond)
	}
	defer stop()
	var err error
	switch r.IntN(8) {
	case 0:
		err = a.scorePairs(ctx, r)
	case 1:
		err = a.lines(ctx, r)
	default:
		err = a.do(ctx, r)
	}
	switch {
	case err == nil:
		a.done.Add(1)
	case ctx != background && errors.Is(err, context.DeadlineExceeded):
		a.cancelled.Add(1)
	default:
		a.t.Errorf("error %v", err)
	}
}

// draw returns the indices of 1 to n random texts.
func (a *arrivals) draw(r *rand.Rand, n int) []int {
	indices := make([]int, 1+r.IntN(n))
	for i := range indices {
		indices[i] = r.IntN(len(a.texts))
	}
	return indices
}

func (a *arrivals) do(ctx context.Context, r *rand.Rand) error {
	option := r.IntN(len(a.options))
	request := a.options[option]
	n := 12
	if request.Decode.Sample {
		n = 1
	}
	indices := a.draw(r, n)
	for _, i := range indices {
		request.Texts = append(request.Texts, a.texts[i])
	}
	results, err := a.tr.Do(ctx, request)
	if err != nil {
		return err
	}
	for k, i := range indices {
		if !reflect.DeepEqual(results[k], a.want[option][i]) {
			a.t.Errorf("options %d: %q: %+v, want %+v", option, a.texts[i], results[k], a.want[option][i])
		}
	}
	return nil
}

// lines translates a stream of lines that arrive at random times.
func (a *arrivals) lines(ctx context.Context, r *rand.Rand) error {
	option := r.IntN(3)
	indices := a.draw(r, 30)
	pauses := rand.New(rand.NewPCG(r.Uint64(), 1))
	stream := func(yield func(text.Line, error) bool) {
		for k, i := range indices {
			if pauses.IntN(8) == 0 {
				time.Sleep(time.Duration(pauses.IntN(2000)) * time.Microsecond)
			}
			if !yield(text.Line{Number: k, Text: a.texts[i]}, nil) {
				return
			}
		}
	}
	next := 0
	for batch, err := range a.tr.Lines(ctx, stream, translate.LineOptions{Request: a.options[option], Batch: 1 + r.IntN(16)}) {
		if err != nil {
			return err
		}
		for _, l := range batch {
			if want := a.want[option][indices[next]]; l.Number != next || !reflect.DeepEqual(l.Result, want) {
				a.t.Errorf("options %d: line %d is %+v, want line %d and %+v", option, l.Number, l.Result, next, want)
			}
			next++
		}
	}
	if next < len(indices) {
		a.t.Errorf("%d lines, want %d", next, len(indices))
	}
	return nil
}

func (a *arrivals) scorePairs(ctx context.Context, r *rand.Rand) error {
	indices := a.draw(r, 10)
	var pairs []text.Pair
	for _, i := range indices {
		pairs = append(pairs, text.Pair{Source: a.texts[i], Target: a.texts[i]})
	}
	scores, err := a.tr.ScorePairs(ctx, pairs)
	if err != nil {
		return err
	}
	for k, i := range indices {
		if !reflect.DeepEqual(scores[k], a.scores[i]) {
			a.t.Errorf("%q: %+v, want %+v", a.texts[i], scores[k], a.scores[i])
		}
	}
	return nil
}
