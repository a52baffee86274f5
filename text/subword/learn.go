package subword

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// MaxTableBytes is the limit of the total length of the distinct words of a Learner.
const MaxTableBytes = 16 << 20

// Learner learns codes from lines as learn_bpe.py does, with the same frequencies, ties and order.
// The zero value is ready to use. It is not safe for concurrent use. Memory is bounded: for
// MaxTableBytes of random words of ten letters, Add needs 100 MiB and Learn about 250 MiB more.
type Learner struct {
	counts map[string]int64 // of words
	bytes  int              // of the words
}

// Add counts the words of a line. It fails if the distinct words exceed MaxTableBytes, because a
// sample of them would not give the codes of subword-nmt.
func (l *Learner) Add(line string) error {
	if l.counts == nil {
		l.counts = map[string]int64{}
	}
	for word := range strings.SplitSeq(strings.Trim(line, "\r\n "), " ") {
		if word == "" {
			continue
		}
		n, ok := l.counts[word]
		if !ok {
			if l.bytes+len(word) > MaxTableBytes {
				return fmt.Errorf("distinct words of more than %d MiB, expected a smaller sample of the corpus", MaxTableBytes>>20)
			}
			l.bytes += len(word)
			word = strings.Clone(word)
		}
		l.counts[word] = n + 1
	}
	return nil
}

// Learn returns codes of up to n merges of pairs that occur at least minCount times.
func (l *Learner) Learn(n int, minCount int64) (*Codes, error) {
	if n < 0 || minCount < 1 {
		return nil, errors.New("found a negative number of merges, or a minimum less than 1")
	}
	s := newStatistics(l)
	var merges [][2]string
	for i := range n {
		best, count, ok := s.mostFrequent(i)
		if !ok || count < minCount {
			break
		}
		merges = append(merges, [2]string{s.texts[best.left], s.texts[best.right]})
		s.apply(best)
		if i%100 == 0 {
			s.prune()
		}
	}
	return NewCodes(Version02, merges)
}

// statistics has the counts of pairs in all words. counts has the frequent pairs, and pairs whose
// counts have changed since they were pruned; all has the counts of pruned pairs, at that time.
// These are the tables of learn_bpe.py, because its counts of pairs that several merges make depend
// on them.
type statistics struct {
	texts   []string // of symbols
	symbols map[string]int32

	words  []word
	places map[pair][]int32 // words that have, or had, a pair, some repeatedly
	counts map[pair]int64
	all    map[pair]int64

	threshold float64 // counts below it may be pruned
}

// word is a word of the corpus.
type word struct {
	symbols []int32
	freq    int64
}

func newStatistics(l *Learner) *statistics {
	s := &statistics{symbols: map[string]int32{}, words: make([]word, 0, len(l.counts)), places: map[pair][]int32{}, counts: map[pair]int64{}}
	total := 0
	for w := range l.counts {
		total += utf8.RuneCountInString(w)
	}
	symbols := make([]int32, 0, total) // of all words
	lengths := map[pair]int{}
	for w, freq := range l.counts {
		start := len(symbols)
		for i := 0; i < len(w); {
			_, size := utf8.DecodeRuneInString(w[i:])
			text := w[i : i+size]
			if i += size; i == len(w) {
				text += endOfWord
			}
			symbols = append(symbols, s.intern(text))
		}
		list := symbols[start:]
		s.words = append(s.words, word{list, freq})
		for i := range list[1:] {
			p := pair{list[i], list[i+1]}
			s.counts[p] += freq
			lengths[p]++
		}
	}
	for p, n := range lengths {
		s.places[p] = make([]int32, 0, n)
	}
	for w := range s.words {
		list := s.words[w].symbols
		for i := range list[1:] {
			s.place(pair{list[i], list[i+1]}, int32(w))
		}
	}
	s.all = maps.Clone(s.counts)
	_, most, _ := s.greatest()
	s.threshold = float64(most) / 10
	return s
}

