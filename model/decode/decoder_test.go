package decode

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"tfm/mat"
	"tfm/model"
)

func toy() model.Config {
	return model.Config{DModel: 16, Heads: 4, DFF: 24, EncoderLayers: 2, DecoderLayers: 2, LabelSmoothing: 0.1,
		SrcVocab: 11, TgtVocab: 11, Tie: model.TieAll, NormEps: 1e-5, MaxLen: 64}
}

func newModel(t testing.TB, c model.Config) *model.Transformer {
	t.Helper()
	m, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m.AllocWeights()
	m.Init(1)
	return m
}

// opinionated is a model away from its start, where all translations are about equally probable.
func opinionated(t *testing.T, c model.Config, seed uint64) *model.Transformer {
	m := newModel(t, c)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.4 * r.NormFloat64())
	}
	return m
}

// randomSources has sentences of least to 9 tokens.
func randomSources(n, least int, seed uint64) [][]int32 {
	r := rand.New(rand.NewPCG(seed, 1))
	ids := func() []int32 {
		s := make([]int32, least+r.IntN(10-least))
		for i := range s {
			s[i] = int32(model.EOS + 1 + r.IntN(toy().SrcVocab-model.EOS-1))
		}
		return s
	}
	srcs := make([][]int32, n)
	for i := range srcs {
		srcs[i] = ids()
		ids() // a target
	}
	return srcs
}

func newDecoder(m *model.Transformer, p *mat.Pool) *Decoder { return New(NewWeights(m, p), p) }

func translate(t *testing.T, d *Decoder, srcs [][]int32, o Options) []Hypothesis {
	t.Helper()
	list, err := d.Translate(context.Background(), srcs, o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func nBest(t *testing.T, d *Decoder, srcs [][]int32, o Options) [][]Hypothesis {
	t.Helper()
	lists, err := d.NBest(context.Background(), srcs, o)
	if err != nil {
		t.Fatal(err)
	}
	return lists
}

func TestTranslationDependsOnNothingButTheSentence(t *testing.T) {
	m := opinionated(t, toy(), 1)
	srcs := randomSources(300, 0, 5)
	pool := mat.NewPool(3)
	defer pool.Close()
	for _, o := range []Options{
		{Beam: 1, Alpha: 0.6, MaxExtra: 8}, {Beam: 4, Alpha: 0.6, MaxExtra: 8, NBest: 4}, {Beam: 5, MaxExtra: 40},
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7}, {Sample: true, Temperature: 3, TopP: 0.9, MaxExtra: 8, NBest: 5},
	} {
		all := nBest(t, newDecoder(m, pool), srcs, o)
		alone := newDecoder(m, nil)
		for i, src := range srcs[:40] {
			one := o
			one.First += uint64(i)
			got := nBest(t, alone, [][]int32{src}, one)[0]
			if !reflect.DeepEqual(got, all[i]) {
				t.Fatalf("%+v: sentence %d is %v alone and %v among others", o, i, got, all[i])
			}
			if len(got[0].Tokens) > len(src)+o.MaxExtra {
				t.Fatalf("%+v: %d tokens for a source of %d", o, len(got[0].Tokens), len(src))
			}
		}
	}
}

// Hypotheses fork and end, and their caches go from slot to slot: the score must still be that of
// the tokens, given to a State one by one.
func TestScoreIsThatOfTheTranslation(t *testing.T) {
	words := 0
	for seed := range uint64(4) {
		m := opinionated(t, toy(), seed)
		d := newDecoder(m, nil)
		srcs := randomSources(12, 1, seed)
		for _, o := range []Options{
			{Beam: 1, Alpha: 1, MaxExtra: 30}, {Beam: 8, Alpha: 2, MaxExtra: 30}, {Beam: 20, Alpha: 2, MaxExtra: 30}, {Beam: 8, Alpha: 1, Penalty: PenaltyPower, MaxExtra: 30},
			{Sample: true, Alpha: 0.6, Temperature: 4, TopP: 0.9, MaxExtra: 8, NBest: 4},
		} {
			for i, h := range translate(t, d, srcs, o) {
				if h.Truncated {
					continue
				}
				words += len(h.Tokens)
				logP := 0.0
				for j, id := range append(slices.Clone(h.Tokens), model.EOS) {
					logP += math.Log(float64(d.Next(srcs[i], h.Tokens[:j])[id]))
				}
				want := o.score(logP, len(h.Tokens)+1)
				// Tens of roundings of logits that are some tens large.
				if math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("model %d, %+v: %v has the score %v, want %v", seed, o, h.Tokens, h.Score, want)
				}
			}
		}
	}
	if words < 50 {
		t.Errorf("only %d words, too few for hypotheses to fork", words)
	}
}

