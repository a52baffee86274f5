package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// Pairs is a corpus of sentence pairs as ids without special tokens. All ids of a side are in one
// slice, so that a corpus of millions of sentences needs few allocations. Concurrent reading is
// safe, adding is not.
type Pairs struct {
	src, tgt side
}

// side holds the sentences of one language.
type side struct {
	ids  []int32
	ends []int // sentence i is ids[ends[i-1]:ends[i]]
}

// Add appends a pair. It copies the ids.
func (p *Pairs) Add(src, tgt []int32) {
	p.src.add(src)
	p.tgt.add(tgt)
}

// Grow allocates memory for n more pairs of the average length so far. It is a hint.
func (p *Pairs) Grow(n int) {
	for _, s := range []*side{&p.src, &p.tgt} {
		if len(s.ends) > 0 {
			tokens := float64(len(s.ids)) / float64(len(s.ends)) * float64(n)
			s.grow(n, int(tokens*1.05))
		}
	}
}

// reset removes all pairs and keeps the memory.
func (p *Pairs) reset() {
	for _, s := range []*side{&p.src, &p.tgt} {
		s.ids, s.ends = s.ids[:0], s.ends[:0]
	}
}

// Len returns the number of pairs.
func (p *Pairs) Len() int { return len(p.src.ends) }

// Src returns the source sentence of pair i. The caller must not modify it.
func (p *Pairs) Src(i int) []int32 { return p.src.at(i) }

// Tgt returns the target sentence of pair i. The caller must not modify it.
func (p *Pairs) Tgt(i int) []int32 { return p.tgt.at(i) }

func (s *side) add(ids []int32) {
	s.ids = append(s.ids, ids...)
	s.ends = append(s.ends, len(s.ids))
}

func (s *side) grow(sentences, tokens int) {
	s.ids, s.ends = slices.Grow(s.ids, tokens), slices.Grow(s.ends, sentences)
}

func (s *side) start(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1]
}

func (s *side) at(i int) []int32 { return s.ids[s.start(i):s.ends[i]:s.ends[i]] }

func (s *side) length(i int) int { return s.ends[i] - s.start(i) }

// check returns an error if an id is outside [0, srcVocab) or [0, tgtVocab). Kernels do not check
// ids.
func (p *Pairs) check(name string, srcVocab, tgtVocab int) error {
	if err := p.src.check(srcVocab); err != nil {
		return fmt.Errorf("train: %s, source of %w", name, err)
	}
	if err := p.tgt.check(tgtVocab); err != nil {
		return fmt.Errorf("train: %s, target of %w", name, err)
	}
	return nil
}

func (s *side) check(vocab int) error {
	for i := range s.ends {
		for _, id := range s.at(i) {
			if id < 0 || int(id) >= vocab {
				return fmt.Errorf("pair %d: found id %d, expected 0 to %d", i, id, vocab-1)
			}
		}
	}
	return nil
}

// fingerprint identifies a corpus: the first 16 hexadecimal digits of the SHA-256 of all lengths
// and ids.
func (p *Pairs) fingerprint() string {
	h := sha256.New()
	var buf []byte
	for _, s := range []*side{&p.src, &p.tgt} {
		for i := range s.ends {
			buf = binary.LittleEndian.AppendUint32(buf[:0], uint32(s.length(i)))
			for _, id := range s.at(i) {
				buf = binary.LittleEndian.AppendUint32(buf, uint32(id))
			}
			h.Write(buf)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
