package decode

import "math/bits"

// sourceSet holds the sources of a State.
type sourceSet struct {
	encoded []*encodedSource // by handle
	removed []int32          // handles that the next sources get
	pages   pagePool
	cells   cellStates  // of hypotheses, in the place of pages, in a model with SSRUs
	lists   outputLists // of the sources
}

// add returns the handle of a new source with pages for its tokens.
func (s *sourceSet) add(tokens int) int32 {
	var h int32
	if n := len(s.removed); n > 0 {
		h, s.removed = s.removed[n-1], s.removed[:n-1]
	} else {
		h, s.encoded = int32(len(s.encoded)), append(s.encoded, new(encodedSource))
	}
	src := s.encoded[h]
	src.isAdded, src.tokens = true, tokens
	for n := 0; n < tokens; n += pageTokens {
		src.cross = append(src.cross, s.pages.get())
	}
	return h
}

func (s *sourceSet) valid(handle int32) bool {
	return handle >= 0 && int(handle) < len(s.encoded) && s.encoded[handle].isAdded
}

func (s *sourceSet) remove(handle int32) {
	src := s.encoded[handle]
	s.lists.put(src.list)
	if s.cells.layers > 0 {
		s.cells.put(&src.tree, src.tails)
	}
	src.clear(&s.pages)
	s.removed = append(s.removed, handle)
}

// encodedSource is a source with keys and values: of its tokens, for cross-attention, and of the
// hypotheses that translate it, for self-attention.
//
// The nodes of live hypotheses have keys and values, which hypotheses share with the nodes. So a
// beam is reordered without copying keys or values. A node has a lane: 16 times the index of a page
// plus the index of the token in the page. Lanes are in no order: that of a node that no live
// hypothesis contains is freed and used again at once.
//
// A node has the page of its parent if that has room. Otherwise it shares a new page with its
// siblings. So the nodes of a hypothesis are in few pages, although those of others fill pages too.
type encodedSource struct {
	tree
	isAdded  bool
	stepping bool        // it has rows in a step, which is not complete
	list     *outputList // of pieces with logits; nil for all
	tokens   int         // with EOS
	cross    []page      // of the source

	pages []page   // of nodes; nil if none of a page's lanes is used
	used  []uint16 // of each page: a bit for each lane in use

	tails, nextTails []int32 // last nodes of the rows of the last step; of the current step
}

// A step of a source calls keep for each row, then discard once, then extend for each row, then
// advance once.

// keep protects the nodes before the last of a row's hypothesis from discard.
func (c *encodedSource) keep(tail int32) {
	if parent := c.nodes[tail].parent; parent >= 0 {
		c.nodes[parent].refs++
	}
}

// discard frees the lanes of the hypotheses of the last step, except those protected by keep.
func (c *encodedSource) discard(pool *pagePool) {
	for _, i := range c.tails {
		for ; i >= 0; i = c.nodes[i].parent {
			n := &c.nodes[i]
			if n.refs--; n.refs > 0 {
				break
			}
			p := n.lane / pageTokens
			c.used[p] &^= 1 << (n.lane % pageTokens)
			if n.lane = -1; c.used[p] == 0 {
				pool.put(c.pages[p])
				c.pages[p] = nil
			}
		}
	}
}

// extend gives the last node of a row's hypothesis a lane.
func (c *encodedSource) extend(pool *pagePool, tail int32) {
	n := &c.nodes[tail]
	var page int32
	if n.parent < 0 {
		page = c.pageWithRoom(pool)
	} else {
		parent := &c.nodes[n.parent]
		if c.isFull(parent.childPage) {
			parent.childPage = c.newPage(pool)
		}
		page = parent.childPage
	}
	lane := int32(bits.TrailingZeros16(^c.used[page]))
	c.used[page] |= 1 << lane
	n.lane, n.refs, n.childPage = page*pageTokens+lane, 1, page
	c.nextTails = append(c.nextTails, tail)
}

// advance ends a step: its rows are those of the last step.
func (c *encodedSource) advance() { c.tails, c.nextTails = c.nextTails, c.tails[:0] }

// lanes sets list to the lanes of a hypothesis, one for each of its nodes, in order of position.
func (c *encodedSource) lanes(list []int32, tail int32) {
	for i := len(list) - 1; i >= 0; i-- {
		list[i], tail = c.nodes[tail].lane, c.nodes[tail].parent
	}
}

func (c *encodedSource) isFull(page int32) bool { return c.used[page] == 1<<pageTokens-1 }

// pageWithRoom returns a page that is not full.
func (c *encodedSource) pageWithRoom(pool *pagePool) int32 {
	for i, p := range c.pages {
		if p != nil && !c.isFull(int32(i)) {
			return int32(i)
		}
	}
	return c.newPage(pool)
}

// newPage adds a page to the source and returns its index.
func (c *encodedSource) newPage(pool *pagePool) int32 {
	for i := range c.pages {
		if c.pages[i] == nil {
			c.pages[i] = pool.get()
			return int32(i)
		}
	}
	c.pages, c.used = append(c.pages, pool.get()), append(c.used, 0)
	return int32(len(c.pages) - 1)
}

// clear frees all pages.
func (c *encodedSource) clear(pool *pagePool) {
	for _, p := range c.pages {
		if p != nil {
			pool.put(p)
		}
	}
	for _, p := range c.cross {
		pool.put(p)
	}
	clear(c.pages)
	clear(c.cross)
	*c = encodedSource{
		tree: tree{nodes: c.nodes[:0]}, cross: c.cross[:0], pages: c.pages[:0], used: c.used[:0],
		tails: c.tails[:0], nextTails: c.nextTails[:0],
	}
}
