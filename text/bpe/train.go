package bpe

import (
	"fmt"
	"math/rand/v2"

	"tfm/text"
)

// MaxTableBytes bounds the table of a Trainer: the sum of the lengths of the different words in
// it. 16 MiB are about two million words of an alphabet, and training on them takes up to 800 MB.
const MaxTableBytes = 16 << 20

// Trainer learns a Tokenizer from the texts that were added. Texts of two languages added to one
// trainer give a joint vocabulary. The zero value is ready to use. It is not safe for concurrent
// use.
//
// Its memory is bounded, so corpora may be of any size. As long as the different words come to at
// most MaxTableBytes, all are counted exactly, and the order of the texts does not matter. Beyond
// that the table is a sample (adaptive sample and hold: Estan and Varghese 2002, "New Directions in
// Traffic Measurement and Accounting", section 3; with unbiased counts: Cohen, Duffield, Kaplan,
// Lund and Thorup 2007, "Sketching Unaggregated Data Streams for Subpopulation-Size Queries"): with
// a threshold of T, a new word enters the table with probability 1/T and counts as T, and each
// further occurrence adds one. A word that occurs n times counts as n on average, with a standard
// deviation of at most √(n(T-1)). The same holds for a pair of neighbours that occurs in n words,
// so rare words, and clauses of scripts without spaces, which hardly ever repeat, keep their
// influence on the merges. The draws are the same each time: the same texts in the same order give
// the same tokenizer.
type Trainer struct {
	words     []string
	counts    []int64          // beside words
	index     map[string]int32 // the inverse of words
	bytes     int              // in words
	threshold int64            // a power of two; 0 as long as all words are in the table
	random    rand.PCG
	text      []byte
	maxBytes  int // of bytes; 0 stands for MaxTableBytes
}

// Add counts the words of one text.
func (t *Trainer) Add(s string) {
	if s == "" {
		return
	}
	if t.index == nil {
		t.index = make(map[string]int32)
		if t.maxBytes == 0 {
			t.maxBytes = MaxTableBytes
		}
	}
	t.text = append(append(t.text[:0], ' '), s...)
	for rest := t.text; len(rest) > 0; {
		n := wordLen(rest)
		t.count(rest[:n])
		rest = rest[n:]
	}
}

func (t *Trainer) count(word []byte) {
	if i, ok := t.index[string(word)]; ok {
		t.counts[i]++
		return
	}
	if t.draw() > 0 {
		return
	}
	t.insert(string(word), t.Threshold())
	if t.bytes > t.maxBytes {
		t.subsample()
	}
}

func (t *Trainer) insert(word string, count int64) {
	t.index[word] = int32(len(t.words))
	t.words = append(t.words, word)
	t.counts = append(t.counts, count)
	t.bytes += len(word)
}

// draw returns a number from 0 to Threshold()-1, each as likely.
func (t *Trainer) draw() int64 {
	if t.threshold == 0 {
		return 0
	}
	return int64(t.random.Uint64() & uint64(t.threshold-1))
}

// subsample doubles the threshold until a quarter of the table is free. A word with a count c under
// the threshold T stays with probability c/T and then counts as T, which keeps its mean.
func (t *Trainer) subsample() {
	for t.bytes > t.maxBytes/4*3 {
		t.threshold = 2 * t.Threshold()
		words, counts := t.words, t.counts
		t.words, t.counts, t.bytes = words[:0], counts[:0], 0
		clear(t.index)
		for i, w := range words {
			if c := counts[i]; c >= t.threshold || t.draw() < c {
				t.insert(w, max(c, t.threshold))
			}
		}
		clear(words[len(t.words):]) // lets go of their memory
	}
}

// Threshold returns T: 1 as long as all words were counted exactly.
func (t *Trainer) Threshold() int64 { return max(t.threshold, 1) }

// Train returns a Tokenizer of vocabSize ids, or of fewer when no pair is left that occurs at
// least twice, in a sample in at least two drawn words. A vocabSize under MinSize is an error. The
// result depends on the counts of the words alone, not on their order: of equally frequent pairs
// the one with the smaller left id is merged first, then the one with the smaller right id.
func (t *Trainer) Train(vocabSize int) (*Tokenizer, error) {
	if vocabSize < MinSize {
		return nil, fmt.Errorf("vocabulary of %d pieces: at least %d are needed, for 256 bytes and %d special ids", vocabSize, MinSize, firstByte)
	}
	var merges []pair
	m := newMerger(t)
	for len(merges) < vocabSize-firstMerge {
		p, ok := m.mostFrequent()
		if !ok {
			break
		}
		m.merge(p, int32(firstMerge+len(merges)))
		merges = append(merges, p)
	}
	return newTokenizer(merges)
}

// merger holds all words as symbols, and the count and the places of each pair of neighbours, so
// that a merge costs the occurrences of its pair and no pass over the words.
//
// Pairs with a given id appear only while that id is made. Afterwards their counts can only fall,
// so an entry of the queue is never too low, and it is corrected when it is popped.
type merger struct {
	// All words one after another, with gaps before, between and after them. A symbol that was
	// merged into the one before it becomes a gap. prev and next link the remaining symbols.
	symbols    []int32
	prev, next []int32
	word       []int32 // the word of a symbol
	counts     []int64 // the count of a word
	minCount   int64   // count of a pair that can be merged

	pairs    map[pair]*occurrences
	queue    heap[queuedPair]
	newPairs []pair // added to pairs since the last merge
}

const gap = text.Pad

type occurrences struct {
	count int64
	at    []int32 // where the left symbol is or was, ascending
}

type queuedPair struct {
	pair  pair
	count int64
}

func (f queuedPair) before(g queuedPair) bool {
	if f.count != g.count {
		return f.count > g.count
	}
	return f.pair.before(g.pair)
}

func newMerger(t *Trainer) *merger {
	n := 1 + t.bytes + len(t.words)
	m := &merger{
		symbols:  make([]int32, n),
		prev:     make([]int32, n),
		next:     make([]int32, n),
		word:     make([]int32, n),
		counts:   t.counts,
		minCount: 2 * t.Threshold(),
		pairs:    make(map[pair]*occurrences),
	}
	for i := range n {
		m.prev[i], m.next[i] = int32(i)-1, int32(i)+1
	}
	i := 1
	for w, word := range t.words {
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

// mostFrequent returns the most frequent pair, if one is frequent enough to be merged.
func (m *merger) mostFrequent() (pair, bool) {
	for len(m.queue) > 0 {
		f := m.queue.pop()
		o := m.pairs[f.pair]
		switch {
		case o == nil || o.count < m.minCount:
			delete(m.pairs, f.pair)
		case o.count < f.count:
			m.queue.push(queuedPair{f.pair, o.count})
		default:
			return f.pair, true
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
			continue // changed by another merge since
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

// addPair counts the pair of symbols at i and j, unless one of them is a gap.
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

// removePair undoes appear.
func (m *merger) removePair(i, j int) {
	p := pair{m.symbols[i], m.symbols[j]}
	if o := m.pairs[p]; o != nil {
		if o.count -= m.counts[m.word[i]]; o.count == 0 {
			delete(m.pairs, p)
		}
	}
}

// enqueue queues the fresh pairs. Those that are too rare to be merged are dropped.
func (m *merger) enqueue() {
	for _, p := range m.newPairs {
		switch o := m.pairs[p]; {
		case o == nil:
		case o.count < m.minCount:
			delete(m.pairs, p)
		default:
			m.queue.push(queuedPair{p, o.count})
		}
	}
	m.newPairs = m.newPairs[:0]
}
