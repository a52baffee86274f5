package score

import (
	"fmt"
	"math"
	"strings"

	"tfm/text/internal/parallel"
)

// sacreBLEUVersion is the sacreBLEU release that the scores equal. Signatures name it.
const sacreBLEUVersion = "2.6.0"

// Metric is a BLEU, a CHRF or a TER: the settings of a metric, whose score follows from the sums of
// the statistics of the segments.
type Metric interface {
	name() string
	settings() string // in a signature

	// columns returns the number of statistics of a segment, which count sets.
	columns() int
	count(c *counter, row []float64, hypothesis string, references []string)

	score(sums []float64) float64
	details(sums []float64) string // what sacreBLEU prints after the score
}

// counter holds the memory in which a goroutine counts the statistics of one segment after another.
type counter struct {
	ids     tokenIDs
	matcher ngramMatcher
	shifter shifter
}

// Statistics are the statistics of each segment of the output of one system, from which its score
// and a bootstrap are computed. They are immutable.
type Statistics struct {
	metric     Metric
	references int // of each segment
	segments   int
	rows       []float64 // [segments × metric.columns()]
}

// Count returns the statistics of the segments of the output of one system. Segment i has the
// hypothesis hypotheses[i] and each references[r][i]. The number of goroutines is GOMAXPROCS;
// results do not depend on it.
func Count(m Metric, hypotheses []string, references ...[]string) *Statistics {
	if len(references) == 0 {
		panic("score: no references")
	}
	for _, r := range references {
		if len(r) != len(hypotheses) {
			panic(fmt.Sprintf("score: %d hypotheses, %d references", len(hypotheses), len(r)))
		}
	}
	s := &Statistics{m, len(references), len(hypotheses), make([]float64, len(hypotheses)*m.columns())}
	const batch = 64 // segments
	counters := make([]counter, parallel.Workers(0))
	parallel.For(0, len(hypotheses), batch, func(worker, lo, hi int) {
		c := &counters[worker]
		if c.ids == nil {
			c.ids = make(tokenIDs)
		}
		refs := make([]string, len(references))
		for i := lo; i < hi; i++ {
			for r := range references {
				refs[r] = references[r][i]
			}
			clear(c.ids)
			m.count(c, s.row(i), hypotheses[i], refs)
		}
	})
	return s
}

func (s *Statistics) row(i int) []float64 {
	n := s.metric.columns()
	return s.rows[i*n : (i+1)*n]
}

// Name returns the name of the metric, as chrF2++.
func (s *Statistics) Name() string { return s.metric.name() }

// Result returns the score of all segments, without a bootstrap.
func (s *Statistics) Result() Result { return s.result("") }

func (s *Statistics) result(bootstrap string) Result {
	return Result{Score: s.metric.score(s.sums()), Mean: math.NaN(), Interval: math.NaN(), P: math.NaN(), Signature: s.signature(bootstrap)}
}

// String returns the score as sacreBLEU prints it:
//
//	BLEU = 36.40 68.1/43.2/29.8/20.9 (BP = 1.000 ratio = 1.004 hyp_len = 12150 ref_len = 12103)
//	chrF2 = 57.55
func (s *Statistics) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s = %.2f %s", s.Name(), s.Result().Score, s.Details()))
}

// Details returns what String has after the score: precisions, brevity penalty and lengths of BLEU,
// nothing of other metrics.
func (s *Statistics) Details() string { return s.metric.details(s.sums()) }

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
		for k, x := range s.row(i) {
			sums[k] += x
		}
	}
	return sums
}

// signature returns the settings in sacreBLEU's notation, with the field of a bootstrap. The
// version names this program and the sacreBLEU release whose scores it equals.
func (s *Statistics) signature(bootstrap string) string {
	return fmt.Sprintf("nrefs:%d|%s%s|version:tfm-%s", s.references, bootstrap, s.metric.settings(), sacreBLEUVersion)
}
