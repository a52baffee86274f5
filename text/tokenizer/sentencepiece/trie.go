package sentencepiece

import (
	"cmp"
	"fmt"
	"slices"
)

// trie is a map from byte strings to ids whose entries are prefixes of a text. It is a double
// array: the child of a node by byte c has index base XOR c, and holds c to tell it from the
// children of other nodes.
//
// Nodes of one block of 256 have bases in that block. Node 0 is the root. The other nodes of block
// 0 are free, so that 0 is the base of nodes without children.
type trie struct{ nodes []trieNode }

// trieNode is a node of a trie.
type trieNode struct {
	// link is base<<9 | used<<8 | the byte that leads to the node. used is 0 for the root and
	// for free nodes.
	link  uint32
	id    int32   // of the entry that ends here, or -1
	score float32 // of id
}

const (
	linkShift    = 9
	linkUsed     = 1 << 8
	linkByte     = linkUsed | 0xFF
	maxTrieNodes = 1 << (32 - linkShift)
)

// entry is a string of a trie.
type entry struct {
	text  string
	id    int32
	score float32
}

// newTrie returns a trie of entries, which it sorts. Their texts must be distinct and not empty.
func newTrie(entries []entry) (trie, error) {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.text, b.text) })
	nodes := slices.Repeat([]trieNode{{id: -1}}, 256)
	placer := newPlacer()
	type subtree struct {
		node          uint32
		lo, hi, depth int // entries that begin with the bytes that lead to node
	}
	stack := []subtree{{0, 0, len(entries), 0}}
	var labels []byte
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.lo < t.hi && len(entries[t.lo].text) == t.depth {
			nodes[t.node].id, nodes[t.node].score = entries[t.lo].id, entries[t.lo].score
			t.lo++
		}
		if t.lo == t.hi {
			continue
		}
		labels = labels[:0]
		for _, e := range entries[t.lo:t.hi] {
			if c := e.text[t.depth]; len(labels) == 0 || labels[len(labels)-1] != c {
				labels = append(labels, c)
			}
		}
		const maxTries = 64 // more tries save little memory
		base := placer.place(labels, maxTries)
		if len(placer.next) > maxTrieNodes {
			return trie{}, fmt.Errorf("pieces need a trie of more than %d nodes", maxTrieNodes)
		}
		for len(nodes) < len(placer.next) {
			nodes = append(nodes, trieNode{id: -1})
		}
		nodes[t.node].link |= base << linkShift
		for lo := t.lo; lo < t.hi; {
			c := entries[lo].text[t.depth]
			hi := lo + 1
			for hi < t.hi && entries[hi].text[t.depth] == c {
				hi++
			}
			child := base ^ uint32(c)
			nodes[child].link = linkUsed | uint32(c)
			stack = append(stack, subtree{child, lo, hi, t.depth + 1})
			lo = hi
		}
	}
	return trie{slices.Clip(nodes)}, nil
}

// child returns the child of n by c, or nil.
func (t *trie) child(n *trieNode, c byte) *trieNode {
	m := &t.nodes[n.link>>linkShift^uint32(c)]
	if m.link&linkByte != linkUsed|uint32(c) {
		return nil
	}
	return m
}

// longest returns the length and the id of the longest entry that s begins with, or 0 and -1.
func (t *trie) longest(s []byte) (length int, id int32) {
	id = -1
	n := &t.nodes[0]
	for i, c := range s {
		if n = t.child(n, c); n == nil {
			break
		}
		if n.id >= 0 {
			length, id = i+1, n.id
		}
	}
	return length, id
}

// placer assigns the nodes of a trie in blocks of 256. The free nodes form a circular list in
// ascending order, which node 0 begins. Those of block 0 are not assigned.
type placer struct {
	next, prev []uint32 // next[i] is i if node i is not free
	isBase     []bool
}

func newPlacer() *placer {
	p := &placer{prev: make([]uint32, 256), isBase: make([]bool, 256)}
	for i := range uint32(256) {
		p.next = append(p.next, i)
	}
	return p
}

// place takes a free node for each label and returns their base, which has no other children. It
// tries up to maxTries free nodes for the first label, then adds a block.
func (p *placer) place(labels []byte, maxTries int) uint32 {
	base := uint32(len(p.next))
	for f := p.next[0]; f != 0 && maxTries > 0; f, maxTries = p.next[f], maxTries-1 {
		if b := f ^ uint32(labels[0]); p.fits(b, labels) {
			base = b
			break
		}
	}
	if int(base) == len(p.next) {
		p.grow()
	}
	p.isBase[base] = true
	for _, c := range labels {
		i := base ^ uint32(c)
		p.next[p.prev[i]], p.prev[p.next[i]] = p.next[i], p.prev[i]
		p.next[i] = i
	}
	return base
}

// fits reports whether a base has no children and the nodes of labels are free.
func (p *placer) fits(base uint32, labels []byte) bool {
	taken := func(c byte) bool { return p.next[base^uint32(c)] == base^uint32(c) }
	return !p.isBase[base] && !slices.ContainsFunc(labels, taken)
}

// grow adds a block of free nodes.
func (p *placer) grow() {
	start := uint32(len(p.next))
	for i := start; i < start+256; i++ {
		last := p.prev[0]
		p.next, p.prev, p.isBase = append(p.next, 0), append(p.prev, last), append(p.isBase, false)
		p.next[last], p.prev[0] = i, i
	}
}
