package score

import (
	"math"
	"strings"
)

// TER is the translation edit rate (Snover et al. 2006, "A Study of Translation Edit Rate with
// Targeted Human Annotation") as sacreBLEU computes it by default, which follows Tercom: white
// space separates tokens, and case does not count. Of several references of a segment the one with
// the fewest edits counts; the reference length is the mean of theirs.
type TER struct{}

// The statistics of a segment.
const (
	terEdits = iota
	terRefLen
	terColumns
)

func (t TER) columns() int { return terColumns }

func (t TER) count(c *counter, row []float64, hypothesis string, references []string) {
	hyp := c.ids.ids(terTokens(hypothesis))
	length, edits := 0, math.MaxInt
	for _, r := range references {
		ref := c.ids.ids(terTokens(r))
		length += len(ref)
		edits = min(edits, c.shifter.edits(hyp, ref))
	}
	row[terEdits], row[terRefLen] = float64(edits), float64(length)/float64(len(references))
}

func terTokens(s string) []string { return strings.FieldsFunc(pythonLower(s), isPythonSpace) }

func (t TER) score(sums []float64) float64 {
	switch edits, refLen := sums[terEdits], sums[terRefLen]; {
	case refLen > 0:
		return 100 * (edits / refLen)
	case edits > 0:
		return 100
	}
	return 0
}

func (t TER) name() string { return "TER" }

func (t TER) settings() string { return "case:lc|tok:tercom|norm:no|punct:yes|asian:no" }

func (t TER) details([]float64) string { return "" }
