package align

// Scorer estimates how well the source words of a pair explain its target words, by the expected
// counts of a Lexicon. It is not safe for concurrent use, but several Scorers of one Lexicon are.
type Scorer struct {
	l      *Lexicon
	totals []float64 // expected counts by source word, as in Lexicon.starts

	w           workspace
	shares      []float64 // of a pair: p(j|i) of target word i and source word j, in rows of i
	shareTotals []float64 // by j
	p           []float64
}

// Scorer returns a Scorer. It requires that Expect has had all pairs since Learn, and that the
// Lexicon changes no more.
func (l *Lexicon) Scorer() *Scorer {
	s := &Scorer{l: l, totals: make([]float64, len(l.starts)-1)}
	for word := range s.totals {
		s.totals[word] = l.total(word)
	}
	return s
}

// Explain returns, for each target word t of p, the largest p(t|s) of the source words s of p, 0 if
// none explains it. If own, the counts of the Lexicon have those of p, and the estimate leaves them
// out. The values are valid until the next call.
func (s *Scorer) Explain(p *Pair, own bool) []float64 {
	// The shares of a pair are subtracted from sums of integers: differences below this are
	// rounding errors.
	const least = 1e-6
	m := len(p.Source)
	if own {
		s.expect(p)
	}
	s.p = s.p[:0]
	for i, t := range p.Target {
		best := 0.0
		for j, word := range p.Source {
			entry := s.l.find(int(word)+1, t)
			if entry < 0 {
				continue
			}
			count, total := float64(float64(s.l.counts[entry])/countUnit), s.totals[word+1]
			if own {
				count -= s.shares[i*m+j]
				total -= s.shareTotals[j]
			}
			if count > least && total > least {
				best = max(best, min(1, count/total))
			}
		}
		s.p = append(s.p, best)
	}
	return s.p
}

// expect sets the shares of p.
func (s *Scorer) expect(p *Pair) {
	m := len(p.Source)
	s.shares, s.shareTotals = s.shares[:0], append(s.shareTotals[:0], make([]float64, m)...)
	for i, t := range p.Target {
		sum := s.l.posterior(&s.w, p, i, t)
		for j := range m {
			share := 0.0
			if sum > 0 {
				share = s.w.weights[1+j] / sum
			}
			s.shares = append(s.shares, share)
			s.shareTotals[j] += share
		}
	}
}
