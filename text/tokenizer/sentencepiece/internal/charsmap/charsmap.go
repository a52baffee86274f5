package charsmap

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Map is a decoded precompiled_charsmap. The encoding holds the size of a trie in 32 bits, the
// trie, and the replacements, each followed by a NUL. The trie is the double array of Darts-clone,
// in which a node has 32 bits:
//
//	0-7    the byte that leads to the node
//	8      whether an entry ends here
//	9      whether to shift the offset by 8
//	10-30  offset: the child by byte c is this node's index XOR offset XOR c
//	31     0
//
// If an entry ends at a node, its child by byte 0 holds its value, the offset of the replacement,
// with bit 31 set. Node 0 is the root.
type Map struct {
	nodes []uint32
	texts string
}

const (
	// maxReplacement is the limit of a replacement in bytes. Unicode's longest has 33.
	maxReplacement = 256
	// valueBit marks a node with a value.
	valueBit = 1 << 31
)

// hasValue reports whether an entry ends at a node.
func hasValue(node uint32) bool { return node>>8&1 == 1 }

// nodeOffset returns the offset of a node.
func nodeOffset(node uint32) uint32 { return node >> 10 << (node & (1 << 9) >> 6) }

// Unmarshal decodes a map. An empty one is the identity. Untrusted data is safe: no path of the
// trie leaves it or is cyclic, and no replacement is longer than maxReplacement.
func Unmarshal(data []byte) (c Map, err error) {
	if len(data) == 0 {
		return c, nil
	}
	const sizeLen = 4
	if len(data) < sizeLen {
		return c, fmt.Errorf("found %d bytes, expected at least %d", len(data), sizeLen)
	}
	size := uint64(binary.LittleEndian.Uint32(data))
	if rest := uint64(len(data) - sizeLen); size > rest || size%4 != 0 || size == 0 {
		return c, fmt.Errorf("found a trie of %d bytes, expected a multiple of 4 from 4 to %d", size, rest)
	}
	c.nodes = make([]uint32, size/4)
	for i := range c.nodes {
		c.nodes[i] = binary.LittleEndian.Uint32(data[sizeLen+4*i:])
	}
	c.texts = string(data[sizeLen+size:])
	return c, c.check()
}

// check visits each node that a text can reach, and its value.
func (c *Map) check() error {
	n := uint32(len(c.nodes))
	// children lists the nodes by base. Each child of a base is in the base's block of 256
	// nodes.
	first := make([]uint32, n+257) // index in children of the first child of a base
	for i, node := range c.nodes {
		if node < valueBit {
			first[uint32(i)^node&0xFF+1]++
		}
	}
	for i := range first[1:] {
		first[i+1] += first[i]
	}
	children := make([]uint32, first[len(first)-1])
	next := append([]uint32(nil), first...)
	for i, node := range c.nodes {
		if node < valueBit {
			base := uint32(i) ^ node&0xFF
			children[next[base]] = uint32(i)
			next[base]++
		}
	}
	const (
		unseen = iota
		open   // on the path from the root
		done
	)
	state := make([]byte, n)
	type visit struct{ node, next, end uint32 }
	var path []visit
	enter := func(i uint32) error {
		node := c.nodes[i]
		base := i ^ nodeOffset(node)
		if base >= n {
			return fmt.Errorf("node %d of the trie: found base %d, expected less than %d", i, base, n)
		}
		if hasValue(node) && i != 0 {
			value := c.nodes[base]
			if at := value &^ valueBit; value < valueBit || int(at) >= len(c.texts) {
				return fmt.Errorf("node %d of the trie: found value %#x, expected bit 31 and an offset less than %d", i, value, len(c.texts))
			} else if end := strings.IndexByte(c.texts[at:min(len(c.texts), int(at)+maxReplacement+1)], 0); end < 0 {
				return fmt.Errorf("node %d of the trie: found a replacement without NUL, expected at most %d bytes and a NUL", i, maxReplacement)
			}
		}
		state[i] = open
		path = append(path, visit{i, first[base], first[base+1]})
		return nil
	}
	if err := enter(0); err != nil {
		return err
	}
	for len(path) > 0 {
		v := &path[len(path)-1]
		if v.next == v.end {
			state[v.node] = done
			path = path[:len(path)-1]
			continue
		}
		child := children[v.next]
		v.next++
		switch state[child] {
		case unseen:
			if err := enter(child); err != nil {
				return err
			}
		case open:
			return fmt.Errorf("node %d of the trie: found a cycle through node %d", v.node, child)
		}
	}
	return nil
}

// Texts returns all replacements, each followed by a NUL.
func (c *Map) Texts() string { return c.texts }

// Longest returns the replacement of the longest entry that s begins with, and the length of the
// entry, or 0.
func (c *Map) Longest(s string) (replacement string, length int) {
	if len(c.nodes) == 0 {
		return "", 0
	}
	at := 0
	base := nodeOffset(c.nodes[0])
	for k := range len(s) {
		i, ok := c.child(base, s[k])
		if !ok {
			break
		}
		base = i ^ nodeOffset(c.nodes[i])
		if hasValue(c.nodes[i]) {
			length, at = k+1, int(c.nodes[base]&^valueBit)
		}
	}
	if length == 0 {
		return "", 0
	}
	replacement = c.texts[at:]
	return replacement[:strings.IndexByte(replacement, 0)], length
}

// child returns the child by a byte of a node with a base. ok is false if it has none.
func (c *Map) child(base uint32, ch byte) (i uint32, ok bool) {
	i = base ^ uint32(ch)
	return i, i < uint32(len(c.nodes)) && c.nodes[i]&(valueBit|0xFF) == uint32(ch)
}

// Plain reports whether no entry is ch or begins with ch and an ASCII character.
func (c *Map) Plain(ch byte) bool {
	if len(c.nodes) == 0 {
		return true
	}
	i, ok := c.child(nodeOffset(c.nodes[0]), ch)
	if !ok {
		return true
	}
	for next := range byte(utf8.RuneSelf) {
		if _, ok := c.child(i^nodeOffset(c.nodes[i]), next); ok {
			return false
		}
	}
	return !hasValue(c.nodes[i])
}