// What Next gives, taken word by word, is the greedy translation with its score, and it is a
// distribution.
func TestNextIsATurnOfTheSearch(t *testing.T) {
	d := newDecoder(newModel(t, toy()), nil)
	greedy := Options{Beam: 1, MaxExtra: 6}
	srcs := randomSources(5, 0, 11)
	for i, want := range translate(t, d, srcs, greedy) {
		var given []int32
		logP := 0.0
		for t := range len(srcs[i]) + 1 + greedy.MaxExtra { // EOS, or the token that is cut off, has a turn too
			p := d.Next(srcs[i], given)
			best := slices.Max(p)
			logP += math.Log(float64(best))
			id := int32(slices.Index(p, best))
			if id == model.EOS || t == len(srcs[i])+greedy.MaxExtra {
				break
			}
			given = append(given, id)
		}
		if !slices.Equal(given, want.Tokens) || math.Abs(logP-want.Score) > 1e-5 { // roundings of float32 in some 15 probabilities
			t.Errorf("source %d: %v with %v word by word, %v with %v in the search", i, given, logP, want.Tokens, want.Score)
		}
		p := d.Next(srcs[i], given)
		sum := 0.0
		for _, x := range p {
			sum += float64(x)
		}
		if math.Abs(sum-1) > 1e-6 || p[model.Pad] != 0 || p[model.BOS] != 0 {
			t.Errorf("source %d: the probabilities %v come to %v", i, p, sum)
		}
	}
}

// The limits of length: the table of positions, and the tokens more than the source, however many
// or few.
func TestLengthLimits(t *testing.T) {
	c := toy()
	c.MaxLen = 8
	d := newDecoder(newModel(t, c), nil)
	long := []int32{3, 4, 5, 6, 7, 8, 9}
	truncated := 0
	for _, limit := range []struct{ source, extra, most int }{
		{7, 0, 7}, {7, 50, 7}, {7, math.MaxInt, 7}, {3, 2, 5}, {0, 3, 3}, {0, 0, 0}, {5, -2, 3}, {5, -50, 0}, {5, math.MinInt, 0},
	} {
		for first := range int32(8) { // eight sources each
			src := append([]int32{3 + first}, long...)[:limit.source]
			for _, beam := range []int{1, 4} {
				h := translate(t, d, [][]int32{src}, Options{Beam: beam, Alpha: 0.6, MaxExtra: limit.extra})[0]
				if len(h.Tokens) > limit.most || h.Truncated && len(h.Tokens) < limit.most {
					t.Errorf("%+v, beam %d: %+v", limit, beam, h)
				}
				if slices.Contains(h.Tokens, model.EOS) || slices.Contains(h.Tokens, model.BOS) || slices.Contains(h.Tokens, model.Pad) {
					t.Errorf("%+v, beam %d: a mark among %v", limit, beam, h.Tokens)
				}
				if h.Truncated {
					truncated++
				}
			}
		}
	}
	if truncated == 0 {
		t.Error("no translation came to its limit")
	}
}

func TestRefreshTakesTheNewWeights(t *testing.T) {
	m := newModel(t, toy())
	w := NewWeights(m, nil)
	d := New(w, nil)
	srcs := randomSources(20, 3, 1)
	o := Options{Beam: 2, MaxExtra: 5}
	old := translate(t, d, srcs, o)
	m.Init(2)
	w.Refresh(nil)
	got, want := translate(t, d, srcs, o), translate(t, newDecoder(m, nil), srcs, o)
	if !reflect.DeepEqual(got, want) || reflect.DeepEqual(got, old) {
		t.Error("refreshed weights do not translate as new ones")
	}
}

