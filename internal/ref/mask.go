package ref

import (
	"fmt"
	"strings"
)

// Mask says which keys a query may attend to: Mask(i, j) for query i and key j. Nil allows all.
type Mask func(query, key int) bool

// LookAhead lets a query see keys up to its own position (section 3.2.3).
func LookAhead(query, key int) bool { return key <= query }

// Padding hides the keys whose id is pad.
func Padding(keyIDs []int32, pad int32) Mask {
	return func(_, key int) bool { return keyIDs[key] != pad }
}

// And allows what both masks allow.
func And(a, b Mask) Mask {
	return func(query, key int) bool { return (a == nil || a(query, key)) && (b == nil || b(query, key)) }
}

// BatchMask is the mask of a padded batch as tensor libraries hold it: booleans of the shape
// [batch, heads, queries, keys], true where a query may attend to a key. A size of 1 stands for
// all: the mask is the same for every sentence, head, query or key. Ragged batches need none. Its
// methods are safe for concurrent use.
type BatchMask struct {
	Shape   [4]int // batch, heads, queries, keys; each the batch's own or 1
	Allowed []bool // row-major
}

// PaddingMask is [batch, 1, 1, keys]: no query of a sentence sees a key whose id is pad. ids has a
// row of keys for each sentence, all of one length; it panics on others.
func PaddingMask(ids [][]int32, pad int32) BatchMask {
	m := BatchMask{Shape: [4]int{len(ids), 1, 1, 0}}
	for i, row := range ids {
		if i == 0 {
			m.Shape[3] = len(row)
		}
		if len(row) != m.Shape[3] {
			panic(fmt.Sprintf("ref: sentence %d of a padded batch has %d tokens, the first has %d", i, len(row), m.Shape[3]))
		}
		for _, id := range row {
			m.Allowed = append(m.Allowed, id != pad)
		}
	}
	return m
}

// LookAheadMask is [1, 1, n, n]: query i sees keys 0 to i (section 3.2.3).
func LookAheadMask(n int) BatchMask {
	m := BatchMask{[4]int{1, 1, n, n}, make([]bool, n*n)}
	for i := range n {
		for j := range n {
			m.Allowed[i*n+j] = LookAhead(i, j)
		}
	}
	return m
}

// And allows what both masks allow. Where one has size 1 and the other more the result has more:
// [batch, 1, 1, n] and [1, 1, n, n] give [batch, 1, n, n], the decoder's mask. It panics if two
// sizes differ and neither is 1.
func (m BatchMask) And(o BatchMask) BatchMask {
	var both BatchMask
	for i, size := range m.Shape {
		both.Shape[i] = size
		if size == 1 {
			both.Shape[i] = o.Shape[i]
		} else if o.Shape[i] != size && o.Shape[i] != 1 {
			panic(fmt.Sprintf("ref: masks of shapes %v and %v do not fit", m.Shape, o.Shape))
		}
	}
	s := both.Shape
	for b := range s[0] {
		for h := range s[1] {
			for i := range s[2] {
				for j := range s[3] {
					both.Allowed = append(both.Allowed, m.At(b, h, i, j) && o.At(b, h, i, j))
				}
			}
		}
	}
	return both
}

// At says whether query i of a sentence of the batch may attend to its key j, in a head.
func (m BatchMask) At(sentence, head, i, j int) bool {
	at := 0
	for axis, index := range [4]int{sentence, head, i, j} {
		if m.Shape[axis] == 1 {
			index = 0
		}
		at = at*m.Shape[axis] + index
	}
	return m.Allowed[at]
}

// Head is the mask of one head of one sentence.
func (m BatchMask) Head(sentence, head int) Mask {
	return func(query, key int) bool { return m.At(sentence, head, query, key) }
}

// String writes a line for every query, with 1 where it may attend and 0 where it may not, and an
// empty line between sentences and heads.
func (m BatchMask) String() string {
	var b strings.Builder
	keys := m.Shape[3]
	for i, allowed := range m.Allowed {
		switch {
		case i > 0 && i%(keys*m.Shape[2]) == 0:
			b.WriteString("\n\n")
		case i > 0 && i%keys == 0:
			b.WriteString("\n")
		case i > 0:
			b.WriteString(" ")
		}
		if allowed {
			b.WriteString("1")
		} else {
			b.WriteString("0")
		}
	}
	return b.String()
}
