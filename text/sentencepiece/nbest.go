package sentencepiece

import (
	"fmt"
	"math"
	"math/rand/v2"
	"unicode/utf8"
)

// Segmentation is one of several segmentations of a text.
type Segmentation struct {
	IDs   []int32
	Score float32 // sum of the scores of a unigram model; 0 for the others
}

const (
	maxNBest     = 1024
	agendaLimit  = 10000 // partial segmentations above which all except the best are discarded
	agendaShrunk = 512
)

// NBest returns the n best segmentations of s, best first, or fewer if s has fewer. Only a unigram
// model has more than one. n is limited to 1024, as by sentencepiece. NBest panics if n is less
// than 1.
func (t *Tokenizer) NBest(s string, n int) []Segmentation {
	if n < 1 {
		panic(fmt.Sprintf("sentencepiece: NBest(%d), expected at least 1", n))
	}
	sc := t.scratch.Get().(*scratch)
	defer t.release(sc)
	sc.normal = t.normalizer.normalize(sc.normal[:0], nil, s)
	segmentation := func(segments []segment, score float32) Segmentation {
		ids := t.appendIDs(nil, 0, segments, sc.normal)
		t.renumber(ids)
		return Segmentation{ids, score}
	}
	if t.unigram == nil || n == 1 {
		sc.segments = t.segmenter.segment(sc.segments[:0], sc.normal, sc)
		score := float32(0)
		if t.unigram != nil {
			score = sc.unigram.best[len(sc.normal)].score
		}
		return []Segmentation{segmentation(sc.segments, score)}
	}
	var out []Segmentation
	t.unigram.nBest(sc.normal, min(n, maxNBest), func(segments []segment, score float32) {
		out = append(out, segmentation(segments, score))
	})
	return out
}

// SampleNBest appends one of the n best segmentations of s, drawn with a probability proportional
// to exp(alpha * its score). It panics if n is less than 1, or if alpha is negative, infinite or
// NaN.
func (t *Tokenizer) SampleNBest(dst []int32, s string, n int, alpha float64, random *rand.PCG) []int32 {
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		panic(fmt.Sprintf("sentencepiece: alpha %v, expected at least 0", alpha))
	}
	best := t.NBest(s, n)
	weight := func(b Segmentation) scaled { return exp(float64(alpha * float64(b.Score-best[0].Score))) }
	var total, sum scaled
	for _, b := range best {
		total = total.add(weight(b))
	}
	draw := scaled{float64(random.Uint64()>>11) * 0x1p-53, 0}.mul(total)
	for _, b := range best {
		if sum = sum.add(weight(b)); draw.less(sum) {
			return append(dst, b.IDs...)
		}
	}
	return append(dst, best[len(best)-1].IDs...)
}

// latticeNode is a piece at a position of a text.
type latticeNode struct {
	segment
	start       int32
	score, best float32 // of the piece, and of the best segmentation that ends with it
}

// partial is a segmentation of a suffix of the text, for A* search. Its estimate is exact.
type partial struct {
	node             int32 // the first piece, or an end of the text
	next             int32 // partial of the remaining pieces
	score, estimated float32
}