// Decoders on several goroutines share weights, which none of them changes.
func TestDecodersShareWeights(t *testing.T) {
	m := opinionated(t, toy(), 2)
	pool := mat.NewPool(2)
	defer pool.Close()
	w := NewWeights(m, pool)
	before := slices.Clone(m.Params.W)
	srcs := randomSources(20, 3, 1)
	want := translate(t, New(w, nil), srcs, DefaultOptions())
	var all sync.WaitGroup
	results := make([][]Hypothesis, 4)
	for i := range results {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i], _ = New(w, pool).Translate(context.Background(), srcs, DefaultOptions())
		}()
	}
	all.Wait()
	for i, got := range results {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("decoder %d translates otherwise beside others", i)
		}
	}
	if !slices.Equal(before, m.Params.W) {
		t.Error("decoding has changed the model's weights")
	}
}

// What is derived from the weights is made once, however many decoders there are.
func TestDecodersHoldNoWeights(t *testing.T) {
	c := toy()
	c.SrcVocab, c.TgtVocab = 20_000, 20_000
	w := NewWeights(newModel(t, c), nil)
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	decoder := allocated(func() { translate(t, New(w, nil), [][]int32{{3, 4}}, Options{Beam: 1}) })
	weights := allocated(func() { w = NewWeights(w.model, nil) })
	// A row of logits is 80 kB, and what derived weights hold 1.3 MB.
	if derived := uint64(4 * c.DModel * c.TgtVocab); weights < derived || decoder > derived/2 {
		t.Errorf("a decoder has allocated %d bytes and weights %d, of which %d are derived", decoder, weights, derived)
	}
}

// Attention is the mean over the heads of the last layer's cross-attention in the pass over whole
// sentences, bit for bit, for any number of pairs at once.
func TestAttentionIsThatOfTheFullPass(t *testing.T) {
	c := toy()
	m := opinionated(t, c, 3)
	srcs := randomSources(2*maxRows+10, 0, 3)
	tgts := slices.Clone(srcs)
	slices.Reverse(tgts)
	got, err := newDecoder(m, nil).Attention(context.Background(), srcs, tgts)
	if err != nil {
		t.Fatal(err)
	}
	var b model.Batch
	for i := range srcs {
		b.Append(srcs[i], tgts[i])
	}
	want := make([]mat.Matrix, len(srcs))
	model.NewPass(m, nil).Attention(&b, func(attention string, layer, head, sentence int, w mat.Matrix) {
		if attention != model.DecoderCross || layer != c.DecoderLayers-1 {
			return
		}
		if head == 0 {
			want[sentence] = mat.New(w.Rows, w.Cols)
		}
		for i := range w.Rows {
			mat.Axpy(want[sentence].Row(i), 1/float32(c.Heads), w.Row(i))
		}
	})
	for k, rows := range got {
		if len(rows) != len(tgts[k])+1 {
			t.Fatalf("pair %d: %d rows for %d tokens and the end", k, len(rows), len(tgts[k]))
		}
		for i, row := range rows {
			if !slices.Equal(row, want[k].Row(i)) {
				t.Fatalf("pair %d, token %d: %v, want %v", k, i, row, want[k].Row(i))
			}
			if s := mat.Sum(row); math.Abs(float64(s)-1) > 1e-6 {
				t.Errorf("pair %d, token %d: weights sum to %v", k, i, s)
			}
		}
	}
}

