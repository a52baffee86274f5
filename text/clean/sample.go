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
	pairs []sampledPair
	bits  int // one of 1<<bits pairs is in the sample

	bytes, cooccurrences int // of pairs
}

type sampledPair struct {
	text.RepairedPair
	cooccurrences int
}

// has reports whether the pair on a line is in the sample if it has no fault.
func (s *sample) has(line int) bool { return hash.Mix(uint64(line))>>(64-s.bits) == 0 }

// add adds a pair that has reports.
func (s *sample) add(p *pair) {
	q := sampledPair{p.RepairedPair, len(units(&p.src)) * len(units(&p.tgt))}
	s.pairs = append(s.pairs, q)
	s.bytes += q.Bytes
	s.cooccurrences += q.cooccurrences
	for s.bytes > maxSampleBytes || s.cooccurrences > maxCooccurrences || len(s.pairs) > maxSampled {
		s.halve()
	}
}

// halve keeps half of the pairs.
func (s *sample) halve() {
	s.bits++
	s.pairs = slices.DeleteFunc(s.pairs, func(p sampledPair) bool { return !s.has(p.Line) })
	s.bytes, s.cooccurrences = 0, 0
	for _, p := range s.pairs {
		s.bytes += p.Bytes
		s.cooccurrences += p.cooccurrences
	}
}