// nBest calls f for each of the n best segmentations of s. Like sentencepiece, it rounds sums to
// float32, and takes partial segmentations of equal estimates in the order of a binary heap.
func (u *unigram) nBest(s []byte, n int, f func([]segment, float32)) {
	if len(s) == 0 {
		f(nil, 0)
		return
	}
	// Nodes in the order of their starts; ending lists them by their ends.
	nodes := []latticeNode{{}} // the beginning of the text
	ending := make([][]int32, len(s)+1)
	ending[0] = []int32{0}
	for start := 0; start < len(s); {
		before := bestEnding(nodes, ending[start])
		charLen := min(charLen(s[start]), len(s)-start)
		u.edges(s, start, charLen, func(id int32, length int, score float32) {
			if u.pieces[id].Type == UserDefined {
				score = u.userDefinedScore(utf8.RuneCount(s[start : start+length]))
			}
			ending[start+length] = append(ending[start+length], int32(len(nodes)))
			nodes = append(nodes, latticeNode{segment{id, int32(length)}, int32(start), score, before + score})
		})
		start += charLen
	}
	end := int32(len(nodes))
	total := bestEnding(nodes, ending[len(s)])
	nodes = append(nodes, latticeNode{start: int32(len(s)), best: total})

	partials := []partial{{node: end, next: none, estimated: total}}
	var agenda agenda
	agenda.push(partials, 0)
	var segments []segment
	maxPartials := agendaLimit // above which those that the agenda does not need are discarded
	for found := 0; len(agenda) > 0 && found < n; {
		top := agenda.pop(partials)
		p := partials[top]
		if p.node == 0 {
			segments = segments[:0]
			for next := p.next; partials[next].node != end; next = partials[next].next {
				segments = append(segments, nodes[partials[next].node].segment)
			}
			f(segments, p.estimated)
			found++
			continue
		}
		for _, left := range ending[nodes[p.node].start] {
			l := nodes[left]
			partials = append(partials, partial{left, top, l.score + p.score, l.best + p.score})
			agenda.push(partials, int32(len(partials)-1))
		}
		if len(agenda) >= agendaLimit {
			kept := agenda[:0:0]
			for range min(agendaShrunk, 10*n) {
				kept.push(partials, agenda.pop(partials))
			}
			agenda = kept
		}
		if len(partials) > maxPartials {
			partials = agenda.discardOthers(partials)
			maxPartials = agendaLimit + 2*len(partials)
		}
	}
}

// bestEnding returns the largest best of the nodes of ending.
func bestEnding(nodes []latticeNode, ending []int32) float32 {
	best := nodes[ending[0]].best
	for _, i := range ending[1:] {
		best = max(best, nodes[i].best)
	}
	return best
}

// agenda is a heap of indices of partials, the largest estimate first. It moves elements as C++'s
// std::push_heap and std::pop_heap usually do, so that ties have the same order.
type agenda []int32

// discardOthers returns the partials that those of a need, and numbers a accordingly.
func (a agenda) discardOthers(partials []partial) []partial {
	renumbered := make([]int32, len(partials)) // 1 marks a needed one
	for _, i := range a {
		for ; i != none && renumbered[i] == 0; i = partials[i].next {
			renumbered[i] = 1
		}
	}
	kept := int32(0)
	for i, p := range partials {
		if renumbered[i] == 0 {
			continue
		}
		if p.next != none {
			p.next = renumbered[p.next] // which is before i
		}
		partials[kept], renumbered[i] = p, kept
		kept++
	}
	for i, p := range a {
		a[i] = renumbered[p]
	}
	return partials[:kept]
}

func (a *agenda) push(partials []partial, x int32) {
	*a = append(*a, x)
	a.up(partials, len(*a)-1, x)
}

// up stores x at hole or above.
func (a agenda) up(partials []partial, hole int, x int32) {
	for hole > 0 {
		parent := (hole - 1) / 2
		if !(partials[a[parent]].estimated < partials[x].estimated) {
			break
		}
		a[hole] = a[parent]
		hole = parent
	}
	a[hole] = x
}

func (a *agenda) pop(partials []partial) int32 {
	h := *a
	top, x := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*a = h
	if len(h) == 0 {
		return top
	}
	// The hole sinks to the bottom before x rises from there.
	hole := 0
	for 2*hole+2 < len(h) {
		child := 2*hole + 2
		if partials[h[child]].estimated < partials[h[child-1]].estimated {
			child--
		}
		h[hole] = h[child]
		hole = child
	}
	if 2*hole+2 == len(h) {
		h[hole] = h[2*hole+1]
		hole = 2*hole + 1
	}
	h.up(partials, hole, x)
	return top
}
