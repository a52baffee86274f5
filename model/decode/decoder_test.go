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

// perturbed returns a model whose initial weights have noise added. Without it all translations are
// about equally probable.
func perturbed(t *testing.T, c model.Config, seed uint64) *model.Transformer {
	m := newModel(t, c)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range m.Params.W {
		m.Params.W[i] += float32(0.4 * r.NormFloat64())
	}
	return m
}

// randomSources returns sentences of minLen to 9 tokens.
func randomSources(n, minLen int, seed uint64) [][]int32 {
	r := rand.New(rand.NewPCG(seed, 1))
	ids := func() []int32 {
		s := make([]int32, minLen+r.IntN(10-minLen))
		for i := range s {
			s[i] = int32(model.EOS + 1 + r.IntN(toy().SrcVocab-model.EOS-1))
		}
		return s
	}
	srcs := make([][]int32, n)
	for i := range srcs {
		srcs[i] = ids()
		ids() // the draws of a target, which keep the sources of a seed
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

func TestTranslationDependsOnlyOnItsSentence(t *testing.T) {
	m := perturbed(t, toy(), 1)
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
				t.Fatalf("%+v: sentence %d gives %v alone and %v in a batch", o, i, got, all[i])
			}
			if len(got[0].Tokens) > len(src)+o.MaxExtra {
				t.Fatalf("%+v: translation of %d tokens for a source of %d", o, len(got[0].Tokens), len(src))
			}
		}
	}
}

// The score of a translation, whose cache was copied between slots as hypotheses forked and
// finished, equals the score computed token by token with Next. LogProbs has no larger ones,
// because a search gives Pad and BOS no probability.
func TestScoreIsThatOfTheTranslation(t *testing.T) {
	tokens := 0
	for seed := range uint64(4) {
		m := perturbed(t, toy(), seed)
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
				tokens += len(h.Tokens)
				pairs, err := d.LogProbs(context.Background(), srcs[i:i+1], [][]int32{h.Tokens})
				if err != nil {
					t.Fatal(err)
				}
				logP := 0.0
				for j, id := range append(slices.Clone(h.Tokens), model.EOS) {
					p := float64(d.Next(srcs[i], h.Tokens[:j])[id])
					logP += math.Log(p)
					if got := math.Exp(pairs[0][j]); !(got <= p*(1+1e-5)) {
						t.Errorf("token %d has probability %v by LogProbs, more than that of a search, %v", j, got, p)
					}
				}
				want := o.score(logP, len(h.Tokens)+1)
				// Tens of float32 roundings of logits with magnitudes of tens.
				if math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("model %d, %+v: %v has score %v, want %v", seed, o, h.Tokens, h.Score, want)
				}
			}
		}
	}
	if tokens < 50 {
		t.Errorf("%d tokens, want at least 50 so that hypotheses fork", tokens)
	}
}

// Next returns a distribution, and its most probable tokens, one after another, are the greedy
// translation with its score.
func TestNextIsAStepOfTheSearch(t *testing.T) {
	d := newDecoder(newModel(t, toy()), nil)
	greedy := Options{Beam: 1, MaxExtra: 6}
	srcs := randomSources(5, 0, 11)
	for i, want := range translate(t, d, srcs, greedy) {
		var given []int32
		logP := 0.0
		// The last token is EOS, or dropped.
		for t := range len(srcs[i]) + 1 + greedy.MaxExtra {
			p := d.Next(srcs[i], given)
			best := slices.Max(p)
			logP += math.Log(float64(best))
			id := int32(slices.Index(p, best))
			if id == model.EOS || t == len(srcs[i])+greedy.MaxExtra {
				break
			}
			given = append(given, id)
		}
		// Float32 roundings of up to 16 probabilities.
		if !slices.Equal(given, want.Tokens) || math.Abs(logP-want.Score) > 1e-5 {
			t.Errorf("source %d: %v with score %v token by token, %v with %v in the search", i, given, logP, want.Tokens, want.Score)
		}
		p := d.Next(srcs[i], given)
		sum := 0.0
		for _, x := range p {
			sum += float64(x)
		}
		if math.Abs(sum-1) > 1e-6 || p[model.Pad] != 0 || p[model.BOS] != 0 {
			t.Errorf("source %d: Next = %v, sum %v; want sum 1, Pad and BOS 0", i, p, sum)
		}
	}
}

