package align

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// dictionary returns pairs. Source word s has the translations 2s and, half as often, 2s+1; the
// target words 900 and 901 translate nothing.
func dictionary(n, words int, seed uint64) []Pair {
	r := rand.New(rand.NewPCG(seed, 1))
	var pairs []Pair
	for range n {
		var p Pair
		for range 1 + r.IntN(8) {
			s := int32(float64(words) * r.Float64() * r.Float64())
			t := 2 * s
			if r.IntN(3) == 0 {
				t++
			}
			p.Source, p.Target = append(p.Source, s), append(p.Target, t)
			if r.IntN(3) == 0 {
				p.Target = append(p.Target, 900+int32(r.IntN(2)))
			}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

func learn(pairs []Pair, o Options, batch int) *Lexicon {
	l := NewLexicon(100, 1000, o)
	l.Learn(Iterations, func(do func([]Pair)) error {
		for b := range slices.Chunk(pairs, batch) {
			do(b)
		}
		return nil
	})
	return l
}

// The most probable words are those of the dictionary, also if few are considered.
func TestLexicon(t *testing.T) {
	pairs := dictionary(3000, 40, 1)
	for _, limit := range []int{0, 20, 40} {
		l := learn(pairs, Options{Limit: limit}, 100)
		for s := range int32(30) {
			if got, want := l.Best(nil, s, 2, 0.1), []int32{2 * s, 2*s + 1}; !slices.Equal(got, want) {
				t.Errorf("limit %d: best words of %d = %v, want %v", limit, s, got, want)
			}
		}
		if got := l.Best([]int32{-1}, 3, 100, 0.9); !slices.Equal(got, []int32{-1}) {
			t.Errorf("words with a probability of 0.9: %v, want none", got)
		}
		if got := l.Best(nil, 99, 100, 0); got != nil {
			t.Errorf("words of a source word that does not occur: %v", got)
		}
		for s := range 100 {
			if n := l.starts[s+2] - l.starts[s+1]; limit > 0 && n > limit {
				t.Errorf("source word %d has %d entries, limit %d", s, n, limit)
			}
		}
	}
	if got := NewLexicon(3, 3, Options{}).Best(nil, 1, 5, 0); got != nil {
		t.Errorf("words without pairs: %v", got)
	}
}

// The estimate is the same bits for any number of threads and any batches.
func TestLexiconIsDeterministic(t *testing.T) {
	pairs := dictionary(400, 90, 2)
	for _, limit := range []int{0, 5} {
		want := learn(pairs, Options{Limit: limit, Threads: 1}, len(pairs))
		for threads := 1; threads < 5; threads++ {
			for _, batch := range []int{1, 7, 100, 1000} {
				got := learn(pairs, Options{Limit: limit, Threads: threads}, batch)
				if !reflect.DeepEqual(got.p, want.p) || !slices.Equal(got.words, want.words) {
					t.Errorf("limit %d, %d threads, batches of %d: estimate differs", limit, threads, batch)
				}
			}
		}
	}
}

// Frequent words are found in bounded memory, and few words are counted exactly.
func TestWordCounts(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit, n := 1+r.IntN(40), 20_000
		var c wordCounts
		exact := map[int32]int{}
		for range n {
			w := int32(1000 * r.Float64() * r.Float64() * r.Float64())
			c.add(w, limit)
			exact[w]++
			if recent := len(c.words) - c.merged; c.merged > 3*limit+minRecent || recent > 3*limit+minRecent {
				t.Fatalf("limit %d: %d words and %d occurrences in memory", limit, c.merged, recent)
			}
		}
		list := c.list(limit)
		if len(list) > limit || !slices.IsSorted(list) {
			t.Errorf("limit %d: words %v", limit, list)
		}
		c = wordCounts{}
		for w, k := range exact {
			for range k {
				if c.add(w, 0); k > 1 {
					continue
				}
			}
		}
		c.merge()
		got := map[int32]int{}
		for _, w := range c.words {
			got[w.word] = int(w.n)
		}
		if !reflect.DeepEqual(got, exact) {
			t.Errorf("counts without a limit differ")
		}
		c = wordCounts{}
		for i := range n { // the frequent word is every 20th, among words that occur once
			w := int32(10 + i)
			if i%20 == 0 {
				w = 5
			}
			c.add(w, 40)
		}
		if list := c.list(40); !slices.Contains(list, 5) {
			t.Errorf("words %v, want 5 among them", list)
		}
	}
}

func TestLexiconPanics(t *testing.T) {
	for name, p := range map[string]Pair{"source": {[]int32{10}, []int32{1}}, "target": {[]int32{1}, []int32{10}}, "negative": {[]int32{-1}, []int32{1}}} {
		func() {
			defer func() {
				if fmt.Sprint(recover()) == "<nil>" {
					t.Errorf("%s: no panic", name)
				}
			}()
			NewLexicon(10, 10, Options{}).Learn(1, func(do func([]Pair)) error {
				do([]Pair{p})
				return nil
			})
		}()
	}
}
