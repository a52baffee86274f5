// Package heap has the priority queue of the merges of byte-pair encoding. It imports nothing.
package heap

// Min is a binary heap of numbers, the smallest first. Unlike container/heap it calls no functions.
// Its first element is the smallest one.
type Min []uint64

// Push adds x.
func (h *Min) Push(x uint64) {
	q := append(*h, x)
	i := len(q) - 1
	for i > 0 && q[(i-1)/2] > x {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = x
	*h = q
}

// Pop removes and returns the smallest number. It panics if the heap is empty.
func (h *Min) Pop() uint64 {
	q := *h
	top, x := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	for i := 0; len(q) > 0; {
		child := 2*i + 1
		if child+1 < len(q) && q[child+1] < q[child] {
			child++
		}
		if child >= len(q) || q[child] >= x {
			q[i] = x
			break
		}
		q[i] = q[child]
		i = child
	}
	*h = q
	return top
}
