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
// The zero value is ready to use. It is not safe for concurrent use.
type Learner struct {
	words  []string
	counts []int64
	index  map[string]int
	bytes  int
}

// Add counts the words of a line. It fails if the distinct words exceed MaxTableBytes, because a
// sample of them would not give the codes of subword-nmt.
func (l *Learner) Add(line string) error {
	if l.index == nil {
		l.index = map[string]int{}
	}
	for word := range strings.SplitSeq(strings.Trim(line, "\r\n "), " ") {
		if word == "" {
			continue
		}
		if i, ok := l.index[word]; ok {
			l.counts[i]++
			continue
		}
		if l.bytes += len(word); l.bytes > MaxTableBytes {
			return fmt.Errorf("distinct words of more than %d MiB, expected a smaller sample of the corpus", MaxTableBytes>>20)
		}
		word = strings.Clone(word)
		l.index[word] = len(l.words)
		l.words, l.counts = append(l.words, word), append(l.counts, 1)
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

	words  [][]int32
	freqs  []int64 // of words
	counts map[pair]int64
	all    map[pair]int64
	places map[pair]map[int32]int32 // number of occurrences in each word

	threshold float64 // counts below it may be pruned
}

func newStatistics(l *Learner) *statistics {
	s := &statistics{symbols: map[string]int32{}, freqs: l.counts, counts: map[pair]int64{}, places: map[pair]map[int32]int32{}}
	for w, word := range l.words {
		var list []int32
		for i := 0; i < len(word); {
			_, size := utf8.DecodeRuneInString(word[i:])
			text := word[i : i+size]
			if i += size; i == len(word) {
				text += endOfWord
			}
			list = append(list, s.intern(text))
		}
		s.words = append(s.words, list)
		for i := range list[1:] {
			s.add(pair{list[i], list[i+1]}, int32(w), 1)
		}
	}
	s.all = maps.Clone(s.counts)
	var most int64
	for _, n := range s.counts {
		most = max(most, n)
	}
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

// add adds n occurrences of a pair in a word.
func (s *statistics) add(p pair, word, n int32) {
	s.counts[p] += int64(n) * s.freqs[word]
	if s.places[p] == nil {
		s.places[p] = map[int32]int32{}
	}
	s.places[p][word] += n
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
	places := s.places[p]
	s.places[p], s.counts[p] = map[int32]int32{}, 0
	merged := s.intern(s.texts[p.left] + s.texts[p.right])
	for w, n := range places {
		if n < 1 {
			continue
		}
		old := s.words[w]
		s.words[w] = replace(old, p, merged)
		s.remove(old, p, w)
		s.insert(s.words[w], merged, w)
	}
	s.counts[p] = 0
}

// replace returns word with merged for each p, from left to right.
func replace(word []int32, p pair, merged int32) []int32 {
	var out []int32
	for i := 0; i < len(word); i++ {
		if i+1 < len(word) && word[i] == p.left && word[i+1] == p.right {
			out = append(out, merged)
			i++
		} else {
			out = append(out, word[i])
		}
	}
	return out
}

// remove subtracts the pairs next to each p of a word.
func (s *statistics) remove(word []int32, p pair, w int32) {
	isPair := func(i int) bool { return i+1 < len(word) && word[i] == p.left && word[i+1] == p.right }
	for i := 0; i < len(word); i++ {
		if !isPair(i) {
			continue
		}
		if i > 0 {
			s.add(pair{word[i-1], word[i]}, w, -1)
		}
		if i+2 < len(word) && !isPair(i+2) { // otherwise it precedes the next p
			s.add(pair{word[i+1], word[i+2]}, w, -1)
		}
		i++
	}
}

// insert adds the pairs next to each merged symbol of a word.
func (s *statistics) insert(word []int32, merged, w int32) {
	for i, symbol := range word {
		if symbol != merged {
			continue
		}
		if i > 0 {
			s.add(pair{word[i-1], merged}, w, 1)
		}
		if i+1 < len(word) && word[i+1] != merged { // otherwise it precedes the next one
			s.add(pair{merged, word[i+1]}, w, 1)
		}
	}
}
