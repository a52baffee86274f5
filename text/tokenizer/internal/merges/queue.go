package merges

// Queue is a binary heap of values with keys, the smallest key first. Unlike container/heap it
// allocates nothing for an element, and compares keys without a call.
type Queue[T any] struct {
	Before func(a, b T) bool // whether a comes before b if their keys are equal
	list   []item[T]
}

// item has its value first, so that one without size takes no memory.
type item[T any] struct {
	value T
	key   int64
}

// Len returns the number of elements.
func (q *Queue[T]) Len() int { return len(q.list) }

// FirstKey returns the smallest key. It panics if the queue is empty.
func (q *Queue[T]) FirstKey() int64 { return q.list[0].key }

// Reset removes all elements.
func (q *Queue[T]) Reset() { q.list = q.list[:0] }

// before is so small that the compiler inlines it.
func (q *Queue[T]) before(a, b item[T]) bool {
	return a.key < b.key || a.key == b.key && q.Before(a.value, b.value)
}

// Push adds a value.
func (q *Queue[T]) Push(key int64, value T) {
	x := item[T]{value, key}
	q.list = append(q.list, x)
	list := q.list
	i := len(list) - 1
	for i > 0 && q.before(x, list[(i-1)/2]) {
		list[i] = list[(i-1)/2]
		i = (i - 1) / 2
	}
	list[i] = x
}

// Pop removes and returns the first element. It panics if the queue is empty.
func (q *Queue[T]) Pop() (key int64, value T) {
	first, x := q.list[0], q.list[len(q.list)-1]
	list := q.list[:len(q.list)-1]
	q.list = list
	for i := 0; len(list) > 0; {
		child := 2*i + 1
		if child+1 < len(list) && q.before(list[child+1], list[child]) {
			child++
		}
		if child >= len(list) || !q.before(list[child], x) {
			list[i] = x
			break
		}
		list[i] = list[child]
		i = child
	}
	return first.key, first.value
}
