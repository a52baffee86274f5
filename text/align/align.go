package align

// Pair is a sentence and its translation as ids, which are not negative.
type Pair struct{ Source, Target []int32 }

// Iterations is the number of iterations of expectation-maximization that Pairs uses: more change
// little.
const Iterations = 5

// Pairs aligns the sentences of each pair and returns, for each target word, the index of its
// source word, or -1 if it has none. The alignment is the intersection of those of both directions.
// The result is the same on every machine.
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
func oneWay(pairs []Pair) [][]int {
	sources, targets := 0, 0
	for _, p := range pairs {
		for _, s := range p.Source {
			sources = max(sources, int(s)+1)
		}
		for _, t := range p.Target {
			targets = max(targets, int(t)+1)
		}
	}
	l := NewLexicon(sources, targets, Options{})
	l.Learn(Iterations, func(do func([]Pair)) error {
		do(pairs)
		return nil
	})
	links := make([][]int, len(pairs))
	var w workspace
	for k := range pairs {
		links[k] = l.links(&pairs[k], &w)
	}
	return links
}
