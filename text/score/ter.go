package score

import (
	"fmt"
	"math"
)

// TER has the settings of the translation edit rate (Snover et al. 2006, "A Study of Translation
// Edit Rate with Targeted Human Annotation") as sacreBLEU computes it, which follows Tercom. The
// zero value is sacreBLEU's default: white space separates tokens, and case does not count. Of
// several references of a segment the one with the fewest edits counts; the reference length is the
// mean of theirs.
type TER struct {
	CaseSensitive bool
	Normalized    bool // splits off punctuation, and decodes XML's entities
	NoPunctuation bool // removes punctuation

	// AsianSupport extends Normalized to Chinese characters, and NoPunctuation to Chinese and
	// Japanese punctuation.
	AsianSupport bool
}

// The statistics of a segment.
const (
	terEdits = iota
	terRefLen
	terColumns
)

func (t TER) columns() int { return terColumns }

func (t TER) count(c *counter, row []float64, hypothesis string, references []string) {
	hyp := c.ids.ids(t.tokens(hypothesis))
	length, edits := 0, math.MaxInt
	for _, r := range references {
		ref := c.ids.ids(t.referenceTokens(r))
		length += len(ref)
		edits = min(edits, c.shifter.edits(hyp, ref))
	}
	row[terEdits], row[terRefLen] = float64(edits), float64(length)/float64(len(references))
}

// terOf returns the score from the sums of the statistics. One that sacreBLEU does not compute from
// them has computed false.
func terOf[F float](sums []F) (score F, computed bool) {
	switch edits, refLen := sums[terEdits], sums[terRefLen]; {
	case refLen > 0:
		return 100 * (edits / refLen), true
	case edits > 0:
		return 100, false
	}
	return 0, false
}

func (t TER) score(sums []float64) float64 {
	s, _ := terOf(sums)
	return s
}

func (t TER) scoreResample(sums []float32) (float64, bool) {
	s, computed := terOf(sums)
	return float64(s), computed
}

func (t TER) scoreTrial(sums []float64) float64 { return t.score(sums) }

func (t TER) name() string { return "TER" }

func (t TER) settings() string {
	return fmt.Sprintf("case:%s|tok:tercom|norm:%s|punct:%s|asian:%s", word(t.CaseSensitive, "mixed", "lc"),
		yesNo(t.Normalized), yesNo(!t.NoPunctuation), yesNo(t.AsianSupport))
}

func (t TER) details([]float64) string { return "" }
