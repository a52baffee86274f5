package sentencepiece

import (
	"cmp"
	"fmt"
	"slices"

	"tfm/text/tokenizer/sentencepiece/internal/charsmap"
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
	placer := charsmap.NewPlacer()
	for i := range uint32(255) {
		placer.Take(i + 1)
	}
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
		base := placer.Place(labels, maxTries)
		if placer.Len() > maxTrieNodes {
			return trie{}, fmt.Errorf("pieces need a trie of more than %d nodes", maxTrieNodes)
		}
		for len(nodes) < placer.Len() {
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
