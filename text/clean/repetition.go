package clean

// Repetitions from which a side has a fault.
const (
	minRepeats = 4 // of a phrase
	minRun     = 6 // of a character
	maxPhrase  = 8 // words of a phrase
)

// repetition reports a side that repeats a phrase or a character without a break, unless the other
// side does so at least half as often: a translation keeps repetitions that are meant.
func (c *cleaner) repetition(p *pair) bool {
	one, other := repeats(p.src.words), repeats(p.tgt.words)
	return max(one, other) >= minRepeats && 2*min(one, other) <= max(one, other) ||
		max(p.src.run, p.tgt.run) >= minRun && 3*min(p.src.run, p.tgt.run) <= max(p.src.run, p.tgt.run)
}

// repeats returns the largest number of consecutive occurrences of a phrase of up to maxPhrase
// words.
func repeats(words []word) int {
	most := min(1, len(words))
	for n := 1; n <= min(maxPhrase, len(words)/2); n++ {
		equal := 0 // words that equal the n-th before them, without a break
		for i := n; i < len(words); i++ {
			if words[i] != words[i-n] {
				equal = 0
				continue
			}
			equal++
			most = max(most, 1+equal/n)
		}
	}
	return most
}
