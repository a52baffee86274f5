// Package heap has a priority queue. It imports nothing.
package heap

// Heap is a binary heap, the element that is Before all others first. Unlike container/heap it
// allocates nothing for an element.
type Heap[T any] struct {
	Before func(a, b T) bool // whether a comes before b
	list   []T
}

// Min returns a heap of numbers, the smallest first.
func Min() Heap[uint64] {
	return Heap[uint64]{Before: func(a, b uint64) bool { return a < b }}
}

// Len returns the number of elements.
func (h *Heap[T]) Len() int { return len(h.list) }

// First returns the first element. It panics if the heap is empty.
func (h *Heap[T]) First() T { return h.list[0] }

// Reset removes all elements.
func (h *Heap[T]) Reset() { h.list = h.list[:0] }

// Push adds x.
func (h *Heap[T]) Push(x T) {
	h.list = append(h.list, x)
	q := h.list
	i := len(q) - 1
	for i > 0 && h.Before(x, q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = x
}

// Pop removes and returns the first element. It panics if the heap is empty.
func (h *Heap[T]) Pop() T {
	first, x := h.list[0], h.list[len(h.list)-1]
	q := h.list[:len(h.list)-1]
	h.list = q
	for i := 0; len(q) > 0; {
		child := 2*i + 1
		if child+1 < len(q) && h.Before(q[child+1], q[child]) {
			child++
		}
		if child >= len(q) || !h.Before(q[child], x) {
			q[i] = x
			break
		}
		q[i] = q[child]
		i = child
	}
	return first
}
