package ref

import "fmt"

// Mask reports whether a query may attend to a key. A nil Mask allows all.
type Mask func(query, key int) bool

// LookAhead is the mask of keys after the query's position (section 3.2.3).
func LookAhead(query, key int) bool { return key <= query }

// Padding masks the keys whose id is pad.
func Padding(keyIDs []int32, pad int32) Mask {
	return func(_, key int) bool { return keyIDs[key] != pad }
}

// And returns the mask that allows a key where a and b do.
func And(a, b Mask) Mask {
	return func(query, key int) bool { return (a == nil || a(query, key)) && (b == nil || b(query, key)) }
}

// BatchMask is the mask of a padded batch as in tensor libraries: booleans of the shape
// [batch, heads, queries, keys], true where a query may attend to a key. A size of 1 means that the
// mask is the same for every sentence, head, query or key. Ragged batches need none. Methods are
// safe for concurrent use.
type BatchMask struct {
	Shape   [4]int // batch, heads, queries, keys; each may be 1
	Allowed []bool // row-major
}

// PaddingMask returns the mask [batch, 1, 1, keys] of the keys whose id is pad. ids has one row for
// each sentence. It panics if rows differ in length.
func PaddingMask(ids [][]int32, pad int32) BatchMask {
	m := BatchMask{Shape: [4]int{len(ids), 1, 1, 0}}
	for i, row := range ids {
		if i == 0 {
			m.Shape[3] = len(row)
		}
		if len(row) != m.Shape[3] {
			panic(fmt.Sprintf("ref: sentence %d of a padded batch with %d tokens, expected %d", i, len(row), m.Shape[3]))
		}
		for _, id := range row {
			m.Allowed = append(m.Allowed, id != pad)
		}
	}
	return m
}

// LookAheadMask returns the mask [1, 1, n, n] that allows query i keys 0 to i (section 3.2.3).
func LookAheadMask(n int) BatchMask {
	m := BatchMask{[4]int{1, 1, n, n}, make([]bool, n*n)}
	for i := range n {
		for j := range n {
			m.Allowed[i*n+j] = LookAhead(i, j)
		}
	}
	return m
}

// And returns the mask that allows a key where m and o do. Sizes of 1 are broadcast:
// [batch, 1, 1, n] and [1, 1, n, n] give [batch, 1, n, n], the decoder's mask. It panics if two
// sizes differ and neither is 1.
func (m BatchMask) And(o BatchMask) BatchMask {
	var both BatchMask
	for i, size := range m.Shape {
		both.Shape[i] = size
		if size == 1 {
			both.Shape[i] = o.Shape[i]
		} else if o.Shape[i] != size && o.Shape[i] != 1 {
			panic(fmt.Sprintf("ref: masks of shapes %v and %v", m.Shape, o.Shape))
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

// At reports whether query i of a sentence may attend to key j, in one head.
func (m BatchMask) At(sentence, head, i, j int) bool {
	flat := 0
	for axis, index := range [4]int{sentence, head, i, j} {
		if m.Shape[axis] == 1 {
			index = 0
		}
		flat = flat*m.Shape[axis] + index
	}
	return m.Allowed[flat]
}

// Head returns the mask of one head of one sentence.
func (m BatchMask) Head(sentence, head int) Mask {
	return func(query, key int) bool { return m.At(sentence, head, query, key) }
}
