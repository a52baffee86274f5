package bpe

import (
	"cmp"

	"tfm/text"
	"tfm/text/tokenizer/internal/tally"
)

// CorpusTrainer counts the words of both sides of a corpus, so that tokenizers of the sides and a
// joint one can be learned from one reading. Its Trainers are in the same state as Trainers of the
// sources alone, of the targets alone, and of all sources and targets in the order of Add. The zero
// value is ready to use. A CorpusTrainer is not safe for concurrent use.
//
// While the distinct words of both sides together fit into MaxTableBytes, the joint counts are the
// sums of the sides' counts and take little time and memory. Beyond that each word is counted
// twice, for its side and for the joint table.
type CorpusTrainer struct {
	sides [2]Trainer // source, target

	// The distinct words of both sides, in the order of their first occurrences, and their
	// total length. Unused once joint counts words.
	union      []sideWord
	unionBytes int

	joint    Trainer // counts words if separate
	separate bool
}

// sideWord identifies a word by its index in the table of a side.
type sideWord struct {
	side  uint8
	index int32
}

// Add counts the words of a pair. It does not retain the strings.
func (t *CorpusTrainer) Add(p text.Pair) {
	t.add(0, p.Source)
	t.add(1, p.Target)
}

// Source returns the Trainer of the sources.
func (t *CorpusTrainer) Source() *Trainer { return &t.sides[0] }

// Target returns the Trainer of the targets.
func (t *CorpusTrainer) Target() *Trainer { return &t.sides[1] }

// Joint returns a Trainer of both sides, which does not count later pairs.
func (t *CorpusTrainer) Joint() *Trainer {
	if t.separate {
		return &t.joint
	}
	n := len(t.union)
	joint := &Trainer{words: tally.Table{Size: t.unionBytes, Strings: make([]string, n), Counts: make([]int64, n)}}
	for i, w := range t.union {
		joint.words.Strings[i], joint.words.Counts[i] = t.word(w)
	}
	return joint
}

// JointThreshold returns the Threshold of Joint.
func (t *CorpusTrainer) JointThreshold() int64 { return t.joint.Threshold() }

// add counts the words of one side of a pair.
func (t *CorpusTrainer) add(side uint8, s string) {
	own := &t.sides[side]
	for unread := own.begin(s); len(unread) > 0; {
		n := wordLen(unread)
		word := unread[:n]
		unread = unread[n:]
		if t.separate {
			t.joint.count(word)
			own.count(word)
		} else if i, added := own.words.Add(word); added {
			t.addToUnion(sideWord{side, i})
			own.limit()
		}
	}
}

// addToUnion adds a new word of a side to the union, unless the other side has it. If the union is
// full, the joint table continues with the sums of the counts. The table of the side exceeds its
// limit at the same word or later, so that the counts are exact.
func (t *CorpusTrainer) addToUnion(w sideWord) {
	own := &t.sides[w.side].words
	word := own.Strings[w.index]
	if _, ok := t.sides[1-w.side].words.Find(word); ok {
		return
	}
	t.union = append(t.union, w)
	t.unionBytes += len(word)
	if t.unionBytes <= cmp.Or(own.Limit, MaxTableBytes) {
		return
	}
	t.joint.words.Limit = own.Limit
	for _, w := range t.union {
		t.joint.words.Insert(t.word(w))
	}
	t.joint.limit()
	t.union, t.separate = nil, true
}

// word returns a word and its count on both sides.
func (t *CorpusTrainer) word(w sideWord) (string, int64) {
	own, other := &t.sides[w.side].words, &t.sides[1-w.side].words
	word, count := own.Strings[w.index], own.Counts[w.index]
	if i, ok := other.Find(word); ok {
		count += other.Counts[i]
	}
	return word, count
}
