package translate

import (
	"cmp"
	"slices"
	"strings"

	"tfm/text/script"
)

// memoryIndex finds the sources of a memory that resemble a text.
type memoryIndex struct {
	sources []memorySource
	ids     map[string]int32 // of the words of all sources
	places  [][]int32        // of each word: the sources that have it, ascending
}

type memorySource struct {
	source, target string
	words          []int32
}

// similarityWords returns the words of s by which it is compared, without case: those between white
// space, or the characters of scripts without.
func similarityWords(s string) (list []string) {
	for _, field := range strings.Fields(strings.ToLower(s)) {
		from := 0
		for i, r := range field {
			if script.OfUnspaced(r) != script.None {
				if from < i {
					list = append(list, field[from:i])
				}
				from = i + len(string(r))
				list = append(list, field[i:from])
			}
		}
		if from < len(field) {
			list = append(list, field[from:])
		}
	}
	return list
}

// maxSimilarBytes bounds the time of a comparison. No model is tuned to longer sources.
const maxSimilarBytes = 1 << 13

// newMemoryIndex returns the index of the sources of targets.
func newMemoryIndex(targets map[string]string) *memoryIndex {
	x := &memoryIndex{ids: map[string]int32{}}
	for source, target := range targets {
		if len(source) <= maxSimilarBytes {
			x.sources = append(x.sources, memorySource{source: source, target: target})
		}
	}
	slices.SortFunc(x.sources, func(a, b memorySource) int { return strings.Compare(a.source, b.source) })
	for i := range x.sources {
		s := &x.sources[i]
		for _, word := range similarityWords(s.source) {
			id, ok := x.ids[word]
			if !ok {
				id = int32(len(x.places))
				x.ids[word] = id
				x.places = append(x.places, nil)
			}
			s.words = append(s.words, id)
			if p := x.places[id]; len(p) == 0 || p[len(p)-1] != int32(i) {
				x.places[id] = append(p, int32(i))
			}
		}
	}
	return x
}

// closest returns the source that is most similar to a text, the first of equals in the order of
// strings, if the similarity is at least least, which is more than 0.
func (x *memoryIndex) closest(text string, least float64) (found *memorySource, similarity float64) {
	if len(text) > maxSimilarBytes {
		return nil, 0
	}
	var words []int32
	for _, word := range similarityWords(text) {
		id, ok := x.ids[word]
		if !ok {
			id = -1
		}
		words = append(words, id)
	}
	// A similar source shares at least least·n of the n words, so at least one of any others.
	rare := slices.Clone(words)
	slices.SortFunc(rare, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.frequency(a), x.frequency(b)), cmp.Compare(a, b))
	})
	rare = rare[:min(len(rare), len(rare)-int(least*float64(len(rare)))+1)]
	seen := map[int32]bool{}
	best := least
	for _, id := range slices.Compact(rare) {
		if id < 0 {
			continue
		}
		for _, i := range x.places[id] {
			s := &x.sources[i]
			longer, shorter := max(len(words), len(s.words)), min(len(words), len(s.words))
			if seen[i] || float64(shorter)/float64(longer) < best {
				continue
			}
			seen[i] = true
			similar := float64(longer-wordDistance(words, s.words)) / float64(longer)
			if similar > best || similar == best && (found == nil || s.source < found.source) {
				found, best = s, similar
			}
		}
	}
	return found, best
}

// frequency returns the number of sources with a word.
func (x *memoryIndex) frequency(id int32) int {
	if id < 0 {
		return 0
	}
	return len(x.places[id])
}

// wordDistance returns the edit distance: the least number of words to insert, drop or replace.
func wordDistance(a, b []int32) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			replaced := diagonal
			if a[i] != b[j] || a[i] < 0 {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
