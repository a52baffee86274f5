package sentencepiece

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"
)

const (
	space       = "▁" // U+2581, a space in normalized text
	replacement = "\uFFFD"
)

// normalizer normalizes text as a NormalizerSpec says. It is safe for concurrent use.
type normalizer struct {
	chars       charsmap
	symbols     trie // user-defined symbols, which are copied unchanged
	dummyPrefix bool
	dummySuffix bool // the dummy prefix comes at the end
	trim        bool // remove leading, trailing and repeated spaces
	space       string
	validUTF8   bool // all texts are normalized to valid UTF-8

	// plain are the ASCII characters that are copied unchanged before another ASCII character
	// or at the end of the text.
	plain [256]bool
}

// newNormalizer returns the normalizer of a spec. asSuffix is trainer_spec's
// treat_whitespace_as_suffix.
func newNormalizer(spec *NormalizerSpec, asSuffix bool, userDefined []string) (*normalizer, error) {
	n := &normalizer{
		dummyPrefix: spec.AddDummyPrefix && !asSuffix,
		dummySuffix: spec.AddDummyPrefix && asSuffix,
		trim:        spec.RemoveExtraWhitespace,
		space:       " ",
		validUTF8:   true,
	}
	if spec.EscapeWhitespace {
		n.space = space
	}
	var err error
	if n.chars, err = newCharsmap(spec.PrecompiledCharsmap); err != nil {
		return nil, fmt.Errorf("precompiled_charsmap: %w", err)
	}
	n.validUTF8 = utf8.ValidString(n.chars.texts)
	var entries []entry
	for i, s := range userDefined {
		entries = append(entries, entry{text: s, id: int32(i)})
		n.validUTF8 = n.validUTF8 && utf8.ValidString(s)
	}
	if n.symbols, err = newTrie(entries); err != nil {
		return nil, err
	}
	for c := range byte(utf8.RuneSelf) {
		n.plain[c] = n.chars.plain(c)
		if len(n.symbols.nodes) > 0 && n.symbols.child(&n.symbols.nodes[0], c) != nil {
			n.plain[c] = false
		}
	}
	return n, nil
}

// prefix returns the normalized form of the first characters of s, which is not empty, and their
// length.
func (n *normalizer) prefix(s string) (normal string, length int) {
	if len(n.symbols.nodes) > 0 {
		if length, _ := n.symbols.longest(unsafe.Slice(unsafe.StringData(s), len(s))); length > 0 {
			return s[:length], length
		}
	}
	if length, at := n.chars.longest(s); length > 0 {
		normal = n.chars.texts[at:]
		return normal[:strings.IndexByte(normal, 0)], length
	}
	if r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError || size > 1 {
		return s[:size], size
	}
	return replacement, 1
}

// normalize appends the normalized form of s to dst. If offsets is not nil, it appends for each
// byte that it appends the offset in s of the characters that the byte is from, and at the end the
// offset of the white space that it removes there, or len(s).
func (n *normalizer) normalize(dst []byte, offsets *[]int, s string) []byte {
	i := 0 // offset in s of the characters that are not yet normalized
	if n.trim {
		for i < len(s) {
			normal, length := n.prefix(s[i:])
			if normal != " " {
				break
			}
			i += length
		}
	}
	if i == len(s) {
		return dst
	}
	start := len(dst)
	add := func(normal string) {
		dst = append(dst, normal...)
		if offsets != nil {
			for range len(normal) {
				*offsets = append(*offsets, i)
			}
		}
	}
	if n.dummyPrefix {
		add(n.space)
	}
	afterSpace := n.trim
	for i < len(s) {
		run := i
		for run < len(s) && n.plain[s[run]] && s[run] != ' ' {
			run++
		}
		if run < len(s) && s[run] >= utf8.RuneSelf && run > i {
			run-- // may combine with the next character
		}
		if run > i {
			afterSpace = false
			if offsets == nil {
				dst = append(dst, s[i:run]...)
				i = run
				continue
			}
			for ; i < run; i++ {
				add(s[i : i+1])
			}
			continue
		}
		if c := s[i]; c == ' ' && n.plain[c] && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			if !afterSpace {
				add(n.space)
				afterSpace = n.trim
			}
			i++
			continue
		}
		normal, length := n.prefix(s[i:])
		if afterSpace {
			normal = strings.TrimLeft(normal, " ")
		}
		if normal != "" {
			afterSpace = n.trim && normal[len(normal)-1] == ' '
		}
		for normal != "" {
			if normal[0] == ' ' {
				add(n.space)
				normal = normal[1:]
				continue
			}
			end := strings.IndexByte(normal, ' ')
			if end < 0 {
				end = len(normal)
			}
			add(normal[:end])
			normal = normal[end:]
		}
		i += length
	}
	if n.trim {
		for len(dst)-start >= len(n.space) && string(dst[len(dst)-len(n.space):]) == n.space {
			dst = dst[:len(dst)-len(n.space)]
			if offsets != nil {
				end := len(*offsets) - len(n.space)
				i = (*offsets)[end]
				*offsets = (*offsets)[:end]
			}
		}
	}
	if n.dummySuffix {
		add(n.space)
	}
	if offsets != nil {
		*offsets = append(*offsets, i)
	}
	return dst
}

