package score

import "fmt"

// TER accumulates the statistics of a corpus for the translation edit rate (Snover et al. 2006, "A
// Study of Translation Edit Rate with Targeted Human Annotation") as sacreBLEU computes it, which
// follows Tercom. The zero value is sacreBLEU's default: white space separates tokens, and case
// does not count. The exported fields must not change after the first Add. A TER is not safe for
// concurrent use.
type TER struct {
	CaseSensitive bool
	Normalized    bool // splits off punctuation, and decodes XML's entities
	NoPunctuation bool // removes punctuation

	// AsianSupport extends Normalized to Chinese characters, and NoPunctuation to Chinese and
	// Japanese punctuation.
	AsianSupport bool

	accumulator
	scratch *terScratch
}

// terScratch is the memory of the count of one segment.
type terScratch struct {
	ids      tokenIDs
	hyp, ref []uint32
	shifter  shifter
}

// Add adds one segment. Of several references the one with the fewest edits counts; the reference
// length is the mean of theirs.
func (t *TER) Add(hypothesis, reference string, more ...string) {
	t.add(t, hypothesis, reference, more)
}

// The statistics of a segment.
const (
	terEdits = iota
	terRefLen
	terColumns
)

func (t *TER) columns() int { return terColumns }

func (t *TER) count(row []float64, hypothesis string, references []string) {
	if t.scratch == nil {
		t.scratch = new(terScratch)
	}
	s := t.scratch
	if s.ids == nil {
		s.ids = make(tokenIDs)
	}
	clear(s.ids)
	s.hyp = s.ids.ids(s.hyp[:0], t.tokens(hypothesis))
	length, edits := 0, -1
	for _, r := range references {
		s.ref = s.ids.ids(s.ref[:0], t.referenceTokens(r))
		length += len(s.ref)
		if e := s.shifter.edits(s.hyp, s.ref); edits < 0 || e < edits {
			edits = e
		}
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

func (t *TER) score(sums []float64) float64 {
	s, _ := terOf(sums)
	return s
}

func (t *TER) scoreResample(sums []float32) (float64, bool) {
	s, computed := terOf(sums)
	return float64(s), computed
}

func (t *TER) scoreTrial(sums []float64) float64 { return t.score(sums) }

func (t *TER) name() string { return "TER" }

// worker returns a copy with its own memory.
func (t *TER) worker() Metric {
	w := *t
	w.scratch = nil
	return &w
}

// TERResult is a TER score and its components.
type TERResult struct {
	Score     float64 // edits per token of the reference, times 100
	Edits     int     // insertions, deletions, substitutions and shifts
	RefLen    float64 // tokens; of several references the mean
	Signature string  // settings in sacreBLEU's notation
}

// Score returns the score of the segments added so far. More segments may be added afterwards.
func (t *TER) Score() TERResult {
	sums := t.totals(t)
	return TERResult{
		Score:     t.score(sums),
		Edits:     int(sums[terEdits]),
		RefLen:    sums[terRefLen],
		Signature: t.signature(t.references, ""),
	}
}

// signature returns the settings in sacreBLEU's notation, as BLEU.signature does.
func (t *TER) signature(references referenceCount, test string) string {
	return fmt.Sprintf("nrefs:%v|%scase:%s|tok:tercom|norm:%s|punct:%s|asian:%s|version:tfm-%s", references, test, caseName(!t.CaseSensitive),
		yesNo(t.Normalized), yesNo(!t.NoPunctuation), yesNo(t.AsianSupport), sacreBLEUVersion)
}

// String returns the score as sacreBLEU prints it: TER = 45.31.
func (s TERResult) String() string { return fmt.Sprintf("TER = %.2f", s.Score) }