// Two rows that continue one hypothesis go different ways, and a row that comes later begins at
// position 0.
func TestRowsForkAndBeginAtAnyStep(t *testing.T) {
	m := opinionated(t, toy(), 4)
	w := NewWeights(m, nil)
	srcs := [][]int32{{3, 4, 5}, {6, 7}}
	logits := func(source int32, tokens ...int32) []float32 {
		s := NewState(w, nil)
		s.Begin(srcs, 1, 1)
		y := s.Step([]Row{{model.BOS, source, -1}})
		for _, id := range tokens {
			y = s.Step([]Row{{id, source, 0}})
		}
		return slices.Clone(y.Row(0))
	}
	s := NewState(w, nil)
	s.Begin(srcs, 4, 1)
	s.Step([]Row{{model.BOS, 0, -1}})
	s.Step([]Row{{7, 0, 0}, {8, 0, 0}, {model.BOS, 1, -1}})
	y := s.Step([]Row{{9, 0, 1}, {3, 0, 0}, {4, 0, 1}, {5, 1, 2}}) // rows change their order
	for i, want := range [][]float32{logits(0, 8, 9), logits(0, 7, 3), logits(0, 8, 4), logits(1, 5)} {
		if !slices.Equal(y.Row(i), want) {
			t.Errorf("row %d: %v, want %v", i, y.Row(i), want)
		}
	}
	y = s.Step([]Row{{6, 1, 3}}) // the others are forgotten
	if want := logits(1, 5, 6); !slices.Equal(y.Row(0), want) {
		t.Errorf("the row that stays: %v, want %v", y.Row(0), want)
	}
}

// A row's logits depend on its own tokens alone, however hypotheses fork, end, begin and change
// their order.
func TestRowsAreIndependent(t *testing.T) {
	const width = 6
	w := NewWeights(opinionated(t, toy(), 5), nil)
	srcs := randomSources(3, 1, 9)
	alone := func(source int32, tokens []int32) []float32 {
		s := NewState(w, nil)
		s.Begin(srcs, 1, 1)
		y := s.Step([]Row{{model.BOS, source, -1}})
		for _, id := range tokens {
			y = s.Step([]Row{{id, source, 0}})
		}
		return y.Row(0)
	}
	type prefix struct {
		source int32
		tokens []int32
	}
	r := rand.New(rand.NewPCG(6, 6))
	s := NewState(w, nil)
	s.Begin(srcs, width, 4)
	var before []prefix
	longest := 0
	for step := range 45 {
		rows, now := make([]Row, 1+r.IntN(width)), []prefix(nil)
		for i := range rows {
			if len(before) == 0 || r.IntN(8) == 0 {
				p := prefix{source: int32(r.IntN(len(srcs)))}
				rows[i], now = Row{model.BOS, p.source, -1}, append(now, p)
				continue
			}
			parent, id := r.IntN(len(before)), int32(model.EOS+1+r.IntN(8))
			p := before[parent]
			rows[i], now = Row{id, p.source, int32(parent)}, append(now, prefix{p.source, append(slices.Clone(p.tokens), id)})
			longest = max(longest, len(p.tokens)+1)
		}
		y := s.Step(rows)
		for i, p := range now {
			if !slices.Equal(y.Row(i), alone(p.source, p.tokens)) {
				t.Fatalf("step %d, row %d: other logits after %v beside others than alone", step, i, p.tokens)
			}
		}
		before = now
	}
	if longest < 10 {
		t.Errorf("the longest hypothesis has %d tokens, too few to have forked often", longest)
	}
}

func TestPanics(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	d := newDecoder(m, nil)
	long := make([]int32, c.MaxLen)
	ctx := context.Background()
	s := NewState(d.w, nil)
	begin := func() { s.Begin([][]int32{{3}}, 2, 4) }
	for says, f := range map[string]func(){
		"id -1 in source 1":         func() { d.Translate(ctx, [][]int32{{3}, {-1}}, DefaultOptions()) },
		"id 11 in source 0":         func() { d.Next([]int32{11}, nil) },
		"id 99 in target 0":         func() { d.Attention(ctx, [][]int32{{3}}, [][]int32{{99}}) },
		"source 1 has 65 tokens":    func() { d.Translate(ctx, [][]int32{{3}, long}, DefaultOptions()) },
		"target 0 has 65 tokens":    func() { d.Next([]int32{3}, long) },
		"steps of 0 rows":           func() { s.Begin(nil, 0, 4) },
		"a step of 3 rows":          func() { begin(); s.Step(make([]Row, 3)) },
		"row 1 translates source 1": func() { begin(); s.Step([]Row{{1, 0, -1}, {1, 1, -1}}) },
		"row 0 continues row 0 of":  func() { begin(); s.Step([]Row{{1, 0, 0}}) },
		"id 11 in row 0":            func() { begin(); s.Step([]Row{{11, 0, -1}}) },
		"a hypothesis of 65 tokens": func() {
			begin()
			s.Step([]Row{{1, 0, -1}})
			for range c.MaxLen {
				s.Step([]Row{{3, 0, 0}})
			}
		},
	} {
		func() {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "decode: ") || !strings.Contains(got, says) {
					t.Errorf("panic %q, want %q", got, says)
				}
			}()
			f()
		}()
	}
}

