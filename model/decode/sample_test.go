package decode

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"tfm/mat"
	"tfm/model"
)

// distribution is that of a prefix's next token in sampling, in float64.
func distribution(m *table, source int32, prefix []int32, o Options) []float64 {
	p := m.probabilities(source, prefix)
	var order []int
	total := 0.0
	for id := model.EOS; id < len(p); id++ {
		p[id] = math.Pow(p[id], 1/o.Temperature)
		total += p[id]
		order = append(order, id)
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[j], p[i]) })
	if o.TopK > 0 {
		total = 0
		for rank, id := range order {
			if rank >= o.TopK {
				p[id] = 0
			}
			total += p[id]
		}
	}
	sum := 0.0
	for _, id := range order {
		if sum >= o.TopP*total {
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

// Translations of up to two words, drawn six thousand times, are as frequent as the language and
// the settings say: Pearson's chi-square. The seeds are fixed, so the test always says the same;
// of many seeds one in a thousand would fail.
func TestSamplesAreDistributedAsTheModelSays(t *testing.T) {
	const vocabulary = 11
	m := language(vocabulary, 1, 1.2)
	same := &table{vocabulary: vocabulary, logits: func(_ int32, prefix []int32, row []float32) { m.logits(0, prefix, row) }}
	for _, o := range []Options{
		{Temperature: 1, TopP: 1, NBest: 4},
		{Temperature: 0.5, TopP: 1, Seed: 2, NBest: 30},
		{Temperature: 2, TopP: 1, TopK: 4, NBest: 20},
		{Temperature: 1, TopP: 0.6, NBest: 60},
		{Temperature: 1.5, TopP: 0.8, TopK: 5, NBest: 30},
	} {
		o.Sample = true
		const draws, maxTokens = 6000, 3 // at most two words, and the end or a word that is cut off
		counts := map[string]int{}
		for _, list := range find(t, same, draws/o.NBest, maxTokens, o) {
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
				t.Errorf("%+v: %v was drawn %d times, and cannot be", o, tokens, n)
			} else if want >= 5 {
				add(float64(n), want)
			} else {
				rareN, rareWant = rareN+float64(n), rareWant+want
			}
		}
		first := distribution(m, 0, nil, o)
		cell(nil, first[model.EOS])
		for a := int32(model.EOS + 1); a < vocabulary; a++ {
			second := distribution(m, 0, []int32{a}, o)
			cell([]int32{a}, first[a]*second[model.EOS])
			for b := int32(model.EOS + 1); b < vocabulary; b++ {
				cell([]int32{a, b}, first[a]*second[b])
			}
		}
		if rareWant > 0 {
			add(rareN, rareWant)
		}
		// Wilson and Hilferty: the cube root of chi²/k is about normal.
		k := float64(cells - 1)
		z := (math.Cbrt(chi2/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
		t.Logf("%+v: %d different, chi² %.1f of %d cells, %.2f standard deviations", o, len(counts), chi2, cells, z)
		if z > 3.1 || seen != draws || cells < 4 {
			t.Errorf("%+v: chi² is %.1f of %d cells, %.2f standard deviations; %d drawn", o, chi2, cells, z, seen)
		}
	}
}

func TestSamplingAtLowTemperatureIsGreedy(t *testing.T) {
	for seed := range uint64(4) {
		m := language(50, seed, 1)
		random := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) { // no two within 0.25 of each other
			random(source, prefix, row)
			sorted := slices.Sorted(slices.Values(row))
			for i, x := range row {
				row[i] = 0.25 * float32(slices.Index(sorted, x))
			}
		}
		greedy := Options{Beam: 1, Alpha: 0.6}
		want := find(t, m, 50, 10, greedy)
		cold := greedy
		cold.Sample, cold.Temperature, cold.TopP = true, 1e-3, 1
		one := cold
		one.Temperature, one.TopK = 5, 1
		narrow := cold
		narrow.Temperature, narrow.TopP = 5, 1e-9
		for _, o := range []Options{cold, one, narrow} {
			if got := find(t, m, 50, 10, o); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: not the greedy translations", o)
			}
		}
	}
}

// Draws come again with the same seed and number, and are others with another of either.
func TestDrawsAreAFunctionOfSeedAndNumber(t *testing.T) {
	m := language(20, 5, 1)
	for _, o := range []Options{
		{Sample: true, Temperature: 1, TopP: 1, Seed: 7},
		{Sample: true, Temperature: 3, TopP: 0.9, NBest: 5},
		{Sample: true, Temperature: 3, TopP: 1, TopK: 5, NBest: 3, First: 1 << 40},
	} {
		all := find(t, m, 40, 8, o)
		if !reflect.DeepEqual(find(t, m, 40, 8, o), all) {
			t.Errorf("%+v: other draws the second time", o)
		}
		for i, list := range all {
			if len(list) != o.nBest() {
				t.Errorf("%+v: %d translations of source %d", o, len(list), i)
			}
			for j, h := range list {
				if want := o.score(m.logP(int32(i), h.Tokens), len(h.Tokens)+1); !h.Truncated && !closeTo(h.Score, want) {
					t.Errorf("%+v: %v has the score %v, the model says %v", o, h.Tokens, h.Score, want)
				}
				if j > 0 && h.Score > list[j-1].Score {
					t.Errorf("%+v: scores rise from %v to %v", o, list[j-1].Score, h.Score)
				}
			}
		}
		seed, number := o, o
		seed.Seed++
		number.First++
		if reflect.DeepEqual(find(t, m, 40, 8, seed), all) || reflect.DeepEqual(find(t, m, 40, 8, number), all) {
			t.Errorf("%+v: another seed or number draws the same", o)
		}
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

// pick takes the first element for 0, the last that can be for what is nearly 1, and none that
// has no probability.
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

// A large vocabulary of equal probabilities, which leaves TopP everything to sort, and cuts where
// it says.
func TestTopPOfEqualProbabilities(t *testing.T) {
	const n = 8000
	row := make([]float32, n)
	var r samplingWorkspace
	r.alloc(1, n)
	for _, topP := range []float64{1e-9, 0.5, 0.999} {
		r.draw(0, row, &Options{Sample: true, Temperature: 1, TopP: topP}, 0)
		// Of equal ones those with small ids stay, so the last number picks the edge.
		edge := r.draw(0, row, &Options{Sample: true, Temperature: 1, TopP: topP}, 1-0x1p-53)
		if want := math.Ceil(topP * n); math.Abs(float64(edge+1)-want) > 2 {
			t.Errorf("top-p %v of %d equal tokens ends at %d, want %v", topP, n, edge+1, want)
		}
	}
}

// What stays of a row, however it is found: whatever TopK and TopP, the numbers that are drawn
// are those of a sorted list.
func TestDrawsAreFromTheMostProbable(t *testing.T) {
	const n = 3000
	random := rand.New(rand.NewPCG(3, 3))
	var r samplingWorkspace
	r.alloc(1, n)
	for range 200 {
		row, p := make([]float32, n), make([]float32, n)
		for i := range row {
			row[i] = float32(random.IntN(20)) / 2 // many are equal
		}
		s := &Options{Sample: true, Temperature: 0.5 + random.Float64(), TopK: []int{0, 1, 10, 64, 65, 500, n, 2 * n}[random.IntN(8)], TopP: []float64{0.01, 0.5, 0.9, 0.999, 1}[random.IntN(5)]}
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