// The length limits of a translation: Config.MaxLen, and MaxExtra for all of its values.
func TestLengthLimits(t *testing.T) {
	c := toy()
	c.MaxLen = 8
	d := newDecoder(newModel(t, c), nil)
	long := []int32{3, 4, 5, 6, 7, 8, 9}
	truncated := 0
	for _, limit := range []struct{ source, extra, max int }{
		{7, 0, 7}, {7, 50, 7}, {7, math.MaxInt, 7}, {3, 2, 5}, {0, 3, 3}, {0, 0, 0}, {5, -2, 3}, {5, -50, 0}, {5, math.MinInt, 0},
	} {
		for first := range int32(8) { // eight different sources
			src := append([]int32{3 + first}, long...)[:limit.source]
			for _, beam := range []int{1, 4} {
				h := translate(t, d, [][]int32{src}, Options{Beam: beam, Alpha: 0.6, MaxExtra: limit.extra})[0]
				if len(h.Tokens) > limit.max || h.Truncated && len(h.Tokens) < limit.max {
					t.Errorf("%+v, beam %d: %+v, want at most %d tokens, that many if truncated", limit, beam, h, limit.max)
				}
				if slices.Contains(h.Tokens, model.EOS) || slices.Contains(h.Tokens, model.BOS) || slices.Contains(h.Tokens, model.Pad) {
					t.Errorf("%+v, beam %d: Pad, BOS or EOS in %v", limit, beam, h.Tokens)
				}
				if h.Truncated {
					truncated++
				}
			}
		}
	}
	if truncated == 0 {
		t.Error("no translation reached its limit")
	}
}

func TestRefresh(t *testing.T) {
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
		t.Error("after Refresh translations differ from those of new Weights, or equal the old ones")
	}
}

// Weights in given memory have the translations of others, whether it suffices or not, and use all
// matrices that fit.
func TestWeightsInMemory(t *testing.T) {
	for name, c := range variants() {
		m := perturbed(t, c, 1)
		want := translate(t, newDecoder(m, nil), randomSources(20, 0, 1), DefaultOptions())
		for _, size := range []int{0, 1000, len(m.Params.W), 4 * len(m.Params.W)} {
			memory := make([]float32, size)
			w := NewWeightsIn(memory, m)
			for i := range memory {
				memory[i] = float32(math.NaN()) // used for something else
			}
			w.Refresh(nil)
			if got := translate(t, New(w, nil), randomSources(20, 0, 1), DefaultOptions()); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d elements: translations differ", name, size)
			}
			used := 0
			for _, x := range memory {
				if x == x { // not NaN
					used++
				}
			}
			if size > len(m.Params.W) && used < len(m.Params.W)/2 {
				t.Errorf("%s: %d of %d elements are used for %d weights", name, used, size, len(m.Params.W))
			}
		}
	}
}

// The words and scores of int8, and of samples in float32, are the same with every kernel.
func TestSameTranslationsOnEveryMachine(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("portable kernels: exact to a tolerance only")
	}
	for _, c := range []struct {
		form    Form
		options []Options
		want    uint32
	}{
		{Int8, []Options{{Beam: 4, Alpha: 0.6, MaxExtra: 8, NBest: 4}}, 0x9845782e},
		{Float32, []Options{
			{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7},
			{Sample: true, Temperature: 2, TopP: 0.9, MaxExtra: 8, NBest: 2},
			{Sample: true, Temperature: 0.7, TopP: 1, TopK: 5, MaxExtra: 8},
		}, 0x7a841b8a},
	} {
		bits := crc32.NewIEEE()
		for _, o := range c.options {
			for _, list := range nBest(t, New(newWeights(newModel(t, toy()), c.form, nil), nil), randomSources(50, 0, 3), o) {
				for _, h := range list {
					binary.Write(bits, binary.LittleEndian, h.Tokens)
					binary.Write(bits, binary.LittleEndian, h.Score)
				}
			}
		}
		if got := bits.Sum32(); got != c.want {
			t.Errorf("%v: checksum %#08x, want %#08x", c.form, got, c.want)
		}
	}
}

// The probabilities of int8 are close to those of float32. The error of a product is about 1 %.
func TestInt8IsCloseToFloat32(t *testing.T) {
	c := toy()
	c.DModel, c.DFF = 64, 128
	m := newModel(t, c)
	exact, rounded := newDecoder(m, nil), New(NewWeightsInt8(m, nil), nil)
	different := false
	for _, src := range randomSources(20, 0, 3) {
		p, q := exact.Next(src, src), rounded.Next(src, src)
		for i := range p {
			if math.Abs(float64(p[i]-q[i])) > 0.05*float64(p[i])+1e-3 {
				t.Errorf("probability of %d after %v: %v in int8, want %v", i, src, q[i], p[i])
			}
			different = different || p[i] != q[i]
		}
	}
	if !different {
		t.Error("all probabilities equal those of float32")
	}
}

