package align

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"tfm/text/internal/parallel"
)

// Lexicon estimates p(t|s), the probability that the source word s generates the target word t, by
// expectation-maximization.
//
// The probability of a target word t at position i of n is that of the source word s at j of m, or
// of no word, that generates it: p(j|i)·p(t|s), with p(-1|i) = nullPrior and p(j|i) in proportion
// to prior(i, n, j, m).
//
// The estimate depends neither on the batches of pairs nor on the number of threads, and is the
// same on every machine.
type Lexicon struct {
	Options

	seen  []wordCounts // by source word, until the first call of Expect
	known []bool       // target words that occur

	// The entries of source word s, 0 for no word and 1 + its id otherwise, are
	// words[starts[s]:starts[s+1]], in ascending order of the target words.
	starts []int
	words  []int32
	p      []float64 // p(t|s)
	counts []uint64  // expected counts in units of 1/countUnit: integers, whose sum has no order
}

const (
	nullPrior = 0.08 // of the alignment to no word, as in fast_align
	tension   = 8    // of the prior of positions: it halves at a relative distance of 1/8
	countUnit = 1 << 32
)

// Options are the options of a Lexicon.
type Options struct {
	// Limit is the number of target words that a Lexicon considers for a source word: those
	// that occur most often in the same pairs. So its memory is bounded by the vocabularies. 0
	// is no limit.
	Limit int

	Threads int // 0 is GOMAXPROCS
}

// NewLexicon returns a Lexicon of source and target words below sources and targets.
func NewLexicon(sources, targets int, o Options) *Lexicon {
	return &Lexicon{Options: o, seen: make([]wordCounts, sources), known: make([]bool, targets)}
}

// Learn estimates the probabilities in a number of iterations. each must call its argument with all
// pairs, in any batches; Learn calls it once to find the words that occur together, and once for
// each iteration. The error is that of each. Learn panics on words that are out of range.
func (l *Lexicon) Learn(iterations int, each func(do func([]Pair)) error) error {
	if err := each(l.count); err != nil {
		return err
	}
	l.begin()
	for range iterations {
		if err := each(l.Expect); err != nil {
			return err
		}
		l.maximize()
	}
	return nil
}

// count finds the target words that occur with each source word.
func (l *Lexicon) count(pairs []Pair) {
	for _, p := range pairs {
		for _, t := range p.Target {
			l.known[t] = true
		}
		for _, s := range p.Source {
			if uint(s) >= uint(len(l.seen)) {
				panic(fmt.Sprintf("align: source word %d, want one below %d", s, len(l.seen)))
			}
		}
	}
	// A part has the source words s ≡ part (mod parts), so that the order of the occurrences
	// of each is that of the pairs.
	const parts = 32
	parallel.For(l.Threads, parts, 1, func(_, part, _ int) {
		for _, p := range pairs {
			for _, s := range p.Source {
				if int(s)%parts == part {
					for _, t := range p.Target {
						l.seen[s].add(t, l.Limit)
					}
				}
			}
		}
	})
}

// begin sets the entries after count, once.
func (l *Lexicon) begin() {
	if l.starts != nil {
		return
	}
	l.starts = []int{0}
	for t, occurs := range l.known {
		if occurs {
			l.words = append(l.words, int32(t))
		}
	}
	l.starts = append(l.starts, len(l.words))
	for s := range l.seen {
		l.words = append(l.words, l.seen[s].list(l.Limit)...)
		l.starts = append(l.starts, len(l.words))
		l.seen[s] = wordCounts{}
	}
	l.seen = nil
	l.p, l.counts = make([]float64, len(l.words)), make([]uint64, len(l.words))
	for i := range l.p {
		l.p[i] = 1 // uniform: each pair of sentences normalizes it
	}
}

// Expect adds the expected counts of pairs, which Learn must have had.
func (l *Lexicon) Expect(pairs []Pair) {
	const grain = 16
	parallel.For(l.Threads, len(pairs), grain, func(_, lo, hi int) {
		var w workspace
		for k := lo; k < hi; k++ {
			p := &pairs[k]
			for i, t := range p.Target {
				sum := l.posterior(&w, p, i, t)
				if sum == 0 {
					continue
				}
				for j, entry := range w.entries {
					if entry >= 0 {
						atomic.AddUint64(&l.counts[entry], uint64(w.weights[j]/sum*countUnit))
					}
				}
			}
		}
	})
}

