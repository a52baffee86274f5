package train

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"tfm/internal/exact"
	"tfm/text/internal/parallel"
	"tfm/text/tokenizer/sentencepiece"
)

// unknownPenalty is the distance of the score of a character without a piece from the lowest one.
const unknownPenalty = 10

// The defaults of spm_train.
const (
	seedSize        = 1000000
	subIterations   = 2    // of expectation maximization, before pieces are dropped
	shrinkingFactor = 0.75 // share of the pieces that are kept
)

// trainUnigram learns the pieces of a unigram model (Kudo 2018, "Subword Regularization", section
// 3.2): it begins with many pieces and alternates between estimating their probabilities by
// expectation maximization and dropping those without which the likelihood falls least.
func (t *Trainer) trainUnigram(c *corpus, want int) []sentencepiece.Piece {
	target := int(float64(t.spec.VocabSize) * 1.1)
	e := t.newEstimator(c, t.findSeeds(c, seedSize))
	for {
		for range subIterations {
			e.maximize(e.expect())
			t.Progress(len(e.pieces), target)
		}
		if len(e.pieces) <= target {
			return e.final(want)
		}
		e.prune(max(target, int(float64(shrinkingFactor)*float64(len(e.pieces)))))
	}
}

// estimator holds the pieces of a unigram model in training, and the lattice of the corpus: all
// places where a piece occurs. Probabilities are multiplied, not added as logarithms, with a common
// exponent where a fragment is long.
//
// Sums over the corpus are exact, in integers, so that they do not depend on the order.
type estimator struct {
	t        *Trainer
	c        *corpus
	pieces   []unigramPiece
	minScore float64
	unknown  float64 // probability of a character without a piece
	maxChars int32   // length of the longest piece

	// The nodes of the lattice, the ids of the pieces that begin at symbol i by ascending
	// length, are nodes[first[i]:first[i]+count[i]].
	nodes []int32
	first []int32
	count []uint16

	workers []estimatorScratch

	scale float64 // of expected counts as integers, a power of two
}

// unigramPiece is a piece in training.
type unigramPiece struct {
	p     float64 // probability
	score float64 // its logarithm
	chars int32
	at    int32 // index in corpus.symbols of an occurrence
}

// blockFragments is the number of fragments that one goroutine takes at a time.
const blockFragments = 1 << 10

// estimatorScratch is the memory of one goroutine.
type estimatorScratch struct {
	alpha, beta []float64
	exponents   []int32 // of alpha
	best        []float64
	last        []int32 // piece that ends at a symbol on the best path, or noPiece
	path        []int32 // pieces of the best path from its end
	counts      []int64 // by piece
}

// noPiece is a character without a piece as a node of a path.
const noPiece = -1

// newEstimator returns an estimator of the characters and seeds.
func (t *Trainer) newEstimator(c *corpus, s *seeds) *estimator {
	e := &estimator{t: t, c: c}
	single := make([]int32, len(c.chars)) // pieces of the characters
	var total float64
	for _, symbol := range c.byCount {
		single[symbol] = int32(len(e.pieces))
		e.pieces = append(e.pieces, unigramPiece{score: float64(c.count[symbol]), chars: 1})
		total += float64(c.count[symbol])
	}
	base := int32(len(e.pieces))
	for i := range s.list {
		d := &s.list[i]
		e.pieces = append(e.pieces, unigramPiece{score: float64(d.score()), chars: d.chars, at: d.at})
		total += float64(d.score())
	}
	for i := range e.pieces {
		e.pieces[i].score = exact.Log(e.pieces[i].score) - exact.Log(total)
	}

	e.first, e.count = make([]int32, len(c.symbols)), make([]uint16, len(c.symbols))
	size := 0
	for i := range c.symbols {
		n := 1
		for d := s.longest[i]; d >= 0; d = s.list[d].parent {
			n++
		}
		e.first[i], e.count[i] = int32(size), uint16(n)
		size += n
	}
	e.nodes = make([]int32, size)
	for i, symbol := range c.symbols {
		piece := single[symbol]
		e.pieces[piece].at = int32(i)
		nodes := e.nodes[e.first[i]:][:e.count[i]]
		nodes[0] = piece
		k := len(nodes) - 1
		for d := s.longest[i]; d >= 0; d = s.list[d].parent {
			nodes[k] = base + d
			k--
		}
	}

	var occurrences int64
	for f, count := range c.counts {
		occurrences += count * int64(c.bounds[f+1]-c.bounds[f])
	}
	e.scale = math.Ldexp(1, min(40, 62-bits.Len64(uint64(occurrences))))
	e.workers = make([]estimatorScratch, parallel.Workers(t.threads))
	e.update()
	return e
}