// NewWeights allocates the derived matrix; decoders do not.
func TestDecodersShareDerivedWeights(t *testing.T) {
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
	// A row of logits has 80 kB, the derived matrix 1.3 MB.
	if derived := uint64(4 * c.DModel * c.TgtVocab); weights < derived || decoder > derived/2 {
		t.Errorf("a decoder allocates %d bytes and Weights %d, want at most %d and at least %d", decoder, weights, derived/2, derived)
	}
}

// Attention is the mean of the weights of heads in model.Pass.Attention, those of the last layer
// without a choice; with Next, a row is that of the next step. The pairs need more than one batch.
func TestAttentionIsThatOfTheFullPass(t *testing.T) {
	c := toy()
	m := perturbed(t, c, 3)
	srcs := randomSources(2*maxRows+10, 0, 3)
	tgts := slices.Clone(srcs)
	slices.Reverse(tgts)
	var b model.Batch
	for i := range srcs {
		b.Append(srcs[i], tgts[i])
	}
	var last []CrossHead
	for head := range c.Heads {
		last = append(last, CrossHead{Layer: c.DecoderLayers - 1, Head: head})
	}
	two := []CrossHead{{Layer: 0, Head: 3}, {Layer: 1, Head: 1}}
	d := newDecoder(m, nil)
	for _, x := range []struct {
		chosen AlignHeads
		heads  []CrossHead
	}{{AlignHeads{}, last}, {AlignHeads{Heads: two}, two}, {AlignHeads{Heads: two, Next: true}, two}} {
		want := make([]mat.Matrix, len(srcs))
		model.NewPass(m, nil).Attention(&b, func(attention string, layer, head, sentence int, w mat.Matrix) {
			if attention != model.DecoderCross || !slices.Contains(x.heads, CrossHead{Layer: layer, Head: head}) {
				return
			}
			if want[sentence].Rows == 0 {
				want[sentence] = mat.New(w.Rows, w.Cols)
			}
			mat.Axpy(1/float32(len(x.heads)), w.Data, want[sentence].Data)
		})
		got, err := d.Attention(context.Background(), srcs, tgts, x.chosen)
		if err != nil {
			t.Fatal(err)
		}
		for k, rows := range got {
			if len(rows) != len(tgts[k])+1 {
				t.Fatalf("pair %d: %d rows, want %d", k, len(rows), len(tgts[k])+1)
			}
			for i, row := range rows {
				if x.chosen.Next {
					i = min(i+1, len(rows)-1)
				}
				if !slices.Equal(row, want[k].Row(i)) {
					t.Fatalf("%+v, pair %d: %v, want row %d, %v", x.chosen, k, row, i, want[k].Row(i))
				}
			}
		}
	}
}

