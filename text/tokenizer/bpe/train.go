package bpe

import (
	"cmp"
	"fmt"

	"tfm/text"
	"tfm/text/tokenizer/internal/merges"
	"tfm/text/tokenizer/internal/tally"
)

// MaxTableBytes is the limit of a Trainer's table: the total length of its distinct words. 16 MiB
// hold about two million words of an alphabet. Training on them takes up to 800 MB.
const MaxTableBytes = tally.DefaultLimit

// Trainer learns a Tokenizer from texts. Texts of two languages give a joint vocabulary. The zero
// value is ready to use. A Trainer is not safe for concurrent use.
//
// Memory is bounded for corpora of any size: beyond MaxTableBytes of distinct words the table is a
// sample, as described in package tally. The count of a pair of symbols that occurs in n words has
// the same expectation and deviation as that of a word. Rare words therefore keep their influence
// on the merges, and so do clauses of scripts without spaces, which hardly ever repeat. The same
// texts in the same order give the same tokenizer.
type Trainer struct {
	words tally.Table
	text  []byte // scratch: the text being added
}

// Add counts the words of one text. It does not retain the string.
func (t *Trainer) Add(s string) {
	if s == "" {
		return
	}
	t.text = append(append(t.text[:0], ' '), s...)
	for unread := t.text; len(unread) > 0; {
		n := wordLen(unread)
		if _, added := t.words.Add(unread[:n]); added && t.words.Full() {
			t.words.Subsample(nil)
		}
		unread = unread[n:]
	}
}

// Merge adds the words of another Trainer, which it may sample again.
func (t *Trainer) Merge(other *Trainer) { t.words.Merge(&other.words) }

// Threshold returns T, the threshold of the sample, which is 1 if all counts are exact.
func (t *Trainer) Threshold() int64 { return t.words.Threshold() }

// Train returns a Tokenizer of vocabSize ids. It has fewer if no remaining pair occurs at least
// twice, or in a sample in at least two drawn words. It fails if vocabSize is less than MinSize.
// The result depends only on the counts of the words: of equally frequent pairs the one with the
// smaller left id is merged first, then the one with the smaller right id.
func (t *Trainer) Train(vocabSize int) (*Tokenizer, error) {
	if vocabSize < MinSize {
		return nil, fmt.Errorf("vocabulary of %d pieces, expected at least %d: 256 bytes and %d special ids", vocabSize, MinSize, firstByte)
	}
	var list []pair
	m := newMerger(t)
	for len(list) < vocabSize-firstMerge {
		p, ok := m.mostFrequent()
		if !ok {
			break
		}
		m.merge(p, int32(firstMerge+len(list)))
		list = append(list, p)
	}
	return newTokenizer(list)
}

// merger holds all words as symbols, with the count and places of each pair. A merge visits only
// the occurrences of its pair.
//
// New occurrences of pairs with an id arise only in the merge that makes the id. Afterwards their
// counts only fall, so that a count in the queue is an upper bound, which is corrected when popped.
type merger struct {
	// Ids of the symbols of all words, with gaps before, between and after words. A symbol
	// merged into its predecessor becomes a gap. prev and next link the remaining symbols.
	symbols    []int32
	prev, next []int32
	word       []int32 // index of each symbol's word
	counts     []int64 // of words
	minCount   int64   // smallest count of a pair that is merged

	pairs    map[pair]*occurrences
	queue    merges.Queue[pair] // keys: minus an upper bound of the count
	newPairs []pair             // added since the last merge
}

const gap = text.Pad

// occurrences is the count and places of a pair.
type occurrences struct {
	count int64
	at    []int32 // indices of the left symbols, ascending; some may be stale
}

// before reports whether p is merged before q if they are equally frequent.
func (p pair) before(q pair) bool { return cmp.Or(p.left-q.left, p.right-q.right) < 0 }

func newMerger(t *Trainer) *merger {
	n := 1 + t.words.Size + len(t.words.Strings)
	m := &merger{
		symbols:  make([]int32, n),
		prev:     make([]int32, n),
		next:     make([]int32, n),
		word:     make([]int32, n),
		counts:   t.words.Counts,
		minCount: 2 * t.Threshold(),
		pairs:    make(map[pair]*occurrences),
		queue:    merges.Queue[pair]{Before: pair.before},
	}
	for i := range n {
		m.prev[i], m.next[i] = int32(i)-1, int32(i)+1
	}
	i := 1
	for w, word := range t.words.Strings {
		for _, c := range []byte(word) {
			m.symbols[i] = firstByte + int32(c)
			m.word[i] = int32(w)
			m.addPair(i-1, i)
			i++
		}
		i++
	}
	m.enqueue()
	return m
}

// mostFrequent returns the most frequent pair, and false if its count is less than minCount.
func (m *merger) mostFrequent() (pair, bool) {
	for m.queue.Len() > 0 {
		key, p := m.queue.Pop()
		o := m.pairs[p]
		switch {
		case o == nil || o.count < m.minCount:
			delete(m.pairs, p)
		case o.count < -key:
			m.queue.Push(-o.count, p)
		default:
			return p, true
		}
	}
	return pair{}, false
}

// merge replaces the pair by id in all words, from left to right.
func (m *merger) merge(p pair, id int32) {
	at := m.pairs[p].at
	delete(m.pairs, p)
	for _, i := range at {
		j := m.next[i]
		if m.symbols[i] != p.left || m.symbols[j] != p.right {
			continue // stale
		}
		before, after := m.prev[i], m.next[j]
		m.removePair(int(before), int(i))
		m.removePair(int(j), int(after))
		m.symbols[i], m.symbols[j] = id, gap
		m.next[i], m.prev[after] = after, i
		m.addPair(int(before), int(i))
		m.addPair(int(i), int(after))
	}
	m.enqueue()
}

// addPair counts the pair of the symbols at i and j, unless one is a gap.
func (m *merger) addPair(i, j int) {
	p := pair{m.symbols[i], m.symbols[j]}
	if p.left == gap || p.right == gap {
		return
	}
	o := m.pairs[p]
	if o == nil {
		o = new(occurrences)
		m.pairs[p] = o
		m.newPairs = append(m.newPairs, p)
	}
	o.count += m.counts[m.word[i]]
	o.at = append(o.at, int32(i))
}

// removePair undoes addPair.
func (m *merger) removePair(i, j int) {
	p := pair{m.symbols[i], m.symbols[j]}
	if o := m.pairs[p]; o != nil {
		if o.count -= m.counts[m.word[i]]; o.count == 0 {
			delete(m.pairs, p)
		}
	}
}

// enqueue moves newPairs to the queue, without those less frequent than minCount.
func (m *merger) enqueue() {
	for _, p := range m.newPairs {
		switch o := m.pairs[p]; {
		case o == nil:
		case o.count < m.minCount:
			delete(m.pairs, p)
		default:
			m.queue.Push(-o.count, p)
		}
	}
	m.newPairs = m.newPairs[:0]
}
