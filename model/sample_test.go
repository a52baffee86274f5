package model

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/mat"
)

// distribution is that of the token after a prefix in sampling, in float64 from the logits of the full pass.
func distribution(m *Transformer, src, prefix []int32, s Search) []float64 {
	b := new(Batch)
	b.Append(src, prefix)
	pass := NewPass(m, nil)
	pass.bind(len(b.Src), len(b.TgtIn), false)
	x := pass.forward(b, dropouts{}, dropouts{})
	logits := mat.New(x.Rows, m.Config.TgtVocab)
	m.Output.Logits(nil, logits, x)
	p := make([]float64, m.Config.TgtVocab)
	var order []int
	total := 0.0
	for id := EOS; id < len(p); id++ {
		p[id] = math.Exp(float64(logits.Row(len(prefix))[id]) / s.Temperature)
		total += p[id]
		order = append(order, id)
	}
	slices.SortFunc(order, func(i, j int) int {
		if p[i] > p[j] {
			return -1
		}
		return 1
	})
	if s.TopK > 0 {
		total = 0
		for rank, id := range order {
			if rank >= s.TopK {
				p[id] = 0
			}
			total += p[id]
		}
	}
	sum := 0.0
	for _, id := range order {
		if sum >= s.TopP*total {
			p[id] = 0
		}
		sum += p[id]
	}
	kept := 0.0
	for _, x := range p {
		kept += x
	}
	for id := range p {
		p[id] /= kept
	}
	return p
}

// Translations of up to two words, drawn six thousand times, are as frequent as the model and the settings say:
// Pearson's chi-square. The seeds are fixed, so the test always says the same; of many seeds one in a thousand would fail.
func TestSamplesAreDistributedAsTheModelSays(t *testing.T) {
	c := toy()
	m := newModel(t, c)
	for i := range m.Params.W {
		m.Params.W[i] *= 1.3 // neither flat nor certain
	}
	src := []int32{4}
	for _, s := range []Search{
		{Temperature: 1, TopP: 1, NBest: 4},
		{Temperature: 0.5, TopP: 1, Seed: 2, NBest: 30},
		{Temperature: 2, TopP: 1, TopK: 4, NBest: 20},
		{Temperature: 1, TopP: 0.6, NBest: 60},
		{Temperature: 1.5, TopP: 0.8, TopK: 5, NBest: 30},
	} {
		s.Sample, s.MaxExtra = true, 1 // at most two words, and the end or a word that is cut off
		const draws = 6000
		srcs := slices.Repeat([][]int32{src}, draws/s.listed())
		counts := map[string]int{}
		for _, list := range NewDecoder(m, nil).NBest(srcs, s) {
			for _, h := range list {
				counts[fmt.Sprint(h.Tokens)]++
			}
		}
		chi2, cells, seen := 0.0, 0, 0
		var rareN, rareWant float64 // together one cell
		add := func(n, want float64) {
			chi2 += (n - want) * (n - want) / want
			cells++
		}
		cell := func(tokens []int32, p float64) {
			n := counts[fmt.Sprint(tokens)]
			seen += n
			want := p * draws
			if want == 0 && n > 0 {
				t.Errorf("%+v: %v was drawn %d times, and cannot be", s, tokens, n)
			} else if want >= 5 {
				add(float64(n), want)
			} else {
				rareN, rareWant = rareN+float64(n), rareWant+want
			}
		}
		first := distribution(m, src, nil, s)
		cell(nil, first[EOS])
		for a := int32(EOS + 1); a < int32(c.TgtVocab); a++ {
			second := distribution(m, src, []int32{a}, s)
			cell([]int32{a}, first[a]*second[EOS])
			for b := int32(EOS + 1); b < int32(c.TgtVocab); b++ {
				cell([]int32{a, b}, first[a]*second[b])
			}
		}
		if rareWant > 0 {
			add(rareN, rareWant)
		}
		// Wilson and Hilferty: the cube root of chi²/k is about normal.
		k := float64(cells - 1)
		z := (math.Cbrt(chi2/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
		t.Logf("%+v: %d different, chi² %.1f of %d cells, %.2f standard deviations", s, len(counts), chi2, cells, z)
		if z > 3.1 || seen != draws || cells < 4 {
			t.Errorf("%+v: chi² is %.1f of %d cells, %.2f standard deviations; %d drawn", s, chi2, cells, z, seen)
		}
	}
}

func TestSamplingAtLowTemperatureIsGreedy(t *testing.T) {
	c := toy()
	for seed := range uint64(4) {
		d := NewDecoder(opinionated(t, c, seed), nil)
		srcs := sources(randomBatch(c, 50, 0, seed))
		greedy := Search{Beam: 1, Alpha: 0.6, MaxExtra: 10}
		want := d.Translate(srcs, greedy)
		cold := greedy
		cold.Sample, cold.Temperature, cold.TopP = true, 1e-3, 1
		one := cold
		one.Temperature, one.TopK = 5, 1
		narrow := cold
		narrow.Temperature, narrow.TopP = 5, 1e-9
		for _, s := range []Search{cold, one, narrow} {
			if got := d.Translate(srcs, s); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: not the greedy translations", s)
			}
		}
	}
}

// What is drawn for a source depends on its number, and on nothing beside it.
func TestSamplesDependOnNothingButSeedAndNumber(t *testing.T) {
	c := toy()
	m := opinionated(t, c, 1)
	pool := mat.NewPool(3)
	defer pool.Close()
	srcs := sources(randomBatch(c, 200, 0, 5))
	for _, s := range []Search{
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7},
		{Sample: true, Temperature: 3, TopP: 0.9, MaxExtra: 8, NBest: 5},
		{Sample: true, Temperature: 3, TopP: 1, TopK: 5, MaxExtra: 8, NBest: 3, First: 1 << 40},
	} {
		all := NewDecoder(m, pool).NBest(srcs, s)
		alone := NewDecoder(m, nil)
		one := s
		for i := range 40 {
			one.First = s.First + uint64(i)
			if got := alone.NBest(srcs[i:i+1], one)[0]; !reflect.DeepEqual(got, all[i]) {
				t.Fatalf("%+v: source %d gives %v alone and %v among others", s, i, got, all[i])
			}
		}
		for i, list := range all {
			if len(list) != s.listed() {
				t.Errorf("%+v: %d translations of source %d", s, len(list), i)
			}
		}
		other := s
		other.Seed++
		if reflect.DeepEqual(NewDecoder(m, pool).NBest(srcs, other), all) {
			t.Errorf("%+v: another seed draws the same", s)
		}
		other = s
		other.First++
		if reflect.DeepEqual(NewDecoder(m, pool).NBest(srcs, other), all) {
			t.Errorf("%+v: other numbers draw the same", s)
		}
	}
}

