package train

import (
	"cmp"
	"math/bits"
	"slices"

	"tfm/text/internal/parallel"
)

// seeds are the possible pieces of more than one character, and where they begin.
//
// As in spm_train they are the strings that occur before two different characters, that is the
// inner nodes of the suffix tree of the texts. A suffix here ends where the longest piece that
// begins there would end, which limits the time of sorting on any text. Each suffix counts as often
// as its fragment occurs.
type seeds struct {
	list []seed
	// longest has the index of the longest seed that begins at each symbol of the corpus, or
	// -1.
	longest []int32
}

// seed is a string of two or more characters.
type seed struct {
	at     int32 // index in corpus.symbols of an occurrence
	chars  int32
	count  int64
	parent int32 // longest seed that is a prefix of this one, or -1
}

// score returns the number of characters of all occurrences.
func (s *seed) score() int64 { return s.count * int64(s.chars) }

// findSeeds returns up to limit seeds, those of the highest scores.
func (t *Trainer) findSeeds(c *corpus, limit int) *seeds {
	// Suffixes by their first symbol.
	n := len(c.symbols)
	starts := make([]int32, len(c.chars)+1)
	for _, symbol := range c.symbols {
		starts[symbol+1]++
	}
	for i := range c.chars {
		starts[i+1] += starts[i]
	}
	order, next := make([]int32, n), slices.Clone(starts)
	fragmentOf := make([]int32, n)
	for f := range c.counts {
		for i := c.bounds[f]; i < c.bounds[f+1]; i++ {
			fragmentOf[i] = int32(f)
			symbol := c.symbols[i]
			order[next[symbol]] = i
			next[symbol]++
		}
	}

	s := &seeds{longest: make([]int32, n)}
	lists := make([][]seed, len(c.chars))
	finders := make([]seedFinder, parallel.Workers(t.threads))
	parallel.For(t.threads, len(c.chars), 1, func(worker, symbol, _ int) {
		f := &finders[worker]
		f.corpus, f.fragmentOf, f.longest = c, fragmentOf, s.longest
		lists[symbol] = f.find(order[starts[symbol]:starts[symbol+1]])
	})
	for symbol, list := range lists {
		base := int32(len(s.list))
		for _, i := range order[starts[symbol]:starts[symbol+1]] {
			if s.longest[i] >= 0 {
				s.longest[i] += base
			}
		}
		for _, d := range list {
			if d.parent >= 0 {
				d.parent += base
			}
			s.list = append(s.list, d)
		}
		lists[symbol] = nil
	}
	s.keep(limit)
	return s
}

// keep drops all seeds except those of the highest scores.
func (s *seeds) keep(limit int) {
	if len(s.list) <= limit {
		return
	}
	scores := make([]int64, len(s.list))
	for i := range s.list {
		scores[i] = s.list[i].score()
	}
	to, kept := renumber(highest(scores, limit))
	// A prefix has a higher index.
	nearest := make([]int32, len(s.list)) // the longest kept prefix
	for i := len(s.list) - 1; i >= 0; i-- {
		parent := s.list[i].parent
		if parent >= 0 {
			parent = nearest[parent]
		}
		nearest[i] = parent
		if to[i] >= 0 {
			nearest[i] = to[i]
			s.list[i].parent = parent
		}
	}
	for i, l := range s.longest {
		if l >= 0 {
			s.longest[i] = nearest[l]
		}
	}
	for i, j := range to {
		if j >= 0 {
			s.list[j] = s.list[i]
		}
	}
	s.list = slices.Clip(s.list[:kept])
}

// highest returns which elements are the limit highest, and of equal ones the first.
func highest[T cmp.Ordered](scores []T, limit int) []bool {
	order := make([]int32, len(scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), int(a-b))
	})
	keep := make([]bool, len(scores))
	for _, i := range order[:limit] {
		keep[i] = true
	}
	return keep
}

// renumber returns the new index of each element, or -1 if it is not kept, and the number of those
// kept.
func renumber(keep []bool) (to []int32, kept int32) {
	to = make([]int32, len(keep))
	for i, k := range keep {
		to[i] = -1
		if k {
			to[i] = kept
			kept++
		}
	}
	return to, kept
}

// seedFinder finds the seeds that begin with one symbol.
type seedFinder struct {
	corpus     *corpus
	fragmentOf []int32
	longest    []int32

	suffixes []suffix
	stack    []seedNode
	orphans  []int32 // seeds and suffixes, as ^at, without a prefix among the seeds so far
	list     []seed
}

// suffix is the text from a symbol to the end of the longest piece.
type suffix struct {
	key uint64 // the first symbols, without the one that all share
	at  int32
	n   int32 // symbols
}

