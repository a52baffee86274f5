package score

import (
	"fmt"

	"tfm/text/internal/parallel"
)

// Metric is a *BLEU, a *CHRF or a *TER. Its score follows from the sums of the statistics of the
// segments.
type Metric interface {
	// Add adds one segment. See the methods of the three types.
	Add(hypothesis, reference string, more ...string)

	name() string
	signature(references referenceCount, test string) string

	// columns returns the number of statistics of a segment. count sets them and addRow adds
	// them.
	columns() int
	count(row []float64, hypothesis string, references []string)
	addRow(row []float64, references int)
	worker() Metric // with equal settings, for count on another goroutine

	score(sums []float64) float64

	// scoreResample returns the score of a bootstrap resample as sacreBLEU computes it, in
	// float32 as far as it does. It reports whether sacreBLEU's result is a float32.
	scoreResample(sums []float32) (score float64, single bool)

	// scoreTrial returns the score of an exchange of segments as sacreBLEU computes it.
	scoreTrial(sums []float64) float64
}

// float is the type of sums of statistics.
type float interface{ float32 | float64 }

// accumulator holds the sums of a metric's statistics.
type accumulator struct {
	sums       []float64 // nil before the first segment
	references referenceCount

	row  []float64 // memory of add
	refs []string
}

func (a *accumulator) add(m Metric, hypothesis, reference string, more []string) {
	a.row = append(a.row[:0], make([]float64, m.columns())...)
	a.refs = append(append(a.refs[:0], reference), more...)
	m.count(a.row, hypothesis, a.refs)
	a.addRow(a.row, len(a.refs))
}

func (a *accumulator) addRow(row []float64, references int) {
	if a.sums == nil {
		a.sums = make([]float64, len(row))
	}
	addTo(a.sums, row)
	a.references.add(references)
}

// totals returns the sums of m's statistics, zeros before the first segment.
func (a *accumulator) totals(m Metric) []float64 {
	if a.sums == nil {
		return make([]float64, m.columns())
	}
	return a.sums
}

// addTo adds the statistics of a segment to sums.
func addTo(sums, row []float64) {
	for i, x := range row {
		sums[i] += x
	}
}

// Statistics are the statistics of each segment of the output of one system, from which tests of
// significance compute many scores. They are immutable.
type Statistics struct {
	metric     Metric
	references referenceCount
	segments   int
	rows       []float64 // [segments × metric.columns()]
}

// AddAll adds all segments of the output of one system to m and returns their statistics. Segment i
// has the hypothesis hypotheses[i] and each references[r][i]. The number of goroutines is
// GOMAXPROCS; results do not depend on it.
func AddAll(m Metric, hypotheses []string, references ...[]string) *Statistics {
	if len(references) == 0 {
		panic("score: no references")
	}
	for _, r := range references {
		if len(r) != len(hypotheses) {
			panic(fmt.Sprintf("score: %d hypotheses, %d references", len(hypotheses), len(r)))
		}
	}
	s := &Statistics{metric: m, segments: len(hypotheses), rows: make([]float64, len(hypotheses)*m.columns())}
	const batch = 64 // segments
	workers := make([]Metric, parallel.Workers(0))
	parallel.For(0, len(hypotheses), batch, func(w, lo, hi int) {
		if workers[w] == nil {
			workers[w] = m.worker()
		}
		refs := make([]string, len(references))
		for i := lo; i < hi; i++ {
			for r := range references {
				refs[r] = references[r][i]
			}
			workers[w].count(s.row(i), hypotheses[i], refs)
		}
	})
	for i := range hypotheses {
		m.addRow(s.row(i), len(references))
		s.references.add(len(references))
	}
	return s
}

func (s *Statistics) row(i int) []float64 {
	n := s.metric.columns()
	return s.rows[i*n : (i+1)*n]
}

// Name returns the name of the metric, as chrF2++.
func (s *Statistics) Name() string { return s.metric.name() }

// Result returns the score of all segments, without a test of significance.
func (s *Statistics) Result() Result { return s.result("") }

// SegmentScores returns the score of each segment alone.
func (s *Statistics) SegmentScores() []float64 {
	scores := make([]float64, s.segments)
	for i := range scores {
		scores[i] = s.metric.score(s.row(i))
	}
	return scores
}

func (s *Statistics) sums() []float64 {
	sums := make([]float64, s.metric.columns())
	for i := range s.segments {
		addTo(sums, s.row(i))
	}
	return sums
}
