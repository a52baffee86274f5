package decode

import "math/bits"

// source is a source of a State: the keys and values of its tokens, for cross-attention, and those
// of the hypotheses that translate it, for self-attention.
//
// A node is one token of one hypothesis. Hypotheses that begin with the same tokens share nodes, so
// they form a tree. A node has a token of a page and its number is 16 times the index of the page
// plus the index in the page. A hypothesis is the list of its nodes in order of position. So a
// beam is reordered without copying keys or values. Numbers are in no order: a node that no
// hypothesis contains is freed and its number reused at once.
//
// A node has the page of its parent if that has room. Otherwise it shares a new page with its
// siblings. So the nodes of a hypothesis are in few pages, although those of others fill pages too.
type source struct {
	added    bool
	stepping bool        // it has rows in a step, which is not complete
	tokens   int         // of the source, with EOS
	cross    []page      // keys and values of the source
	list     *outputList // of pieces with logits; nil for all

	pages []page   // keys and values of nodes; nil if none of a page's nodes is used
	used  []uint16 // of each page: a bit for each node in use
	refs  []int32  // of each node: its children, plus 1 if it is the last of a current hypothesis

	hyps, nextHyps []nodeList // hypotheses of the last step; those of the current step
	childPages     []int32    // of each hypothesis of the last step: page of its newest child
}

// nodeList lists the nodes of a hypothesis.
type nodeList []int32

// A step of a source calls keep for each row, then discard once, then extend for each row, then
// advance once.

// keep protects the nodes of a hypothesis of the last step, which a row continues, from discard.
func (s *source) keep(parent int32) {
	list := s.hyps[parent]
	s.refs[list[len(list)-1]]++
}

// discard frees the nodes of the hypotheses of the last step, except those protected by keep.
func (s *source) discard(pool *pagePool) {
	for _, list := range s.hyps {
		for i := len(list) - 1; i >= 0; i-- {
			node := list[i]
			s.refs[node]--
			if s.refs[node] > 0 {
				break
			}
			p := node / pageTokens
			s.used[p] &^= 1 << (node % pageTokens)
			if s.used[p] == 0 {
				pool.put(s.pages[p])
				s.pages[p] = nil
			}
		}
	}
}

// extend adds a hypothesis to those of the current step and returns its nodes. It continues
// hypothesis parent of the last step by one token, or begins if parent is -1.
func (s *source) extend(pool *pagePool, parent int32) nodeList {
	n := len(s.nextHyps)
	if n < cap(s.nextHyps) {
		s.nextHyps = s.nextHyps[:n+1] // keeps the memory of its list
	} else {
		s.nextHyps = append(s.nextHyps, nil)
	}
	list := s.nextHyps[n][:0]
	var node int32
	if parent < 0 {
		node = s.newNode(s.pageWithRoom(pool))
	} else {
		if old := s.hyps[parent]; cap(list) <= len(old) {
			list = make(nodeList, 0, 2*len(old)+pageTokens)
		}
		list = append(list, s.hyps[parent]...)
		if s.isFull(s.childPages[parent]) {
			s.childPages[parent] = s.newPage(pool)
		}
		node = s.newNode(s.childPages[parent])
	}
	list = append(list, node)
	s.nextHyps[n] = list
	return list
}

// advance ends a step: its hypotheses are those of the last step.
func (s *source) advance() {
	s.hyps, s.nextHyps, s.childPages = s.nextHyps, s.hyps[:0], s.childPages[:0]
	for _, list := range s.hyps {
		s.childPages = append(s.childPages, list[len(list)-1]/pageTokens)
	}
}

// newNode returns a new node in a page that is not full.
func (s *source) newNode(page int32) int32 {
	lane := bits.TrailingZeros16(^s.used[page])
	s.used[page] |= 1 << lane
	node := page*pageTokens + int32(lane)
	s.refs[node] = 1
	return node
}

func (s *source) isFull(page int32) bool { return s.used[page] == 1<<pageTokens-1 }

// pageWithRoom returns a page that is not full.
func (s *source) pageWithRoom(pool *pagePool) int32 {
	for i, p := range s.pages {
		if p != nil && !s.isFull(int32(i)) {
			return int32(i)
		}
	}
	return s.newPage(pool)
}

// newPage adds a page to the source and returns its index.
func (s *source) newPage(pool *pagePool) int32 {
	for i := range s.pages {
		if s.pages[i] == nil {
			s.pages[i] = pool.get()
			return int32(i)
		}
	}
	s.pages, s.used = append(s.pages, pool.get()), append(s.used, 0)
	for range pageTokens {
		s.refs = append(s.refs, 0)
	}
	return int32(len(s.pages) - 1)
}

// clear frees all pages.
func (s *source) clear(pool *pagePool) {
	for _, p := range s.pages {
		if p != nil {
			pool.put(p)
		}
	}
	for _, p := range s.cross {
		pool.put(p)
	}
	clear(s.pages)
	clear(s.cross)
	s.added, s.list = false, nil
	s.cross, s.pages, s.used, s.refs = s.cross[:0], s.pages[:0], s.used[:0], s.refs[:0]
	s.hyps, s.nextHyps, s.childPages = s.hyps[:0], s.nextHyps[:0], s.childPages[:0]
}
