package clean

import (
	"math"

	"tfm/internal/exact"
)

// evidence is a table of the evidence of bins: the logarithm of the ratio of their probabilities in
// aligned and in random pairs, by unit and, for units that occur seldom, by class.
type evidence struct {
	classes [evidenceClasses]struct {
		odds
		probabilities [2][evidenceBins]float64 // aligned, random
	}
	units []odds // by id
}

// odds counts the bins of aligned and of random pairs.
type odds [2]counts

const aligned, random = 0, 1 // indices of odds

type counts struct {
	bins  [evidenceBins]uint32
	total uint32
}

const (
	evidenceClasses = 24 // powers of two of the pairs with a unit; 0: units without an id
	evidenceBins    = 32
)

// The bins of explanations: none, then octaves of p(t|s)/p(t) for the unit s that explains t best,
// then units that both sides have.
const (
	unexplainedBin = 0
	minExplained   = -2 // octaves
	maxExplained   = 20
	copiedBin      = evidenceBins - 1
)

// explanationBin returns the bin of p(t|s)/p(t).
func explanationBin(ratio float64) int {
	if ratio <= 0 {
		return unexplainedBin
	}
	_, octaves := math.Frexp(ratio)
	return 1 + min(max(octaves, minExplained), maxExplained) - minExplained
}

// add counts a bin of an aligned or a random pair. id is negative for a unit without one.
func (e *evidence) add(kind int, id int32, class, bin int) {
	e.classes[class].odds[kind].add(bin)
	if id >= 0 {
		e.units[id][kind].add(bin)
	}
}

func (c *counts) add(bin int) {
	c.bins[bin]++
	c.total++
}

// smoothed returns the probability of a bin with weight further counts, a share p of them in the
// bin, and without the given number of its counts. Explicit conversions forbid fused multiply-adds.
func (c *counts) smoothed(bin int, p, weight float64, without uint32) float64 {
	return (float64(c.bins[bin]-without) + float64(weight*p)) / (float64(c.total-without) + weight)
}

// Weights of the smoothing: of equal probabilities for a class, and of the class for a unit.
const (
	classSmoothing = 2 * evidenceBins
	unitSmoothing  = 8
)

// learn sets the probabilities from the counts.
func (e *evidence) learn() {
	for i := range e.classes {
		c := &e.classes[i]
		for kind := range c.odds {
			for bin := range evidenceBins {
				c.probabilities[kind][bin] = c.odds[kind].smoothed(bin, 1.0/evidenceBins, classSmoothing, 0)
			}
		}
	}
}

// weight returns the evidence of a bin in units of 1/octave of an octave. counted leaves out one
// aligned pair with it.
func (e *evidence) weight(id int32, class, bin int, counted bool) int {
	p := &e.classes[class].probabilities
	q, r := p[aligned][bin], p[random][bin]
	if id >= 0 {
		unit, without := &e.units[id], uint32(0)
		if counted && unit[aligned].bins[bin] > 0 {
			without = 1
		}
		q = unit[aligned].smoothed(bin, q, unitSmoothing, without)
		r = unit[random].smoothed(bin, r, unitSmoothing, 0)
	}
	return int(math.Round(octave * exact.Log2(q/r)))
}