// lowestScore limits the probabilities of pieces. One piece in 10^16 has a higher score.
const lowestScore = -40

// update sets the values that depend on the pieces and their scores.
func (e *estimator) update() {
	e.minScore, e.maxChars = math.Inf(1), 1
	for i := range e.pieces {
		p := &e.pieces[i]
		p.p = exact.Exp(max(p.score, lowestScore))
		e.minScore = min(e.minScore, p.score)
		e.maxChars = max(e.maxChars, p.chars)
	}
	e.unknown = exact.Exp(max(e.minScore, lowestScore) - unknownPenalty)
}

// perFragment calls f with each fragment on several goroutines and returns the sums of their
// counts.
func (e *estimator) perFragment(f func(sc *estimatorScratch, fragment int)) []int64 {
	parallel.For(e.t.threads, len(e.c.counts), blockFragments, func(worker, lo, hi int) {
		sc := &e.workers[worker]
		if sc.counts == nil {
			sc.counts = make([]int64, len(e.pieces))
		}
		for fragment := lo; fragment < hi; fragment++ {
			f(sc, fragment)
		}
	})
	counts := make([]int64, len(e.pieces))
	for i := range e.workers {
		for j, n := range e.workers[i].counts {
			counts[j] += n
		}
		e.workers[i].counts = nil
	}
	return counts
}

// expect returns the expected counts of the pieces, times e.scale.
func (e *estimator) expect() []int64 {
	// Fragments up to this length have a probability that float64 can represent.
	short := int(700 / -(max(e.minScore, lowestScore) - unknownPenalty))
	return e.perFragment(func(sc *estimatorScratch, fragment int) {
		window := 0
		if int(e.c.bounds[fragment+1]-e.c.bounds[fragment]) > short {
			window = int(e.maxChars)
		}
		e.expectFragment(sc, fragment, window)
	})
}

// nodesAt returns the pieces that begin at symbol i, and whether the symbol itself is one.
func (e *estimator) nodesAt(i int32) (nodes []int32, single bool) {
	nodes = e.nodes[e.first[i]:][:e.count[i]]
	return nodes, len(nodes) > 0 && e.pieces[nodes[0]].chars == 1
}

// expectFragment adds the expected counts of the pieces of a fragment by the forward-backward
// algorithm. With a window, which is needed for a long fragment, it rescales as forward does.
func (e *estimator) expectFragment(sc *estimatorScratch, fragment, window int) {
	lo, hi := e.c.bounds[fragment], e.c.bounds[fragment+1]
	weight := float64(e.c.counts[fragment]) * e.scale
	n := int(hi - lo)
	if n == 1 {
		if e.count[lo] > 0 {
			sc.counts[e.nodes[e.first[lo]]] += int64(weight)
		}
		return
	}
	alpha, exponents := e.forward(sc, lo, n, window)
	weight /= alpha[n]
	// beta[i] is the probability of the symbols from i, times 2 to the power of rescaleBits times
	// exponent, which beta[i] to beta[i+window] share.
	beta := sized(&sc.beta, n+1+window)
	clear(beta[n:])
	beta[n] = 1
	exponent := int32(0)
	for i := n - 1; i >= 0; i-- {
		a := alpha[i] * weight
		nodes, single := e.nodesAt(lo + int32(i))
		b := 0.0
		if !single {
			b = beta[i+1] * e.unknown
		}
		for _, id := range nodes {
			p := &e.pieces[id]
			x := float64(p.p * beta[i+int(p.chars)])
			b += x
			y := float64(a * x)
			if window > 0 {
				shift := exponents[n] - exponents[i] - exponent
				y = float64(math.Ldexp(float64(alpha[i]*x), rescaleBits*int(shift)) * weight)
			}
			sc.counts[id] += int64(y + 0.5)
		}
		beta[i] = b
		for window > 0 && beta[i] < tooSmall {
			for j := i; j < i+window; j++ {
				beta[j] = min(beta[j]*factor, largest)
			}
			exponent++
		}
	}
}