// The score of a sample is that of the model, whatever distribution it was drawn from.
func TestScoreOfASample(t *testing.T) {
	c := toy()
	m := opinionated(t, c, 3)
	srcs := sources(randomBatch(c, 30, 0, 5))
	s := Search{Sample: true, Alpha: 0.6, Temperature: 4, TopP: 0.9, MaxExtra: 8, NBest: 4}
	ended := 0
	for i, list := range NewDecoder(m, nil).NBest(srcs, s) {
		for j, h := range list {
			if j > 0 && h.Score > list[j-1].Score {
				t.Errorf("scores rise from %v to %v", list[j-1].Score, h.Score)
			}
			if h.Truncated {
				continue
			}
			ended++
			want := s.score(score(m, srcs[i], h.Tokens), len(h.Tokens)+1)
			if math.Abs(h.Score-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%v has the score %v, want %v", h.Tokens, h.Score, want)
			}
		}
	}
	if ended < 50 {
		t.Errorf("only %d samples ended", ended)
	}
}

// As in TestSameBitsOnEveryMachine.
func TestSameSamplesOnEveryMachine(t *testing.T) {
	if mat.Kernel() == "generic" {
		t.Skip("the portable kernels are held to a tolerance, not to bits")
	}
	c := toy()
	bits := crc32.NewIEEE()
	for _, s := range []Search{
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, Seed: 7},
		{Sample: true, Temperature: 2, TopP: 0.9, MaxExtra: 8, NBest: 2},
		{Sample: true, Temperature: 0.7, TopP: 1, TopK: 5, MaxExtra: 8},
	} {
		for _, list := range NewDecoder(newModel(t, c), nil).NBest(sources(randomBatch(c, 50, 0, 3)), s) {
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

func TestUniform(t *testing.T) {
	const n = 100000
	var buckets [100]int
	var c rand.ChaCha8
	for i := range uint64(n) {
		u := uniform(&c, 1, i/1000, i/100%10, i%100)
		if u < 0 || u >= 1 {
			t.Fatal(u)
		}
		buckets[int(u*100)]++
	}
	chi2 := 0.0
	for _, b := range buckets {
		chi2 += float64((b-n/100)*(b-n/100)) / (n / 100)
	}
	if chi2 > 150 { // of 99 degrees of freedom: one in a thousand
		t.Errorf("chi² is %v", chi2)
	}
}

// pick takes the first element for 0, the last that can be for what is nearly 1, and none that has no probability.
func TestPick(t *testing.T) {
	p := []float32{0, 0.25, 0, 0.5, 0.25, 0}
	for _, c := range []struct {
		u    float64
		want int
	}{{0, 1}, {0.2499, 1}, {0.25, 3}, {0.7499, 3}, {0.75, 4}, {1 - 0x1p-53, 4}} {
		if got := pick(p, c.u); got != c.want {
			t.Errorf("%v picks %d, want %d", c.u, got, c.want)
		}
	}
}

// A large vocabulary of equal probabilities, which leaves TopP everything to sort, and cuts where it says.
func TestTopPOfEqualProbabilities(t *testing.T) {
	const n = 8000
	row := make([]float32, n)
	r := searchRoom{probability: make([]float32, n), likely: make([][]candidate, 1)}
	for _, topP := range []float64{1e-9, 0.5, 0.999} {
		r.draw(0, row, Search{Sample: true, Temperature: 1, TopP: topP}, 0)
		// Of equal ones those with small ids stay, so the last number picks the edge.
		edge := r.draw(0, row, Search{Sample: true, Temperature: 1, TopP: topP}, 1-0x1p-53)
		if want := math.Ceil(topP * n); math.Abs(float64(edge+1)-want) > 2 {
			t.Errorf("top-p %v of %d equal tokens ends at %d, want %v", topP, n, edge+1, want)
		}
	}
}

// What stays of a row, however it is found: whatever TopK and TopP, the numbers that are drawn are those of a sorted list.
func TestDrawsAreFromTheMostProbable(t *testing.T) {
	const n = 3000
	random := rand.New(rand.NewPCG(3, 3))
	r := searchRoom{probability: make([]float32, n), likely: make([][]candidate, 1)}
	for range 200 {
		row, p := make([]float32, n), make([]float32, n)
		for i := range row {
			row[i] = float32(random.IntN(20)) / 2 // many are equal
		}
		s := Search{Sample: true, Temperature: 0.5 + random.Float64(), TopK: []int{0, 1, 10, 64, 65, 500, n, 2 * n}[random.IntN(8)], TopP: []float64{0.01, 0.5, 0.9, 0.999, 1}[random.IntN(5)]}
		mat.Softmax(p, row, float32(1/s.Temperature))
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b], p[a]) })
		if s.TopK > 0 {
			order = order[:min(s.TopK, n)]
		}
		total, sum, kept := 0.0, 0.0, 0
		for _, id := range order {
			total += float64(p[id])
		}
		for kept < len(order) && (kept == 0 || sum < s.TopP*total) {
			sum += float64(p[order[kept]])
			kept++
		}
		if s.TopK == 0 && s.TopP == 1 {
			continue // drawn in the order of ids, and from all
		}
		// The sums' rounding lets one more in or leaves one out, and does not see the last 1e-5.
		for _, u := range []float64{0, random.Float64(), 1 - 0x1p-53} {
			got, before := slices.Index(order, int(r.draw(0, row, s, u))), 0.0
			for _, id := range order[:max(0, got)] {
				before += float64(p[id])
			}
			at := u * sum
			last := float64(p[order[kept-1]])
			if got < 0 || got > kept || before > at+last+1e-5 || before+float64(p[order[got]]) < at-last-1e-5 {
				t.Fatalf("%+v: %v draws number %d of %d, after %v of %v", s, u, got, kept, before, sum)
			}
		}
	}
}