// charsmap is a precompiled_charsmap: replacements of characters. The file holds the size of a trie
// in 32 bits, the trie, and the replacements, each followed by a NUL. The trie is the double array
// of Darts-clone, in which a node has 32 bits:
//
//	0-7    the byte that leads to the node
//	8      whether an entry ends here
//	9      whether to shift the offset by 8
//	10-30  offset: the child by byte c is this node's index XOR offset XOR c
//	31     0
//
// If an entry ends at a node, its child by byte 0 holds its value, the offset of the replacement,
// with bit 31 set. Node 0 is the root.
type charsmap struct {
	nodes []uint32
	texts string
}

const (
	maxReplacement = 256 // bytes; Unicode's longest is 33
	valueBit       = 1 << 31
)

// hasValue reports whether an entry ends at a node.
func hasValue(node uint32) bool { return node>>8&1 == 1 }

// nodeOffset returns the offset of a node.
func nodeOffset(node uint32) uint32 { return node >> 10 << (node & (1 << 9) >> 6) }

// newCharsmap decodes a map. An empty one is the identity. Untrusted data is safe: no path of the
// trie leaves it or is cyclic, and no replacement is longer than maxReplacement.
func newCharsmap(data []byte) (c charsmap, err error) {
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
func (c *charsmap) check() error {
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

// longest returns the length of the longest entry that s begins with and its offset in texts, or 0.
func (c *charsmap) longest(s string) (length, at int) {
	if len(c.nodes) == 0 {
		return 0, 0
	}
	i := nodeOffset(c.nodes[0])
	for k := range len(s) {
		i ^= uint32(s[k])
		if i >= uint32(len(c.nodes)) {
			break
		}
		node := c.nodes[i]
		if node&(valueBit|0xFF) != uint32(s[k]) {
			break
		}
		i ^= nodeOffset(node)
		if hasValue(node) {
			length, at = k+1, int(c.nodes[i]&^valueBit)
		}
	}
	return length, at
}

// plain reports whether no entry is c or begins with c and an ASCII character.
func (c *charsmap) plain(ch byte) bool {
	if length, _ := c.longest(string([]byte{ch})); length > 0 {
		return false
	}
	if len(c.nodes) == 0 {
		return true
	}
	child := func(base uint32, ch byte) (node uint32, ok bool) {
		i := base ^ uint32(ch)
		if i >= uint32(len(c.nodes)) || c.nodes[i]&(valueBit|0xFF) != uint32(ch) {
			return 0, false
		}
		return i, true
	}
	i, ok := child(nodeOffset(c.nodes[0]), ch)
	if !ok {
		return true
	}
	for next := range byte(utf8.RuneSelf) {
		if _, ok := child(i^nodeOffset(c.nodes[i]), next); ok {
			return false
		}
	}
	return true
}