func TestErrors(t *testing.T) {
	d := newDecoder(newModel(t, toy()), nil)
	if _, err := d.Translate(context.Background(), [][]int32{{3}}, Options{}); err == nil || !strings.Contains(err.Error(), "beam is 0") {
		t.Errorf("without a beam: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if list, err := d.NBest(ctx, [][]int32{{3}}, DefaultOptions()); !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("cancelled: %v, %v", list, err)
	}
	if _, err := d.Attention(ctx, [][]int32{{3}}, [][]int32{{3}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := translate(t, d, nil, DefaultOptions()); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

// Weights that are not numbers make no sense, but no crash either.
func TestModelOfNaN(t *testing.T) {
	m := newModel(t, toy())
	for i := range m.Params.W {
		m.Params.W[i] = float32(math.NaN())
	}
	d := newDecoder(m, nil)
	for _, o := range []Options{
		{Beam: 1, MaxExtra: 3}, {Beam: 3, MaxExtra: 3, NBest: 2}, {Sample: true, Temperature: 1, TopP: 1, MaxExtra: 3, NBest: 2},
		{Sample: true, Temperature: 1, TopP: 0.5, MaxExtra: 3}, {Sample: true, Temperature: 1, TopP: 1, TopK: 3, MaxExtra: 3},
	} {
		for _, list := range nBest(t, d, randomSources(5, 0, 5), o) {
			if len(list) != 1 || len(list[0].Tokens) > 0 {
				t.Errorf("%+v: %+v", o, list)
			}
		}
	}
}

// As in TestSameBitsOnEveryMachine of package model.
func TestSameSamplesOnEveryMachine(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("the portable kernels are held to a tolerance, not to bits")
	}
	bits := crc32.NewIEEE()
	for _, o := range []Options{
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7},
		{Sample: true, Temperature: 2, TopP: 0.9, MaxExtra: 8, NBest: 2},
		{Sample: true, Temperature: 0.7, TopP: 1, TopK: 5, MaxExtra: 8},
	} {
		for _, list := range nBest(t, newDecoder(newModel(t, toy()), nil), randomSources(50, 0, 3), o) {
			for _, h := range list {
				binary.Write(bits, binary.LittleEndian, h.Tokens)
				binary.Write(bits, binary.LittleEndian, h.Score)
			}
		}
	}
	if got, want := bits.Sum32(), uint32(0x7a841b8a); got != want {
		t.Errorf("samples: checksum %#08x, want %#08x", got, want)
	}
}

// A step of every strategy allocates nothing once its batch has been seen, and neither does
// encoding one.
func TestStepAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("allocations cannot be counted under the race detector")
	}
	w := NewWeights(newModel(t, toy()), nil)
	srcs := randomSources(8, 3, 2)
	for _, o := range []Options{
		{Beam: 1, MaxExtra: 8}, {Beam: 4, Alpha: 0.6, MaxExtra: 3, NBest: 4}, {Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, NBest: 3},
		{Sample: true, Temperature: 1, TopP: 0.9, MaxExtra: 8}, {Sample: true, Temperature: 1, TopP: 0.9, TopK: 5, MaxExtra: 8},
	} {
		state, how, s := NewState(w, nil), strategyOf(&o), search{}
		steps := func() {
			state.Begin(srcs, len(srcs)*o.width(), 64)
			s.reset()
			for i := range srcs {
				s.add(i, uint64(i), 64, &o, how)
			}
			for range 4 {
				s.step(nil, state)
				first := 0
				for i := range s.sentences {
					b := &s.sentences[i]
					rows := len(b.live)
					s.advance(b, first)
					first += rows
				}
			}
		}
		steps()
		if n := testing.AllocsPerRun(20, steps); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
	}
}
