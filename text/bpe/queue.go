package bpe

// pairQueue is a binary heap of pairs, the most frequent first. Unlike container/heap it does not
// allocate for each element.
type pairQueue []queuedPair

func (h *pairQueue) push(x queuedPair) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = x
}

// pop removes and returns the first element. It panics if the heap is empty.
func (h *pairQueue) pop() queuedPair {
	s := *h
	first, x := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(x) {
			break
		}
		s[i] = s[child]
		i = child
	}
	if len(s) > 0 {
		s[i] = x
	}
	return first
}
