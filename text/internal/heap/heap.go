// Package heap has a priority queue. It imports nothing.
package heap

// Heap is a binary heap of values with keys, the smallest key first. Unlike container/heap it
// allocates nothing for an element, and compares keys without a call.
type Heap[T any] struct {
	Before func(a, b T) bool // whether a comes before b if their keys are equal
	list   []item[T]
}

// item has its value first, so that one without size takes no memory.
type item[T any] struct {
	value T
	key   int64
}

// Keys returns a heap of keys without values.
func Keys() Heap[struct{}] {
	return Heap[struct{}]{Before: func(a, b struct{}) bool { return false }}
}

// Len returns the number of elements.
func (h *Heap[T]) Len() int { return len(h.list) }

// FirstKey returns the smallest key. It panics if the heap is empty.
func (h *Heap[T]) FirstKey() int64 { return h.list[0].key }

// Reset removes all elements.
func (h *Heap[T]) Reset() { h.list = h.list[:0] }

// before is so small that the compiler inlines it.
func (h *Heap[T]) before(a, b item[T]) bool {
	return a.key < b.key || a.key == b.key && h.Before(a.value, b.value)
}

// Push adds a value.
func (h *Heap[T]) Push(key int64, value T) {
	x := item[T]{value, key}
	h.list = append(h.list, x)
	q := h.list
	i := len(q) - 1
	for i > 0 && h.before(x, q[(i-1)/2]) {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = x
}

// Pop removes and returns the first element. It panics if the heap is empty.
func (h *Heap[T]) Pop() (key int64, value T) {
	first, x := h.list[0], h.list[len(h.list)-1]
	q := h.list[:len(h.list)-1]
	h.list = q
	for i := 0; len(q) > 0; {
		child := 2*i + 1
		if child+1 < len(q) && h.before(q[child+1], q[child]) {
			child++
		}
		if child >= len(q) || !h.before(q[child], x) {
			q[i] = x
			break
		}
		q[i] = q[child]
		i = child
	}
	return first.key, first.value
}
