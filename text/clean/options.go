package clean

import "fmt"

// Options choose the faults whose pairs Clean drops, and their limits.
type Options struct {
	Keep [NumFaults]bool // faults whose pairs are kept

	MinLen, MaxLen int // of a side: words, or characters in scripts without spaces
	MaxWord        int // characters of a word

	// Ratio is the limit of the distance of a pair's ratio of lengths from the median of pairs
	// of its length, in standard deviations. 0 is no limit.
	Ratio float64

	PerSource, PerTarget int // pairs with the same source or target. 0 is no limit

	// Misaligned is the estimated share of misaligned pairs among those that are dropped as
	// such. 0 keeps all.
	Misaligned float64

	Threads int // 0 is GOMAXPROCS; the result does not depend on it

	// Progress, if not nil, is called from time to time on the caller's goroutine.
	Progress func(Progress)
}

// Progress is the progress of Clean.
type Progress struct {
	Stage Stage
	Pairs int     // read in the stage; learned from while Learning
	Bytes int64   // of text read in the stage
	Done  float64 // part of the stage, from 0 to 1; negative: unknown
}

// Stage is a part of the work of Clean.
type Stage string

// The stages. Each except Learning reads the corpus, and Counting only if it has more pairs than
// fit into a table of hashes.
const (
	Surveying Stage = "reading"               // draws a sample
	Learning  Stage = "learning translations" // which words translate which
	Counting  Stage = "counting duplicates"
	Cleaning  Stage = "cleaning" // judges the pairs
)

// DefaultOptions returns the options that suit most corpora: without limits for equal sources or
// targets, and near-duplicates are kept.
func DefaultOptions() Options {
	o := Options{MinLen: 1, MaxLen: 200, MaxWord: 100, Ratio: 6, Misaligned: 0.9}
	o.Keep[NearDuplicate] = true
	return o
}

// Validate reports the first option that is out of range.
func (o *Options) Validate() error {
	switch {
	case o.MaxLen < 1:
		return fmt.Errorf("-longest is %d, expected 1 or more", o.MaxLen)
	case o.MinLen < 0 || o.MinLen > o.MaxLen:
		return fmt.Errorf("-shortest is %d, expected 0 to %d, the -longest", o.MinLen, o.MaxLen)
	case o.MaxWord < 1:
		return fmt.Errorf("-max-word is %d, expected 1 or more", o.MaxWord)
	case !(o.Ratio >= 0):
		return fmt.Errorf("-ratio is %v, expected 0 or more", o.Ratio)
	case o.PerSource < 0:
		return fmt.Errorf("-per-source is %d, expected 0 or more", o.PerSource)
	case o.PerTarget < 0:
		return fmt.Errorf("-per-target is %d, expected 0 or more", o.PerTarget)
	case !(o.Misaligned >= 0 && o.Misaligned <= 1):
		return fmt.Errorf("-misaligned is %v, expected 0 to 1", o.Misaligned)
	}
	return nil
}
