package clean

import (
	"math/bits"
	"slices"

	"tfm/text/align"
	"tfm/text/internal/words"
)

// lexical judges whether the sides of a pair translate each other: by how well the units of each
// side explain those of the other, where translations are learned from a sample in both directions
// (IBM Model 1, package align), and by the lengths. The score of a pair is the sum of the evidence
// of its units, as if they were independent (naive Bayes).
//
// A pair of the sample is judged without its own counts, because any pair explains itself.
type lexical struct {
	sides [2]vocabulary // source, target
	// directions[0] explains the target by the source, directions[1] the source by the target.
	directions [2]direction
	lengths    evidence // by the length of the source and the ratio
	lines      []int    // of the pairs of the sample, ascending
	limit      int      // pairs with no higher score are misaligned
}

// vocabulary holds the units of a side that several pairs of the sample have.
type vocabulary struct {
	ids   map[words.Word]int32
	pairs []int // by id: pairs with the unit
	count []int // by id: occurrences
	total int   // sum of count
}

// direction explains the units of one side by those of the other.
type direction struct {
	lexicon *align.Lexicon
	units   evidence // by the frequency of the explained unit
}

// judged is a pair as units.
type judged struct {
	units   [2][]words.Word // source, target
	known   [2][]words.Word // units with an id
	ids     [2][]int32      // of known
	lengths [2]int          // logarithms of the characters
}

// inDirection returns the pair whose target one of lexical.directions explains.
func (j *judged) inDirection(d int) align.Pair {
	return align.Pair{Source: j.ids[d], Target: j.ids[1-d]}
}

// prepare returns the units of a measured pair.
func (l *lexical) prepare(p *pair) *judged {
	j := new(judged)
	for side, d := range [2]*words.Sentence{&p.src, &p.tgt} {
		j.units[side] = slices.Clone(units(d))
		for _, unit := range j.units[side] {
			if id, ok := l.sides[side].ids[unit]; ok {
				j.ids[side] = append(j.ids[side], id)
				j.known[side] = append(j.known[side], unit)
			}
		}
		j.lengths[side] = logOf(d.Chars)
	}
	return j
}

// withTarget returns the pair of the source of j and the target of other.
func (j *judged) withTarget(other *judged) *judged {
	mixed := *j
	mixed.units[1], mixed.known[1] = other.units[1], other.known[1]
	mixed.ids[1], mixed.lengths[1] = other.ids[1], other.lengths[1]
	return &mixed
}

// maxUnits is the limit of the units of a side that are judged.
const maxUnits = 256

// units returns the units of a sentence: the stems of its words.
func units(d *words.Sentence) []words.Word { return d.Stems[:min(len(d.Stems), maxUnits)] }

// judge is a worker that scores pairs.
type judge struct {
	l       *lexical
	scorers [2]*align.Scorer // by direction
	sorted  [2][]words.Word  // units of a pair, source and target
}

func (l *lexical) judge() *judge {
	return &judge{l: l, scorers: [2]*align.Scorer{l.directions[0].lexicon.Scorer(), l.directions[1].lexicon.Scorer()}}
}

// each calls do with each explanation in j: its table of evidence, the id of the explained unit or
// -1, its class and its bin. own leaves out the counts of j from those of the lexicons.
func (w *judge) each(j *judged, own bool, do func(e *evidence, id int32, class, bin int)) {
	for side, units := range j.units {
		w.sorted[side] = append(w.sorted[side][:0], units...)
		slices.Sort(w.sorted[side])
	}
	for d := range w.l.directions {
		e, explained := &w.l.directions[d].units, 1-d
		v := &w.l.sides[explained]
		copied := func(unit words.Word) bool {
			_, ok := slices.BinarySearch(w.sorted[d], unit)
			return ok
		}
		pair := j.inDirection(d)
		p := w.scorers[d].Explain(&pair, own)
		for i, id := range pair.Target {
			bin := copiedBin
			if !copied(j.known[explained][i]) {
				bin = explanationBin(p[i] * float64(v.total) / float64(v.count[id]))
			}
			do(e, id, bits.Len(uint(v.pairs[id]))-1, bin)
		}
		for _, unit := range j.units[explained] {
			if _, known := v.ids[unit]; known {
				continue
			}
			bin := unexplainedBin
			if copied(unit) {
				bin = copiedBin
			}
			do(e, -1, 0, bin)
		}
	}
	ratio := (j.lengths[1] - j.lengths[0]) / (octave / 4)
	do(&w.l.lengths, -1, min(j.lengths[0]/octave, evidenceClasses-1), min(max(ratio+evidenceBins/2, 0), evidenceBins-1))
}

// score returns the score of j. own leaves out the counts of j from those of the lexicons, and
// counted those from the evidence.
func (w *judge) score(j *judged, own, counted bool) int {
	sum := 0
	w.each(j, own, func(e *evidence, id int32, class, bin int) { sum += e.weight(id, class, bin, counted) })
	return sum
}

// misaligned reports whether the sides of p do not translate each other.
func (w *judge) misaligned(p *pair) bool {
	_, own := slices.BinarySearch(w.l.lines, p.Line)
	return w.score(w.l.prepare(p), own, own) <= w.l.limit
}
