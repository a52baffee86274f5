package subword

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Entry is a piece and its count in the segmented corpus.
type Entry struct {
	Piece string
	Count int64
}

// Vocabulary is the pieces of a file of the vocabulary. It is immutable and safe for concurrent
// use.
type Vocabulary struct {
	entries []Entry
	index   map[string]int32 // of each piece
	joined  map[string]int32 // of each piece with a joint, by its text
}

// maxEntries is the limit of the entries of a vocabulary.
const maxEntries = 1 << 24

// NewVocabulary returns the vocabulary of entries. The error names the first invalid one, from 1.
func NewVocabulary(entries []Entry) (*Vocabulary, error) {
	v := &Vocabulary{index: map[string]int32{}, joined: map[string]int32{}}
	for i, x := range entries {
		if err := v.add(x); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
	}
	return v, nil
}

func (v *Vocabulary) add(x Entry) error {
	err := checkText(x.Piece, "piece")
	switch _, ok := v.index[x.Piece]; {
	case err != nil:
		return err
	case ok:
		return fmt.Errorf("found piece %q again", x.Piece)
	case x.Count < 0:
		return fmt.Errorf("found count %d, expected 0 or more", x.Count)
	case len(v.entries) == maxEntries:
		return fmt.Errorf("found more than %d pieces", maxEntries)
	}
	id := int32(len(v.entries))
	v.entries = append(v.entries, x)
	v.index[x.Piece] = id
	if text, ok := strings.CutSuffix(x.Piece, joint); ok {
		v.joined[text] = id
	}
	return nil
}

// ReadVocabulary reads a file of the vocabulary, which errors name: on each line a piece, a space
// and its count. It drops pieces with counts less than threshold. With a threshold of 0 or less the
// counts may be missing.
func ReadVocabulary(r io.Reader, name string, threshold int64) (*Vocabulary, error) {
	v, _ := NewVocabulary(nil)
	err := eachLine(r, name, func(_ int, line string) (err error) {
		piece, count, ok := strings.Cut(strings.Trim(line, "\r "), " ")
		x := Entry{Piece: piece}
		if ok || threshold > 0 {
			if x.Count, err = strconv.ParseInt(count, 10, 64); err != nil {
				return fmt.Errorf("found %.40q, expected a piece, a space and its count", line)
			}
		}
		if 0 <= x.Count && x.Count < threshold {
			return nil
		}
		return v.add(x)
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// find returns the index of a segment, with a joint unless it is the last of its word, or -1.
func (v *Vocabulary) find(segment string, isLast bool) int32 {
	list := v.joined
	if isLast {
		list = v.index
	}
	if i, ok := list[segment]; ok {
		return i
	}
	return -1
}
