package score

import "slices"

// Tercom's limits of shifts, and sacreBLEU's of trials.
const (
	maxShiftLength   = 10   // tokens of a phrase
	maxShiftDistance = 50   // tokens between the positions of a phrase in hypothesis and reference
	maxShiftTrials   = 1000 // for one hypothesis and reference
)

// shifter counts the edits of TER, which turn a hypothesis into a reference: shifts of phrases, as
// long as one reduces the edit distance, and the remaining edit distance.
type shifter struct {
	distance editDistance
	errors   alignment
	trials   int

	hyp, shifted, best []uint32
}

// edits returns the number of shifts, insertions, deletions and substitutions.
func (s *shifter) edits(hyp, ref []uint32) int {
	if len(ref) == 0 {
		return len(hyp)
	}
	s.hyp = append(s.hyp[:0], hyp...)
	s.distance.start(len(hyp), ref)
	s.trials = 0
	for shifts := 0; ; shifts++ {
		distance := s.distance.of(s.hyp)
		saved := s.bestShift(ref, distance)
		if saved <= 0 || s.trials >= maxShiftTrials {
			return shifts + distance
		}
		s.hyp, s.best = s.best, s.hyp
	}
}

// bestShift sets s.best to s.hyp after its best shift. It returns by how much this reduces the
// distance, or 0 if no phrase can be shifted. Of equally good shifts the best has the longest
// phrase, then the first in the hypothesis, then the first target. Both phrase and target must have
// errors.
func (s *shifter) bestShift(ref []uint32, distance int) (saved int) {
	s.errors.trace(&s.distance, s.hyp)
	var best [4]int // qualities, in the order of their weight
	found := false
	for start := range s.hyp {
		for at := max(0, start-maxShiftDistance); at < min(len(ref), start+maxShiftDistance+1); at++ {
			longest := min(maxShiftLength, len(s.hyp)-start, len(ref)-at)
			for n := 1; n <= longest && s.hyp[start+n-1] == ref[at+n-1]; n++ {
				if !s.errors.shiftable(start, at, n) {
					continue
				}
				last := -1
				for i := at - 1; i < at+n; i++ {
					target := s.errors.target(i)
					if target == last {
						continue
					}
					last = target
					s.shifted = appendShifted(s.shifted[:0], s.hyp, start, n, target)
					unchanged := min(start, target)
					quality := [4]int{distance - s.distance.ofSuffix(s.shifted, unchanged), n, -start, -target}
					s.trials++
					if !found || slices.Compare(quality[:], best[:]) > 0 {
						found, best = true, quality
						s.best = append(s.best[:0], s.shifted...)
					}
				}
				if s.trials >= maxShiftTrials {
					return best[0]
				}
			}
		}
	}
	return best[0]
}

// appendShifted appends words with the n of them from start moved to target, a position among the
// others if it is behind them.
func appendShifted(dst, words []uint32, start, n, target int) []uint32 {
	phrase, end := words[start:start+n], start+n
	switch {
	case target < start:
		dst = append(append(dst, words[:target]...), phrase...)
		return append(append(dst, words[target:start]...), words[end:]...)
	case target <= end: // within the phrase: to as many words behind its end
		target = min(target+n, len(words))
	}
	dst = append(append(dst, words[:start]...), words[end:target]...)
	return append(append(dst, phrase...), words[target:]...)
}

// alignment is an alignment of a hypothesis and a reference by the edits of their distance.
type alignment struct {
	hypErrors, refErrors []int // number of errors before each position

	// aligned has for each token of the reference the index of its token in the hypothesis.
	// That of a missing token is the index of the token before it, or -1.
	aligned []int
}

// trace sets a to the alignment of a distance that d.of has computed. Equally short alignments
// prefer matches and substitutions from the end, then deletions from the hypothesis.
func (a *alignment) trace(d *editDistance, hyp []uint32) {
	a.hypErrors = append(a.hypErrors[:0], make([]int, len(hyp)+1)...)
	a.refErrors = append(a.refErrors[:0], make([]int, len(d.ref)+1)...)
	a.aligned = append(a.aligned[:0], make([]int, len(d.ref))...)
	for i, j := len(hyp), len(d.ref); i > 0 || j > 0; {
		switch {
		case i > 0 && j > 0 && d.at(i, j) == d.at(i-1, j-1)+differ(hyp[i-1], d.ref[j-1]):
			i, j = i-1, j-1
			a.aligned[j] = i
			a.hypErrors[i+1] = int(differ(hyp[i], d.ref[j]))
			a.refErrors[j+1] = a.hypErrors[i+1]
		case i > 0 && d.at(i, j) == d.at(i-1, j)+1:
			i--
			a.hypErrors[i+1] = 1
		default:
			j--
			a.aligned[j] = i - 1
			a.refErrors[j+1] = 1
		}
	}
	for _, errors := range [][]int{a.hypErrors, a.refErrors} {
		for i := 1; i < len(errors); i++ {
			errors[i] += errors[i-1]
		}
	}
}

// shiftable reports whether a phrase of n tokens from start in the hypothesis may be shifted to the
// equal one from at in the reference: both have errors, and the target is outside the phrase.
func (a *alignment) shiftable(start, at, n int) bool {
	return a.hypErrors[start] < a.hypErrors[start+n] && a.refErrors[at] < a.refErrors[at+n] &&
		(a.aligned[at] < start || a.aligned[at] >= start+n)
}

// target returns the position in the hypothesis behind that of token i of the reference, which is
// -1 for the start.
func (a *alignment) target(i int) int {
	if i < 0 {
		return 0
	}
	return a.aligned[i] + 1
}