// seedNode is a node of the suffix tree.
type seedNode struct {
	n       int32 // symbols from the root
	at      int32 // an occurrence
	count   int64
	next    nextChar
	orphans int // length of seedFinder.orphans before the node
}

// find returns the seeds that begin at the symbols starts.
func (f *seedFinder) find(starts []int32) []seed {
	c := f.corpus
	width := bits.Len(uint(len(c.chars))) // of a symbol plus 1
	inKey := 64 / width
	f.suffixes = f.suffixes[:0]
	for _, at := range starts {
		f.longest[at] = -1
		end := c.bounds[f.fragmentOf[at]+1]
		state, _ := pieceState{}.extend(c.classes[c.symbols[at]])
		n, key, shift := int32(1), uint64(0), 64
		for i := at + 1; i < end; i++ {
			var ok bool
			if state, ok = state.extend(c.classes[c.symbols[i]]); !ok {
				break
			}
			n++
			if shift -= width; shift >= 0 {
				key |= uint64(c.symbols[i]+1) << shift
			}
		}
		if n > 1 {
			f.suffixes = append(f.suffixes, suffix{key, at, n})
		}
	}
	f.sort(inKey)
	f.list, f.stack, f.orphans = nil, f.stack[:0], f.orphans[:0]
	for i := range f.suffixes {
		s := &f.suffixes[i]
		common := int32(0)
		if i > 0 {
			common = f.common(&f.suffixes[i-1], s, width, inKey)
		}
		f.close(common)
		if common < s.n {
			f.stack = append(f.stack, seedNode{n: s.n, at: s.at, next: noNext, orphans: len(f.orphans)})
		}
		top := &f.stack[len(f.stack)-1]
		top.count += c.counts[f.fragmentOf[s.at]]
		if end := s.at + s.n; end < c.bounds[f.fragmentOf[s.at]+1] {
			top.next.follow(nextChar(c.chars[c.symbols[end]]))
		} else {
			top.next.follow(c.next[f.fragmentOf[s.at]])
		}
		f.orphans = append(f.orphans, ^s.at)
	}
	f.close(0)
	return f.list
}

// sort sorts the suffixes. Their keys hold the inKey symbols after the first one.
func (f *seedFinder) sort(inKey int) {
	symbols, known := f.corpus.symbols, int32(1+inKey)
	slices.SortFunc(f.suffixes, func(a, b suffix) int {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			return c
		}
		return slices.Compare(symbols[a.at+min(a.n, known):a.at+a.n], symbols[b.at+min(b.n, known):b.at+b.n])
	})
}

// common returns the number of symbols that two suffixes have in common.
func (f *seedFinder) common(a, b *suffix, width, inKey int) int32 {
	n := min(a.n, b.n)
	if different := a.key ^ b.key; different != 0 {
		return min(n, int32(1+bits.LeadingZeros64(different)/width))
	}
	symbols := f.corpus.symbols
	for k := min(n, int32(1+inKey)); k < n; k++ {
		if symbols[a.at+k] != symbols[b.at+k] {
			return k
		}
	}
	return n
}

// close ends the nodes on the stack of more than n symbols. If one of them continued a string of n
// symbols, a node of n symbols is on top afterwards, unless n is 0.
func (f *seedFinder) close(n int32) {
	for len(f.stack) > 0 && f.stack[len(f.stack)-1].n > n {
		d := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.addSeed(&d)
		above := n
		if len(f.stack) > 0 {
			above = max(above, f.stack[len(f.stack)-1].n)
		}
		if above == 0 {
			continue
		}
		if len(f.stack) == 0 || f.stack[len(f.stack)-1].n < above {
			f.stack = append(f.stack, seedNode{n: above, at: d.at, next: noNext, orphans: d.orphans})
		}
		parent := &f.stack[len(f.stack)-1]
		parent.count += d.count
		parent.next.follow(nextChar(f.corpus.chars[f.corpus.symbols[d.at+above]]))
	}
}

// addSeed adds the string of a node if it is a seed.
func (f *seedFinder) addSeed(d *seedNode) {
	if d.n < 2 || d.next != manyNexts {
		return
	}
	i := int32(len(f.list))
	f.list = append(f.list, seed{at: d.at, chars: d.n, count: d.count, parent: -1})
	for _, orphan := range f.orphans[d.orphans:] {
		if orphan < 0 {
			f.longest[^orphan] = i
		} else {
			f.list[orphan].parent = i
		}
	}
	f.orphans = append(f.orphans[:d.orphans], i)
}