// maximize ends an iteration: it sets p(t|s) to the expected counts of s with t, divided by those
// of s.
func (l *Lexicon) maximize() {
	// Add-α smoothing keeps words that occur once from explaining whole sentences.
	const alpha = 0.01
	used := 0 // source words with entries
	for s := range l.starts[1:] {
		if l.starts[s+1] > l.starts[s] {
			used++
		}
	}
	for s, start := range l.starts[:len(l.starts)-1] {
		counts, p := l.counts[start:l.starts[s+1]], l.p[start:l.starts[s+1]]
		divisor := l.total(s) + float64(alpha*float64(len(l.words))/float64(used))
		for i, c := range counts {
			p[i] = (float64(float64(c)/countUnit) + alpha) / divisor
		}
	}
	clear(l.counts)
}

// total returns the expected counts of a source word, as in starts.
func (l *Lexicon) total(s int) float64 {
	total := uint64(0)
	for _, c := range l.counts[l.starts[s]:l.starts[s+1]] {
		total += c
	}
	return float64(float64(total) / countUnit) // not fused with an addition
}

// Best appends to words the target words that s generates with probability minP or more, the n most
// probable ones, in descending order, of equal ones those with the smallest ids first.
func (l *Lexicon) Best(words []int32, s int32, n int, minP float64) []int32 {
	l.begin()
	start, end := l.starts[s+1], l.starts[s+2]
	var entries []int
	for i := start; i < end; i++ {
		if l.p[i] >= minP {
			entries = append(entries, i)
		}
	}
	slices.SortStableFunc(entries, func(a, b int) int { return cmp.Compare(l.p[b], l.p[a]) })
	for _, i := range entries[:min(n, len(entries))] {
		words = append(words, l.words[i])
	}
	return words
}

// workspace holds the source words of one target word, no word first.
type workspace struct {
	entries []int // index in Lexicon.words, -1 for none
	weights []float64
}

// find returns the entry of source word s, 0 for no word, and target word t, or -1.
func (l *Lexicon) find(s int, t int32) int {
	start := l.starts[s]
	i, found := slices.BinarySearch(l.words[start:l.starts[s+1]], t)
	if !found {
		return -1
	}
	return start + i
}

// prior is the weight of source word j of m for target word i of n. Explicit conversions forbid
// fused multiply-adds, so that all machines get the same bits.
func prior(i, n, j, m int) float64 {
	d := (float64(i)+0.5)/float64(n) - (float64(j)+0.5)/float64(m)
	return 1 / (1 + float64(tension*max(d, -d)))
}

// posterior sets w to the probabilities p(j, t) for j = -1, 0, … of target word i of a pair, t,
// and returns their sum.
func (l *Lexicon) posterior(w *workspace, p *Pair, i int, t int32) (sum float64) {
	m, n := len(p.Source), len(p.Target)
	w.entries, w.weights = append(w.entries[:0], l.find(0, t)), append(w.weights[:0], nullPrior)
	priors := 0.0
	for j, s := range p.Source {
		w.entries, w.weights = append(w.entries, l.find(int(s)+1, t)), append(w.weights, prior(i, n, j, m))
		priors += w.weights[1+j]
	}
	for j, entry := range w.entries {
		if j > 0 {
			w.weights[j] = float64(w.weights[j] * ((1 - nullPrior) / priors))
		}
		if entry < 0 {
			w.weights[j] = 0
		} else {
			w.weights[j] = float64(w.weights[j] * l.p[entry])
		}
		sum += w.weights[j]
	}
	return sum
}

// links returns the most probable source word of each target word of a pair, or -1.
func (l *Lexicon) links(p *Pair, w *workspace) []int {
	links := make([]int, len(p.Target))
	for i, t := range p.Target {
		l.posterior(w, p, i, t)
		best := 0
		for j, x := range w.weights {
			if x > w.weights[best] {
				best = j
			}
		}
		links[i] = best - 1
	}
	return links
}
