// Package align finds which words of a sentence a translation's words translate, from the pairs of
// a corpus alone. It is a reference for the alignments of a model. It imports only the standard
// library.
//
// Its model is IBM Model 1 (Brown et al., 1993, "The Mathematics of Statistical Machine
// Translation") with a prior that favours equal relative positions, as in fast_align (Dyer et al.,
// 2013, "A Simple, Fast, and Effective Reparameterization of IBM Model 2"), trained in both
// directions. The alignment is the intersection of both.
package align

// Pair is a sentence and its translation as ids.
type Pair struct{ Source, Target []int32 }

const (
	iterations = 5
	nullPrior  = 0.08 // of the alignment to no word, as in fast_align
	tension    = 8    // of the prior of positions: it halves at a relative distance of 1/8
)

// Pairs aligns the sentences of each pair and returns, for each target word, the index of its
// source word, or -1 if it has none. The result is the same on every machine.
func Pairs(pairs []Pair) [][]int {
	reversed := make([]Pair, len(pairs))
	for i, p := range pairs {
		reversed[i] = Pair{p.Target, p.Source}
	}
	links, back := oneWay(pairs), oneWay(reversed)
	for k := range links {
		for i, j := range links[k] {
			if j >= 0 && back[k][j] != i {
				links[k][i] = -1
			}
		}
	}
	return links
}

// oneWay returns, for each target word, the index of the source word that generates it, or -1.
//
// The probability of a target word t at position i of n is that of the source word s at j of m, or
// of no word, that generates it: p(j|i)·p(t|s), with p(-1|i) = nullPrior and p(j|i) in proportion
// to prior(i, n, j, m). Expectation-maximization estimates p(t|s).
func oneWay(pairs []Pair) [][]int {
	e := newEstimate(pairs)
	for range iterations {
		e.iterate(pairs)
	}
	return e.links(pairs)
}

// estimate holds p(t|s) for all pairs of words in the same pair of sentences. The word -1 is no
// word.
type estimate struct {
	source []int32 // of each entry: index of s
	p      []float64
	counts []float64
	totals []float64 // of each source word

	// Of each pair, target word and source word (no word first): index in p.
	entries [][]int32
}

// prior is the weight of source word j of m for target word i of n. Explicit conversions forbid
// fused multiply-adds, so that all machines get the same bits.
func prior(i, n, j, m int) float64 {
	d := (float64(i)+0.5)/float64(n) - (float64(j)+0.5)/float64(m)
	return 1 / (1 + float64(tension*max(d, -d)))
}

func newEstimate(pairs []Pair) *estimate {
	e := new(estimate)
	type key struct{ s, t int32 }
	index, sources := map[key]int32{}, map[int32]int32{}
	for _, p := range pairs {
		list := make([]int32, 0, len(p.Target)*(len(p.Source)+1))
		for _, t := range p.Target {
			for j := -1; j < len(p.Source); j++ {
				s := int32(-1)
				if j >= 0 {
					s = p.Source[j]
				}
				i, ok := index[key{s, t}]
				if !ok {
					i = int32(len(e.source))
					index[key{s, t}] = i
					k, ok := sources[s]
					if !ok {
						k = int32(len(sources))
						sources[s] = k
					}
					e.source = append(e.source, k)
				}
				list = append(list, i)
			}
		}
		e.entries = append(e.entries, list)
	}
	e.p, e.counts, e.totals = make([]float64, len(e.source)), make([]float64, len(e.source)), make([]float64, len(sources))
	for i := range e.p {
		e.p[i] = 1 // uniform: each pair of sentences normalizes it
	}
	return e
}

// posterior sets weights to p(j, t) for j = -1, 0, … of target word i of pair k, and returns their
// sum.
func (e *estimate) posterior(weights []float64, p *Pair, k, i int) (sum float64) {
	m, n := len(p.Source), len(p.Target)
	priors := 0.0
	for j := range m {
		weights[1+j] = prior(i, n, j, m)
		priors += weights[1+j]
	}
	entries := e.entries[k][i*(m+1):][:m+1]
	weights[0] = float64(nullPrior * e.p[entries[0]])
	sum = weights[0]
	for j := range m {
		weights[1+j] = float64(float64(weights[1+j]*((1-nullPrior)/priors)) * e.p[entries[1+j]])
		sum += weights[1+j]
	}
	return sum
}

// iterate runs one iteration of expectation-maximization.
func (e *estimate) iterate(pairs []Pair) {
	clear(e.counts)
	clear(e.totals)
	var weights []float64
	for k := range pairs {
		p := &pairs[k]
		m := len(p.Source)
		for len(weights) < m+1 {
			weights = append(weights, 0)
		}
		for i := range p.Target {
			sum := e.posterior(weights, p, k, i)
			for j, entry := range e.entries[k][i*(m+1):][:m+1] {
				c := weights[j] / sum
				e.counts[entry] += c
				e.totals[e.source[entry]] += c
			}
		}
	}
	// Add-α smoothing keeps words that occur once from explaining whole sentences.
	const alpha = 0.01
	for i, c := range e.counts {
		e.p[i] = (c + alpha) / (e.totals[e.source[i]] + float64(alpha*float64(len(e.source))/float64(len(e.totals))))
	}
}

// links returns the most probable source word of each target word.
func (e *estimate) links(pairs []Pair) [][]int {
	all := make([][]int, len(pairs))
	var weights []float64
	for k := range pairs {
		p := &pairs[k]
		for len(weights) < len(p.Source)+1 {
			weights = append(weights, 0)
		}
		all[k] = make([]int, len(p.Target))
		for i := range p.Target {
			e.posterior(weights, p, k, i)
			best := 0
			for j := range len(p.Source) + 1 {
				if weights[j] > weights[best] {
					best = j
				}
			}
			all[k][i] = best - 1
		}
	}
	return all
}
