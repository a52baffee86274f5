package clean

import (
	"math"
	"slices"

	"tfm/internal/exact"
)

const (
	octave = 1 << 10 // logarithm of 2

	minRatioPairs = 200        // from which ratios are judged
	minClassPairs = 500        // of a class of lengths
	maxClasses    = 12         // of lengths
	minDeviation  = octave / 6 // of a class: 12 %
)

// logOf returns the logarithm of a number of characters in units of 1/octave of an octave. It is an
// integer, so that results do not depend on the processor.
func logOf(chars int) int {
	return int(math.Round(octave * exact.Log2(float64(max(chars, 1)))))
}

// ratios are the usual ratios of the lengths of both sides in characters, by the length of the
// pair.
type ratios struct {
	samples [][2]int // logarithms of the lengths of the source and the target
	median  int      // of all ratios: logarithms of target/source
	classes []ratioClass
}

// ratioClass describes the pairs of a class of lengths.
type ratioClass struct {
	start             int // smallest length
	median, deviation int // of the ratios
}

func (r *ratios) add(p *pair) {
	r.samples = append(r.samples, [2]int{logOf(p.src.Chars), logOf(p.tgt.Chars)})
}

// length returns the logarithm of the length of a pair: that of the target, or of the usual
// translation of a shorter source. So a sentence with a target of several sentences is in the class
// of other sentences.
func (r *ratios) length(x, y int) int { return min(x+r.median, y) }

// learn sets the classes, each with the same number of pairs of the sample. The deviation is half
// the distance between the quantiles that are one standard deviation from the median of a normal
// distribution, so that outliers hardly change it.
func (r *ratios) learn() {
	n := len(r.samples)
	if n < minRatioPairs {
		return
	}
	r.median = ratioQuantiles(r.samples)(0.5)
	slices.SortStableFunc(r.samples, func(a, b [2]int) int { return r.length(a[0], a[1]) - r.length(b[0], b[1]) })
	count := max(1, min(maxClasses, n/minClassPairs))
	for i := range count {
		samples := r.samples[i*n/count : (i+1)*n/count]
		at := ratioQuantiles(samples)
		r.classes = append(r.classes, ratioClass{r.length(samples[0][0], samples[0][1]), at(0.5), max(minDeviation, (at(0.8413)-at(0.1587))/2)})
	}
	r.samples = nil
}

// ratioQuantiles returns the function of the quantiles of the ratios of samples.
func ratioQuantiles(samples [][2]int) func(q float64) int {
	var ratios []int
	for _, s := range samples {
		ratios = append(ratios, s[1]-s[0])
	}
	slices.Sort(ratios)
	return func(q float64) int { return ratios[int(q*float64(len(ratios)-1))] }
}

// deviations returns the distance of the ratio of two lengths from the median, in standard
// deviations of pairs of their length; 0 if nothing was learned.
func (r *ratios) deviations(x, y int) float64 {
	if len(r.classes) == 0 {
		return 0
	}
	length := r.length(x, y)
	i := len(r.classes) - 1
	for i > 0 && length < r.classes[i].start {
		i--
	}
	distance := y - x - r.classes[i].median
	return float64(max(distance, -distance)) / float64(r.classes[i].deviation)
}

// ratio reports a ratio of lengths far from the usual ones.
func (c *cleaner) ratio(p *pair) bool {
	return !c.plausible(logOf(p.src.Chars), logOf(p.tgt.Chars))
}
