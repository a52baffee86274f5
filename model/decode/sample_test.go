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

// distribution returns the distribution in float64 from which sampling draws the token after
// prefix.
func distribution(m *table, source int32, prefix []int32, o Options) []float64 {
	p := m.probabilities(source, prefix)
	var order []int
	total := 0.0
	for id := model.EOS; id < len(p); id++ {
		p[id] = math.Pow(p[id], 1/o.Temperature)
		if o.Pieces != nil && id > model.EOS && o.Pieces.Bytes(int32(id)) != "a" {
			p[id] = 0
		}
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

// onlyIDs returns the Pieces of n ids of which only EOS and list have valid text: others cannot
// occur in a translation.
func onlyIDs(n int, list ...int32) *Pieces {
	return NewPieces(n, func(id int32) string {
		if slices.Contains(list, id) {
			return "a"
		}
		return "\xFF"
	})
}

// The frequencies of 6000 draws of translations of up to two tokens fit the distribution of the
// model and the options: Pearson's chi-square test. The seeds are fixed, so the result is too;
// about one seed in a thousand would fail.
func TestSamplesFitTheDistribution(t *testing.T) {
	const vocabulary = 11
	m := language(vocabulary, 1, 1.2)
	same := &table{vocabulary: vocabulary, logits: func(_ int32, prefix []int32, row []float32) { m.logits(0, prefix, row) }}
	for _, o := range []Options{
		{Temperature: 1, TopP: 1, NBest: 4},
		{Temperature: 0.5, TopP: 1, Seed: 2, NBest: 30},
		{Temperature: 2, TopP: 1, TopK: 4, NBest: 20},
		{Temperature: 1, TopP: 0.6, NBest: 60},
		{Temperature: 1.5, TopP: 0.8, TopK: 5, NBest: 30},
		{Temperature: 0.7, TopP: 1, NBest: 30, Pieces: onlyIDs(vocabulary, 3, 5, 7, 9)},
		{Temperature: 2, TopP: 1, NBest: 10, Seed: 1, Pieces: onlyIDs(vocabulary, 5, 9)},
	} {
		o.Sample = true
		const draws, maxTokens = 6000, 3 // up to two tokens, and EOS or a token that is dropped
		counts := map[string]int{}
		for _, list := range find(t, same, draws/o.NBest, maxTokens, o) {
			for _, h := range list {
				counts[fmt.Sprint(h.Tokens)]++
			}
		}
		chi2, cells, seen := 0.0, 0, 0
		var rareN, rareWant float64 // cells of low expectation, merged into one
		add := func(n, want float64) {
			chi2 += (n - want) * (n - want) / want
			cells++
		}
		cell := func(tokens []int32, p float64) {
			n := counts[fmt.Sprint(tokens)]
			seen += n
			want := p * draws
			if want == 0 && n > 0 {
				t.Errorf("%+v: %v, of probability 0, was drawn %d times", o, tokens, n)
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
		// Wilson and Hilferty: the cube root of chi²/k is approximately normal.
		k := float64(cells - 1)
		z := (math.Cbrt(chi2/k) - (1 - 2/(9*k))) / math.Sqrt(2/(9*k))
		t.Logf("%+v: %d different translations, chi² %.1f in %d cells, %.2f standard deviations", o, len(counts), chi2, cells, z)
		if z > 3.1 || seen != draws || cells < 4 {
			t.Errorf("%+v: chi² %.1f in %d cells, %.2f standard deviations, %d draws", o, chi2, cells, z, seen)
		}
	}
}

func TestSamplingAtLowTemperatureIsGreedy(t *testing.T) {
	for seed := range uint64(4) {
		m := language(50, seed, 1)
		random := m.logits
		m.logits = func(source int32, prefix []int32, row []float32) { // at least 0.25 apart
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
		topK := cold
		topK.Temperature, topK.TopK = 5, 1
		topP := cold
		topP.Temperature, topP.TopP = 5, 1e-9
		for _, o := range []Options{cold, topK, topP} {
			if got := find(t, m, 50, 10, o); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: translations differ from those of greedy search", o)
			}
		}
	}
}

// Draws are equal for equal seeds and numbers, and differ if either differs.
func TestDrawsAreAFunctionOfSeedAndNumber(t *testing.T) {
	m := language(20, 5, 1)
	for _, o := range []Options{
		{Sample: true, Temperature: 1, TopP: 1, Seed: 7},
		{Sample: true, Temperature: 3, TopP: 0.9, NBest: 5},
		{Sample: true, Temperature: 3, TopP: 1, TopK: 5, NBest: 3, First: 1 << 40},
	} {
		all := find(t, m, 40, 8, o)
		if !reflect.DeepEqual(find(t, m, 40, 8, o), all) {
			t.Errorf("%+v: draws differ the second time", o)
		}
		for i, list := range all {
			if len(list) != o.nBest() {
				t.Errorf("%+v: %d translations of source %d, want %d", o, len(list), i, o.nBest())
			}
			for j, h := range list {
				if want := o.score(m.logP(int32(i), h.Tokens), len(h.Tokens)+1); !h.Truncated && !closeTo(h.Score, want) {
					t.Errorf("%+v: %v has score %v, want %v", o, h.Tokens, h.Score, want)
				}
				if j > 0 && h.Score > list[j-1].Score {
					t.Errorf("%+v: score %v after %v, want descending", o, h.Score, list[j-1].Score)
				}
			}
		}
		seed, number := o, o
		seed.Seed++
		number.First++
		if reflect.DeepEqual(find(t, m, 40, 8, seed), all) || reflect.DeepEqual(find(t, m, 40, 8, number), all) {
			t.Errorf("%+v: another seed or number gives equal draws", o)
		}
	}
}

// pick returns the first element with probability for u = 0, the last for u just below 1, and never
// one without.
func TestPick(t *testing.T) {
	p := []float32{0, 0.25, 0, 0.5, 0.25, 0}
	for _, c := range []struct {
		u    float64
		want int
	}{{0, 1}, {0.2499, 1}, {0.25, 3}, {0.7499, 3}, {0.75, 4}, {1 - 0x1p-53, 4}} {
		if got := pick(p, c.u); got != c.want {
			t.Errorf("pick(%v) = %d, want %d", c.u, got, c.want)
		}
	}
}

// For all TopK and TopP, draws are those from a sorted list.
func TestDrawsAreFromTheMostProbable(t *testing.T) {
	const n = 3000
	random := rand.New(rand.NewPCG(3, 3))
	var d draws
	for range 200 {
		row, p := make([]float32, n), make([]float32, n)
		for i := range row {
			row[i] = float32(random.IntN(20)) / 2 // with many equal values
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
			continue // no restriction: drawn in the order of ids
		}
		// Rounding of the sums may add or drop one token at the edge, and shifts u by up to
		// 1e-5.
		for _, u := range []float64{0, random.Float64(), 1 - 0x1p-53} {
			got, before := slices.Index(order, (d.draw(&choice{}, row, s, u))), 0.0
			for _, id := range order[:max(0, got)] {
				before += float64(p[id])
			}
			at := u * sum
			last := float64(p[order[kept-1]])
			if got < 0 || got > kept || before > at+last+1e-5 || before+float64(p[order[got]]) < at-last-1e-5 {
				t.Fatalf("%+v: u %v draws token %d of %d, after probability %v of %v", s, u, got, kept, before, sum)
			}
		}
	}
}