// forward returns the probabilities alpha[i] of the i symbols from lo, for i up to n. With a window
// that exceeds the length of a piece, it multiplies them by 2 to the power of rescaleBits times
// exponents[i].
func (e *estimator) forward(sc *estimatorScratch, lo int32, n, window int) (alpha []float64, exponents []int32) {
	alpha, exponents = sized(&sc.alpha, n+1+window), sized(&sc.exponents, n+1)
	clear(alpha)
	alpha[0] = 1
	exponent := int32(0)
	for i := range n + 1 {
		for window > 0 && alpha[i] < tooSmall && slices.Max(alpha[i:i+window+1]) < tooSmall {
			for j := i; j <= i+window; j++ {
				alpha[j] *= factor
			}
			exponent++
		}
		exponents[i] = exponent
		if i == n {
			break
		}
		a := alpha[i]
		nodes, single := e.nodesAt(lo + int32(i))
		if !single {
			alpha[i+1] += float64(a * e.unknown)
		}
		for _, id := range nodes {
			p := &e.pieces[id]
			alpha[i+int(p.chars)] += float64(a * p.p)
		}
	}
	return alpha, exponents
}

// sized returns the first n elements of *s, which it reallocates if it is shorter.
func sized[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n+n/2)
	}
	return (*s)[:n]
}

// rescaling multiplies probabilities that become too small.
const (
	rescaleBits = 256
	factor      = 0x1p256
	tooSmall    = 0x1p-248
	largest     = 1e300
)

// maximize estimates the probabilities from expected counts, and drops the pieces that hardly
// occur. The digamma function makes rare pieces rarer, as a sparse prior does (Liang and Klein
// 2007, "Structured Bayesian Nonparametric Models with Variational Inference").
func (e *estimator) maximize(counts []int64) {
	const minCount = 0.5
	var sum int64
	keep := make([]bool, len(counts))
	for i, n := range counts {
		if float64(n)/e.scale >= minCount {
			keep[i] = true
			sum += n
		}
	}
	all := digamma(float64(sum) / e.scale)
	const block = 1 << 12
	parallel.For(e.t.threads, len(counts), block, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if keep[i] {
				e.pieces[i].score = digamma(float64(counts[i])/e.scale) - all
			}
		}
	})
	e.keep(keep)
}

// digamma returns the derivative of the logarithm of the gamma function.
func digamma(x float64) float64 {
	y := 0.0
	for ; x < 7; x++ {
		y -= 1 / x
	}
	x -= 0.5
	z := 1 / (x * x)
	series := 31.0/8064 - float64(127.0/30720*z)
	series = -7.0/960 + float64(z*series)
	series = 1.0/24 + float64(z*series)
	return y + exact.Log(x) + float64(z*series)
}

// keep drops the other pieces.
func (e *estimator) keep(keep []bool) {
	to, kept := renumber(keep)
	for i, j := range to {
		if j >= 0 {
			e.pieces[j] = e.pieces[i]
		}
	}
	e.pieces = e.pieces[:kept]
	parallel.For(e.t.threads, len(e.c.counts), blockFragments, func(_, lo, hi int) {
		at, end := e.c.bounds[lo], e.c.bounds[hi]
		for next := e.first[at]; at < end; at++ {
			first := next
			for _, id := range e.nodes[e.first[at]:][:e.count[at]] {
				if id = to[id]; id >= 0 {
					e.nodes[next] = id
					next++
				}
			}
			e.first[at], e.count[at] = first, uint16(next-first)
		}
	})
	e.update()
}

// prune drops pieces until size remain: those that the best segmentations do not have, and those
// that can be replaced with the least loss. It keeps the characters of the best segmentations.
func (e *estimator) prune(size int) {
	counts := e.perFragment(func(sc *estimatorScratch, fragment int) {
		path, _ := e.viterbi(sc, e.c.bounds[fragment], e.c.bounds[fragment+1], noPiece)
		for _, id := range path {
			if id != noPiece {
				sc.counts[id] += e.c.counts[fragment]
			}
		}
	})
	var total int64
	for _, n := range counts {
		total += n
	}
	losses := make([]float64, len(e.pieces))
	const block = 1 << 10
	parallel.For(e.t.threads, len(losses), block, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			losses[i] = e.loss(&e.workers[worker], int32(i), counts, float64(total))
		}
	})
	chars, replaceable := 0, 0
	for _, l := range losses {
		switch {
		case math.IsInf(l, 1):
			chars++
		case !math.IsInf(l, -1):
			replaceable++
		}
	}
	e.keep(highest(losses, min(max(size, chars), chars+replaceable)))
}

