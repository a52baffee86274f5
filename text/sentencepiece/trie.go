package sentencepiece

import (
	"fmt"
	"slices"
)

// trie is a map from byte strings to ids whose entries are prefixes of a text. It is a double
// array: the child of a node by byte c has index base XOR c, and holds c to tell it from the
// children of other nodes. The zero value has no entries.
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
	if len(entries) == 0 {
		return trie{}, nil
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.text < b.text {
			return -1
		}
		return 1
	})
	var b trieBuilder
	b.grow()
	b.grow()
	type subtree struct {
		node          int32
		lo, hi, depth int // entries that begin with the bytes that lead to node
	}
	stack := []subtree{{0, 0, len(entries), 0}}
	var labels []byte
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if e := entries[t.lo]; len(e.text) == t.depth {
			b.nodes[t.node].id, b.nodes[t.node].score = e.id, e.score
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
		base, err := b.place(labels)
		if err != nil {
			return trie{}, err
		}
		b.nodes[t.node].link |= uint32(base) << linkShift
		for lo := t.lo; lo < t.hi; {
			c := entries[lo].text[t.depth]
			hi := lo + 1
			for hi < t.hi && entries[hi].text[t.depth] == c {
				hi++
			}
			child := base ^ int32(c)
			b.nodes[child].link = linkUsed | uint32(c)
			stack = append(stack, subtree{child, lo, hi, t.depth + 1})
			lo = hi
		}
	}
	return trie{slices.Clip(b.nodes)}, nil
}

// trieBuilder places nodes. The free ones after block 0 form a circular list that node 0 begins.
type trieBuilder struct {
	nodes      []trieNode
	next, prev []int32
	isBase     []bool
}

// grow adds a block of 256 free nodes.
func (b *trieBuilder) grow() {
	start := int32(len(b.nodes))
	for i := start; i < start+256; i++ {
		b.nodes = append(b.nodes, trieNode{id: -1})
		b.next, b.prev, b.isBase = append(b.next, 0), append(b.prev, 0), append(b.isBase, false)
		if start > 0 {
			last := b.prev[0]
			b.next[last], b.prev[i] = i, last
			b.next[i], b.prev[0] = 0, i
		}
	}
}

// place takes a free node for each of the bytes, which are sorted, and returns their base.
func (b *trieBuilder) place(bytes []byte) (int32, error) {
	const maxTries = 64 // more tries save little memory
	base, found := int32(0), false
	for f, tries := b.next[0], 0; f != 0 && tries < maxTries; f, tries = b.next[f], tries+1 {
		if base = f ^ int32(bytes[0]); !b.isBase[base] && b.isFree(base, bytes[1:]) {
			found = true
			break
		}
	}
	if !found {
		base = int32(len(b.nodes))
		if base+256 > maxTrieNodes {
			return 0, fmt.Errorf("pieces need a trie of more than %d nodes", maxTrieNodes)
		}
		b.grow()
	}
	b.isBase[base] = true
	for _, c := range bytes {
		i := base ^ int32(c)
		b.next[b.prev[i]], b.prev[b.next[i]] = b.next[i], b.prev[i]
		b.next[i] = i // not free
	}
	return base, nil
}

// isFree reports whether the children of base by bytes are free.
func (b *trieBuilder) isFree(base int32, bytes []byte) bool {
	for _, c := range bytes {
		if i := base ^ int32(c); b.next[i] == i {
			return false
		}
	}
	return true
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
	if len(t.nodes) == 0 {
		return 0, id
	}
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
