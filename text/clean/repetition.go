package clean

import "tfm/text/internal/words"

// Repetitions from which a side has a fault.
const (
	minRepeats = 4 // of a phrase
	minRun     = 6 // of a character
	maxPhrase  = 8 // words of a phrase
)

// repetition reports a side that repeats a phrase or a character without a break, unless the other
// side does so at least half as often: a translation keeps repetitions that are meant.
func (c *cleaner) repetition(p *pair) bool {
	one, other := repeats(p.src.Words), repeats(p.tgt.Words)
	return max(one, other) >= minRepeats && 2*min(one, other) <= max(one, other) ||
		max(p.src.Run, p.tgt.Run) >= minRun && 3*min(p.src.Run, p.tgt.Run) <= max(p.src.Run, p.tgt.Run)
}

// repeats returns the largest number of consecutive occurrences of a phrase of up to maxPhrase
// words.
func repeats(list []words.Word) int {
	most := min(1, len(list))
	for n := 1; n <= min(maxPhrase, len(list)/2); n++ {
		equal := 0 // words that equal the n-th before them, without a break
		for i := n; i < len(list); i++ {
			if list[i] != list[i-n] {
				equal = 0
				continue
			}
			equal++
			most = max(most, 1+equal/n)
		}
	}
	return most
}