func TestPanics(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	d := newDecoder(m, nil)
	long := make([]int32, c.MaxLen)
	ctx := context.Background()
	var s *State
	begin := func() int32 {
		s = NewState(d.w, nil)
		return s.Add(nil, []int32{3})[0]
	}
	restrict := func(lists ...[]int32) {
		h := begin()
		for _, ids := range lists {
			s.Restrict(h, ids)
		}
	}
	search := func(change func(o *Options)) {
		o := DefaultOptions()
		change(&o)
		NewEngine(d.w, nil).NBest(ctx, [][]int32{{3}}, o) // panics on the goroutine of the caller
	}
	for want, f := range map[string]func(){
		"id -1 in source 1":               func() { d.Translate(ctx, [][]int32{{3}, {-1}}, DefaultOptions()) },
		"id 11 in source 0":               func() { d.Next([]int32{11}, nil) },
		"id 99 in target 0":               func() { d.Attention(ctx, [][]int32{{3}}, [][]int32{{99}}, AlignHeads{}) },
		"decode: 2 sources and 1 targets": func() { d.Attention(ctx, [][]int32{{3}, {4}}, [][]int32{{3}}, AlignHeads{}) },
		"align_heads is \"2.0\"": func() {
			d.Attention(ctx, [][]int32{{3}}, [][]int32{{3}}, AlignHeads{Heads: []CrossHead{{Layer: 2}}})
		},
		"source 1 has 65 tokens with BOS or EOS":                      func() { d.Translate(ctx, [][]int32{{3}, long}, DefaultOptions()) },
		"target 0 has 65 tokens with BOS or EOS":                      func() { d.Next([]int32{3}, long) },
		"source 1 in row 1, which is not in the State":                func() { begin(); s.Step([]Row{{0, 1, -1}, {1, 1, -1}}) },
		"source 0 in row 0, which is not in the State":                func() { s.Remove(begin()); s.Step([]Row{{0, 1, -1}}) },
		"Remove of source 0, which is not in the State":               func() { begin(); s.Remove(0); s.Remove(0) },
		"parent 0 in row 0, but source 0 had 0 rows in its last step": func() { begin(); s.Step([]Row{{0, 1, 0}}) },
		"id 11 in row 0": func() { begin(); s.Step([]Row{{0, 11, -1}}) },
		"hypothesis of 65 tokens with BOS": func() {
			begin()
			s.Step([]Row{{0, 1, -1}})
			for range c.MaxLen {
				s.Step([]Row{{0, 3, 0}})
			}
		},
		"Restrict of source 70":                      func() { begin(); s.Restrict(70, nil) },
		"id 11 at index 1 of a list":                 func() { restrict([]int32{2, 11}) },
		"id 2 at index 1 of a list":                  func() { restrict([]int32{2, 2}) },
		"id -1 at index 0 of a list":                 func() { restrict([]int32{-1}) },
		"which is not in the State or is restricted": func() { restrict([]int32{2}, []int32{2}) },
		"Shortlist for 4 pieces and a source vocabul": func() {
			search(func(o *Options) { o.Shortlist = &Shortlist{Starts: make([]int32, 5)} })
		},
		"4 pieces for a target vocabulary of 11": func() { search(func(o *Options) { o.Pieces = piecesOf("a") }) },
		"1 sources and 0 targets":                func() { d.LogProbs(ctx, [][]int32{{3}}, nil) },
		"id 11 in target 0":                      func() { d.LogProbs(ctx, [][]int32{{3}}, [][]int32{{11}}) },
		"id -1 in source 0":                      func() { d.LogProbs(ctx, [][]int32{{-1}}, [][]int32{{3}}) },
		"source 0 has 65 tokens":                 func() { d.LogProbs(ctx, [][]int32{long}, [][]int32{{3}}) },
		"target 0 has 65 tokens":                 func() { d.LogProbs(ctx, [][]int32{{3}}, [][]int32{long}) },
		"Refresh":                                func() { loadFile(t, savePlain(t, m), Float32, nil).Weights.Refresh(nil) },
	} {
		func() {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "decode: ") || !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

func TestErrors(t *testing.T) {
	w := NewWeights(newModel(t, toy()), nil)
	background := context.Background()
	ctx, cancel := context.WithCancel(background)
	cancel()
	for _, d := range []interface {
		NBest(context.Context, [][]int32, Options) ([][]Hypothesis, error)
	}{New(w, nil), NewEngine(w, nil)} {
		if _, err := d.NBest(background, [][]int32{{3}}, Options{}); err == nil || !strings.Contains(err.Error(), "beam is 0") {
			t.Errorf("%T: zero Options: error %v, want \"beam is 0\"", d, err)
		}
		if list, err := d.NBest(ctx, [][]int32{{3}}, DefaultOptions()); !errors.Is(err, context.Canceled) || list != nil {
			t.Errorf("%T: NBest with a cancelled context = %v, %v, want %v", d, list, err, context.Canceled)
		}
		if got, err := d.NBest(background, nil, DefaultOptions()); len(got) != 0 || err != nil {
			t.Errorf("%T: NBest of no sources = %v, %v, want none", d, got, err)
		}
	}
	if _, err := New(w, nil).Attention(ctx, [][]int32{{3}}, [][]int32{{3}}, AlignHeads{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Attention with a cancelled context: error %v, want %v", err, context.Canceled)
	}
	if _, err := New(w, nil).LogProbs(ctx, [][]int32{{3}}, [][]int32{{3}}); !errors.Is(err, context.Canceled) {
		t.Errorf("LogProbs with a cancelled context: error %v, want %v", err, context.Canceled)
	}
	o := DefaultOptions()
	if o.Suppressed = "11"; o.Validate() != nil {
		t.Error("Validate does not accept an id that a larger vocabulary has")
	}
	if _, err := New(w, nil).Translate(background, nil, o); !errors.As(err, new(*model.FieldError)) {
		t.Errorf("suppressed piece outside the vocabulary: error %v", err)
	}
}
