package subword

import (
	"strings"
	"unicode/utf8"

	"tfm/text/internal/dropout"
	"tfm/text/internal/heap"
)

// encoder is the reusable scratch memory of splitting words. It is not safe for concurrent use.
type encoder struct {
	codes      *Codes
	vocabulary *Vocabulary // nil without

	symbols []symbol
	queue   heap.Heap[struct{}] // keys: rank<<32 | index of the left symbol
	dropped []int64             // keys, in this step
	next    []int32             // symbols that were merged in this step
	list    []int               // ends of the segments
	key     []byte
}

func newEncoder(c *Codes, v *Vocabulary) *encoder {
	return &encoder{codes: c, vocabulary: v, queue: heap.Keys()}
}

// symbol is an element of a list linked by index.
type symbol struct {
	id         int32 // of the codes; unknown if they lack it
	end        int32 // in the word
	prev, next int32 // or none
}

const (
	none    = -1
	unknown = -1
)

// segments returns the ends of the segments of a word, which must not be empty. They are valid
// until the next call. drop may be nil.
func (e *encoder) segments(word string, drop *dropout.Merges) []int {
	e.list = e.list[:0]
	if _, size := utf8.DecodeRuneInString(word); size == len(word) {
		return append(e.list, size)
	}
	e.split(word)
	e.merge(drop)
	begin := 0
	for i := int32(0); i != none; i = e.symbols[i].next {
		end := int(e.symbols[i].end)
		if end == begin {
			continue // the end of the word alone
		}
		if e.vocabulary == nil {
			e.list = append(e.list, end)
		} else {
			e.appendKnown(word[begin:end], begin, end == len(word))
		}
		begin = end
	}
	return e.list
}

// split makes the list of the characters of a word.
func (e *encoder) split(word string) {
	e.symbols = e.symbols[:0]
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRuneInString(word[i:])
		isLast := i+size == len(word) && e.codes.version == Version02
		e.add(word[i:i+size], isLast, i+size)
		i += size
	}
	if e.codes.version == Version01 {
		e.add("", true, len(word))
	}
	e.symbols[len(e.symbols)-1].next = none
}

// add adds a symbol of text, and of the end of the word if isLast.
func (e *encoder) add(text string, isLast bool, end int) {
	e.key = append(e.key[:0], text...)
	if isLast {
		e.key = append(e.key, endOfWord...)
	}
	id, ok := e.codes.symbols[string(e.key)]
	if !ok {
		id = unknown
	}
	n := int32(len(e.symbols))
	e.symbols = append(e.symbols, symbol{id, int32(end), n - 1, n + 1})
}

// merge applies the merges to the list. Each step applies the merge of the first rank at all its
// places from left to right. drop, which may be nil, drops places in this step; the word is
// finished when a step drops all.
func (e *encoder) merge(drop *dropout.Merges) {
	s := e.symbols
	e.queue.Reset()
	for i := range s {
		e.propose(int32(i))
	}
	for e.queue.Len() > 0 {
		rank := int64(none)
		e.next, e.dropped = e.next[:0], e.dropped[:0]
		for e.queue.Len() > 0 && (rank == none || e.queue.FirstKey()>>32 == rank) {
			top, _ := e.queue.Pop()
			i := int32(top)
			if m, ok := e.mergeAt(i); !ok || int64(m.rank) != top>>32 {
				continue // stale
			}
			if drop != nil && drop.Next() {
				e.dropped = append(e.dropped, top)
				continue
			}
			rank = top >> 32
			e.apply(i)
			e.next = append(e.next, i)
		}
		last := int32(none)
		for _, i := range e.next {
			if prev := s[i].prev; prev != last { // else it was proposed
				e.propose(prev)
			}
			e.propose(i)
			last = i
		}
		if rank != none {
			for _, d := range e.dropped {
				e.queue.Push(d, struct{}{})
			}
		}
	}
}

// mergeAt returns the merge of the symbol at i with the next one.
func (e *encoder) mergeAt(i int32) (merge, bool) {
	s := &e.symbols[i]
	if s.next == none || s.id == unknown || e.symbols[s.next].id == unknown {
		return merge{}, false
	}
	m, ok := e.codes.merges[pair{s.id, e.symbols[s.next].id}]
	return m, ok
}

// propose adds the merge of the symbol at i with the next one to the queue.
func (e *encoder) propose(i int32) {
	if i == none {
		return
	}
	if m, ok := e.mergeAt(i); ok {
		e.queue.Push(int64(m.rank)<<32|int64(i), struct{}{})
	}
}

// apply merges the symbol at i with the next one.
func (e *encoder) apply(i int32) {
	m, _ := e.mergeAt(i)
	s := e.symbols
	j := s[i].next
	s[i].id, s[i].end, s[i].next = m.symbol, s[j].end, s[j].next
	if s[i].next != none {
		s[s[i].next].prev = i
	}
	s[j] = symbol{id: unknown, next: none, prev: none}
}

// appendKnown appends the segment s of a word, which begins at an offset, or if the vocabulary
// lacks it, the segments into which reversing merges splits it. isLast reports whether it ends the
// word.
func (e *encoder) appendKnown(s string, offset int, isLast bool) {
	if e.vocabulary.find(s, isLast) >= 0 {
		e.list = append(e.list, offset+len(s))
		return
	}
	e.key = append(e.key[:0], s...)
	if isLast {
		e.key = append(e.key, endOfWord...)
	}
	parts, ok := e.codes.parts[string(e.key)]
	left, right := parts[0], parts[1]
	if ok && isLast {
		right, ok = strings.CutSuffix(right, endOfWord)
	}
	switch {
	case !ok:
		e.list = append(e.list, offset+len(s))
	case right == "": // the end of the word was merged
		e.appendKnown(s, offset, false)
	default:
		e.appendKnown(s[:len(left)], offset, false)
		e.appendKnown(s[len(left):], offset+len(left), isLast)
	}
}
