package corpus

import (
	"math"
	"strings"

	"tfm/internal/hash"
	"tfm/text"
	"tfm/text/split"
)

// Facts describe the pairs of a corpus. They are the same in every run and on every machine.
type Facts struct {
	Pairs          int
	Source, Target Side

	// Sample has the first pairs, up to maxSample.
	Sample []text.Pair

	// SeveralSentences is the share of the sampled sources that have several sentences.
	SeveralSentences float64

	Identical int // pairs whose target equals the source, without those whose sides are empty

	// Different pairs. Above 8,192 they are estimated, with a standard deviation of about
	// 1.5 %.
	DistinctPairs int

	LinePairing LinePairing

	// LengthRatio is the median of target/source characters of LongPairs, the pairs without an
	// empty side and with at least 20 characters on one; without such pairs, that of all
	// characters.
	// FarOff counts the LongPairs whose ratio differs from the median by a factor above 3.
	LengthRatio       float64
	LongPairs, FarOff int
}

// Repeated returns the share of the pairs that repeat another pair, from 0 to 1.
func (f *Facts) Repeated() float64 {
	return max(0, 1-float64(f.DistinctPairs)/float64(max(f.Pairs, 1)))
}

const maxSample = 500

const (
	minRatioChars = 20 // of the longer side; shorter sentences have any ratio
	farOff        = 3  // factor
)

// factsCounter makes the Facts of pairs, in bounded memory.
type factsCounter struct {
	Facts      // without what end sets
	pairs      distinct
	pairer     linePairer
	sampled    int                         // pairs in the samples of the sides
	several    int                         // of these, with sources of several sentences
	sampleBits int                         // one of 1<<sampleBits pairs is sampled
	ratios     [2*maxLog/ratioStep + 1]int // LongPairs by the logarithm of target/source
}

// ratioStep is the width of a bin of factsCounter.ratios, 1/32 octave.
const ratioStep = octave / 32

// add adds a pair and returns the hashes of the pair and its source.
func (c *factsCounter) add(p text.Pair) pairHashes {
	c.Pairs++
	if len(c.Sample) < maxSample {
		c.Sample = append(c.Sample, text.Pair{Source: strings.Clone(p.Source), Target: strings.Clone(p.Target)})
	}
	sourceHash, source := hash.Text(p.Source)
	targetHash, target := hash.Text(p.Target)
	h := pairHashes{hash.Combine(sourceHash, targetHash), sourceHash}
	c.Source.Characters += int64(source)
	c.Target.Characters += int64(target)
	c.pairs.add(h.pair)
	if hash.Mix(uint64(c.Pairs))>>(64-c.sampleBits) == 0 {
		c.sample(p)
	}
	if source == 0 || target == 0 {
		return h
	}
	if p.Source == p.Target {
		c.Identical++
	}
	x, y := logLength(source), logLength(target)
	c.pairer.add(c.Pairs, x, y)
	if max(source, target) >= minRatioChars {
		c.LongPairs++
		c.ratios[(min(max(y-x, -maxLog), maxLog)+maxLog)/ratioStep]++
	}
	return h
}

// maxSampled is the limit of sampled pairs. At the limit, the counts of the sample are halved, and
// from there on half as many pairs are sampled.
const maxSampled = 1 << 13

// sample adds a pair to the samples of both sides.
func (c *factsCounter) sample(p text.Pair) {
	c.Source.sample(p.Source)
	c.Target.sample(p.Target)
	if len(split.Sentences(p.Source, split.Options{Lines: true, MaxRunes: len(p.Source)})) > 1 {
		c.several++
	}
	if c.sampled++; c.sampled == maxSampled {
		c.Source.halve()
		c.Target.halve()
		c.sampled /= 2
		c.several /= 2
		c.sampleBits++
	}
}

// end returns the facts.
func (c *factsCounter) end() *Facts {
	f := &c.Facts
	f.DistinctPairs = c.pairs.count()
	f.LinePairing = c.pairer.end()
	f.SeveralSentences = float64(c.several) / float64(max(c.sampled, 1))
	if f.LongPairs == 0 {
		f.LengthRatio = float64(f.Target.Characters) / float64(max(f.Source.Characters, 1))
		return f
	}
	below, median := 0, 0
	for ; 2*(below+c.ratios[median]) < f.LongPairs; median++ {
		below += c.ratios[median]
	}
	f.LengthRatio = math.Exp2(float64(median*ratioStep-maxLog) / octave)
	limit := int(math.Round(math.Log2(farOff) * octave / ratioStep))
	for i, n := range c.ratios {
		if i < median-limit || i > median+limit {
			f.FarOff += n
		}
	}
	return f
}