func (s *statistics) intern(text string) int32 {
	id, ok := s.symbols[text]
	if !ok {
		id = int32(len(s.texts))
		s.texts, s.symbols[text] = append(s.texts, text), id
	}
	return id
}

// place adds a word to those that have a pair.
func (s *statistics) place(p pair, w int32) {
	if places := s.places[p]; len(places) == 0 || places[len(places)-1] != w {
		s.places[p] = append(places, w)
	}
}

// mostFrequent returns the pair of merge i and its count: the most frequent one, and of those the
// greatest by its texts. It returns false if there are no pairs.
func (s *statistics) mostFrequent(i int) (pair, int64, bool) {
	best, count, ok := s.greatest()
	if ok && (i == 0 || float64(count) >= s.threshold) {
		return best, count, true
	}
	// Pruned pairs may be more frequent.
	s.prune()
	s.counts = maps.Clone(s.all)
	if best, count, ok = s.greatest(); ok {
		s.threshold = float64(count*int64(i)) / (float64(i) + 10000)
		s.prune()
	}
	return best, count, ok
}

func (s *statistics) greatest() (best pair, count int64, ok bool) {
	for p, n := range s.counts {
		if !ok || n > count || n == count && s.less(best, p) {
			best, count, ok = p, n, true
		}
	}
	return best, count, ok
}

// less compares the texts of pairs.
func (s *statistics) less(p, q pair) bool {
	if p.left != q.left {
		return s.texts[p.left] < s.texts[q.left]
	}
	return s.texts[p.right] < s.texts[q.right]
}

// prune moves the counts below the threshold from counts to all.
func (s *statistics) prune() {
	for p, n := range s.counts {
		if float64(n) >= s.threshold {
			continue
		}
		delete(s.counts, p)
		if n < 0 { // the change since the pair was pruned
			n += s.all[p]
		}
		s.all[p] = n
	}
}

// apply merges a pair in all words.
func (s *statistics) apply(p pair) {
	merged := s.intern(s.texts[p.left] + s.texts[p.right])
	places := s.places[p]
	delete(s.places, p)
	for _, w := range places {
		word := &s.words[w]
		n := len(word.symbols)
		s.remove(word, p)
		if word.symbols = replace(word.symbols, p, merged); len(word.symbols) < n {
			s.insert(word, merged, w)
		}
	}
	s.counts[p] = 0
}

// replace replaces each p by merged in place, from left to right.
func replace(symbols []int32, p pair, merged int32) []int32 {
	out := symbols[:0]
	for i := 0; i < len(symbols); i++ {
		if i+1 < len(symbols) && symbols[i] == p.left && symbols[i+1] == p.right {
			out = append(out, merged)
			i++
		} else {
			out = append(out, symbols[i])
		}
	}
	return out
}

// remove subtracts the pairs next to each p of a word.
func (s *statistics) remove(word *word, p pair) {
	list := word.symbols
	isPair := func(i int) bool { return i+1 < len(list) && list[i] == p.left && list[i+1] == p.right }
	for i := 0; i < len(list); i++ {
		if !isPair(i) {
			continue
		}
		if i > 0 {
			s.counts[pair{list[i-1], list[i]}] -= word.freq
		}
		if i+2 < len(list) && !isPair(i+2) { // otherwise it precedes the next p
			s.counts[pair{list[i+1], list[i+2]}] -= word.freq
		}
		i++
	}
}

// insert adds the pairs next to each merged symbol of word w.
func (s *statistics) insert(word *word, merged, w int32) {
	add := func(p pair) {
		s.counts[p] += word.freq
		s.place(p, w)
	}
	list := word.symbols
	for i, symbol := range list {
		if symbol != merged {
			continue
		}
		if i > 0 {
			add(pair{list[i-1], merged})
		}
		if i+1 < len(list) && list[i+1] != merged { // otherwise it precedes the next one
			add(pair{merged, list[i+1]})
		}
	}
}