// loss returns the decrease of the log likelihood, up to a factor, if a piece is replaced by the
// next best segmentation of its text: -Inf if the piece is in no best segmentation, and +Inf if it
// is a character.
func (e *estimator) loss(sc *estimatorScratch, id int32, counts []int64, total float64) float64 {
	n := float64(counts[id])
	if n == 0 {
		return math.Inf(-1)
	}
	p := &e.pieces[id]
	if p.chars == 1 {
		return math.Inf(1)
	}
	path, score := e.viterbi(sc, p.at, p.at+p.chars, id)
	if score > p.score {
		return math.Inf(-1)
	}
	unknown := 0.0
	for _, i := range path {
		if i == noPiece {
			unknown++
		}
	}
	logAll := exact.Log(total + float64(n*float64(len(path)-1)))
	replaced := unknown * (e.minScore - unknownPenalty)
	for _, i := range path {
		if i != noPiece {
			replaced += exact.Log(float64(counts[i])+n) - logAll
		}
	}
	return n * (exact.Log(n) - exact.Log(total) - replaced)
}

// viterbi returns the best segmentation of the symbols lo to hi-1, without the piece except, from
// its end, and its score. Of equally good segmentations it returns the one with the longest last
// piece.
func (e *estimator) viterbi(sc *estimatorScratch, lo, hi, except int32) (path []int32, score float64) {
	n := hi - lo
	best, last := sized(&sc.best, int(n)+1), sized(&sc.last, int(n)+1)
	for i := range best {
		best[i] = math.Inf(-1)
	}
	best[0] = 0
	unknown := e.minScore - unknownPenalty
	for i := range n {
		nodes, single := e.nodesAt(lo + i)
		if !single {
			if s := best[i] + unknown; s > best[i+1] {
				best[i+1], last[i+1] = s, noPiece
			}
		}
		for _, id := range nodes {
			p := &e.pieces[id]
			end := i + p.chars
			if end > n {
				break
			}
			if s := best[i] + p.score; s > best[end] && id != except {
				best[end], last[end] = s, id
			}
		}
	}
	sc.path = sc.path[:0]
	for at := n; at > 0; {
		id := last[at]
		sc.path = append(sc.path, id)
		if id == noPiece {
			at--
		} else {
			at -= e.pieces[id].chars
		}
	}
	return sc.path, best[n]
}

// final returns the pieces of the vocabulary, those with the highest scores first: all characters,
// and the best other pieces.
func (e *estimator) final(want int) []sentencepiece.Piece {
	c := e.c
	scores := make([]float32, len(c.chars))
	found := make([]bool, len(c.chars))
	var others []sentencepiece.Piece
	for _, p := range e.pieces {
		if p.chars == 1 {
			scores[c.symbols[p.at]], found[c.symbols[p.at]] = float32(p.score), true
		} else {
			others = append(others, sentencepiece.Piece{Text: c.text(c.symbols[p.at : p.at+p.chars]), Score: float32(p.score), Type: sentencepiece.Normal})
		}
	}
	// Characters without a piece have different scores, as in spm_train.
	const step = 0.0001
	pieces := make([]sentencepiece.Piece, 0, want)
	penalty := float32(0)
	for _, symbol := range c.byCount {
		if !found[symbol] {
			scores[symbol] = float32(e.minScore) + penalty
			penalty += step
		}
		pieces = append(pieces, sentencepiece.Piece{Text: string(c.chars[symbol]), Score: scores[symbol], Type: sentencepiece.Normal})
	}
	byScore := func(a, b sentencepiece.Piece) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Text, b.Text))
	}
	slices.SortFunc(others, byScore)
	pieces = append(pieces, others[:min(len(others), want-len(pieces))]...)
	slices.SortFunc(pieces, byScore)
	return pieces
}
