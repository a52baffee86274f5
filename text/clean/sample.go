package clean

import (
	"slices"

	"tfm/internal/hash"
	"tfm/text"
)

// Limits of the sample.
const (
	maxSampled     = 1 << 18
	maxSampleBytes = 1 << 26
	// Products of the numbers of units of both sides, to which memory and time of learning
	// translations are proportional.
	maxCooccurrences = 12 << 20
)

// sample is a sample of the pairs of a corpus in bounded memory, in their order. A line number
// decides with the seed 0 of a hash whether a pair is in it.
type sample struct {
	pairs []text.RepairedPair
	bits  int // one of 1<<bits pairs is in the sample
	bytes int

	cooccurrences int
	sizes         []int // co-occurrences of each pair
}

// has reports whether the pair on a line is in the sample if it has no fault.
func (s *sample) has(line int) bool { return hash.Mix(uint64(line))>>(64-s.bits) == 0 }

// add adds a pair that has reports.
func (s *sample) add(p *pair) {
	size := len(p.src.units()) * len(p.tgt.units())
	s.pairs, s.sizes = append(s.pairs, p.RepairedPair), append(s.sizes, size)
	s.bytes += p.Bytes
	s.cooccurrences += size
	for s.bytes > maxSampleBytes || s.cooccurrences > maxCooccurrences || len(s.pairs) > maxSampled {
		s.halve()
	}
}

// halve keeps half of the pairs.
func (s *sample) halve() {
	s.bits++
	pairs, sizes := s.pairs, s.sizes
	s.pairs, s.sizes, s.bytes, s.cooccurrences = s.pairs[:0], s.sizes[:0], 0, 0
	for i, p := range pairs {
		if s.has(p.Line) {
			s.pairs, s.sizes = append(s.pairs, p), append(s.sizes, sizes[i])
			s.bytes += p.Bytes
			s.cooccurrences += sizes[i]
		}
	}
	clear(pairs[len(s.pairs):])
}

// remove removes the pairs for which drop returns true.
func (s *sample) remove(drop func(*text.RepairedPair) bool) {
	s.pairs = slices.DeleteFunc(s.pairs, func(p text.RepairedPair) bool { return drop(&p) })
	s.sizes = nil
}