// Weights that are not numbers make no sense, but no crash either.
func TestModelOfNaN(t *testing.T) {
	m := newModel(t, toy())
	for i := range m.Params.W {
		m.Params.W[i] = float32(math.NaN())
	}
	d := NewDecoder(m, nil)
	srcs := sources(randomBatch(m.Config, 5, 0, 5))
	for _, s := range []Search{
		{Beam: 3, MaxExtra: 3, NBest: 2}, {Sample: true, Temperature: 1, TopP: 1, MaxExtra: 3, NBest: 2},
		{Sample: true, Temperature: 1, TopP: 0.5, MaxExtra: 3}, {Sample: true, Temperature: 1, TopP: 1, TopK: 3, MaxExtra: 3},
	} {
		for _, list := range d.NBest(srcs, s) {
			if len(list) != 1 || len(list[0].Tokens) > 0 {
				t.Errorf("%+v: %+v", s, list)
			}
		}
	}
}

func TestSamplingAllocatesNothingAStep(t *testing.T) {
	if raceDetector {
		t.Skip("allocations cannot be counted under the race detector")
	}
	m := newModel(t, toy())
	d := NewDecoder(m, nil)
	b := randomBatch(m.Config, 8, 3, 2)
	places := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, s := range []Search{
		{Sample: true, Temperature: 1, TopP: 1, MaxExtra: 8, NBest: 3}, {Sample: true, Temperature: 1, TopP: 0.9, MaxExtra: 8}, {Sample: true, Temperature: 1, TopP: 0.9, TopK: 5, MaxExtra: 8},
	} {
		step := func() {
			d.begin(b, s.width(), 64)
			r := &d.search
			r.start(b, s, 64)
			r.startSample(s, places, m.Config.TgtVocab)
			r.gather()
			mat.Each(nil, len(r.ids), 4, drawnTokens{d.step(r.ids, r.slots, r.sources, 0), s, 0, r})
			r.follow(&r.sentences[0], 0, s, 0)
		}
		step()
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("%+v: %v allocations", s, n)
		}
	}
}
