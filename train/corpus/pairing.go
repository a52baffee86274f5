package corpus

import "math"

// LinePairing tells, from the lengths of both sides, whether the lines of two files belong
// together. The lengths of translations correlate: their logarithms have a Pearson correlation of
// 0.78 to 0.97 in captions, short sentences, news and technical text, between alphabets and between
// an alphabet and Chinese or Japanese. Of sentences that do not belong together it is 0, or up to
// 0.26 in documents, where neighbouring sentences have similar lengths.
type LinePairing struct {
	// Pairs of blocks of 1,024 consecutive pairs whose lengths do not correlate, or correlate
	// much better with those of the next or the last line. Blocks of almost equal lengths are
	// not judged.
	Unaligned      int
	FirstUnaligned int // line number at the start of the first such block

	// Shift is 1 if the targets of most such blocks are the translations of the line before,
	// and -1 if they are those of the line after; otherwise 0.
	Shift int
}

const (
	blockSize    = 1 << 10 // pairs
	minBlockSize = 100     // pairs of the last block; its correlation has a standard error of 0.1

	// Between the correlations of blocks of aligned and of unaligned lines.
	minCorrelation = 0.35
	// A shifted correlation shows shifted lines if it reaches minShifted and exceeds that of
	// the same lines by shiftExcess.
	minShifted, shiftExcess = 0.5, 0.2
	// Standard deviation of the lengths, in octaves, below which they prove nothing, as in a
	// file sorted by length.
	minDeviation = 0.2
)

// linePairer makes a LinePairing. It calculates with integers, so that the result does not depend
// on the processor.
type linePairer struct {
	LinePairing
	block     lengthSums
	last      [2]int64 // lengths of the last pair
	started   bool
	firstLine int // of the block
	shifts    int // sum of the shifts of unaligned blocks
}

// lengthSums are sums over pairs of the lengths x of the source and y of the target.
type lengthSums struct {
	n, x, y, xx, yy int64
	// The sums of the products of each y with the x of the same line, and of y with the x of
	// the line before, and of x with the y of the line before.
	xy, after, before int64
}

// add adds a pair on a line. last has the lengths of the last pair.
func (l *lengthSums) add(x, y int64, last [2]int64) {
	l.n++
	l.x += x
	l.y += y
	l.xx += x * x
	l.yy += y * y
	l.xy += x * y
	l.after += last[0] * y
	l.before += x * last[1]
}

// deviations returns the standard deviations of x and y.
func (l *lengthSums) deviations() (x, y float64) {
	deviation := func(sum, squares int64) float64 {
		mean := float64(sum) / float64(l.n)
		return math.Sqrt(max(0, float64(squares)/float64(l.n)-float64(mean*mean)))
	}
	return deviation(l.x, l.xx), deviation(l.y, l.yy)
}

// correlation returns the Pearson correlation of x and y from the sum of their products, 0 if one
// of them does not vary.
func (l *lengthSums) correlation(products int64) float64 {
	dx, dy := l.deviations()
	if l.n == 0 || dx < 1 || dy < 1 {
		return 0
	}
	n := float64(l.n)
	return (float64(products)/n - float64(float64(l.x)/n*(float64(l.y)/n))) / float64(dx*dy)
}

// add adds the pair on a line. Neither side must be empty.
func (a *linePairer) add(line int, x, y int64) {
	if a.block.n == 0 {
		a.firstLine = line
	}
	if !a.started {
		a.started, a.last = true, [2]int64{x, y}
	}
	a.block.add(x, y, a.last)
	a.last = [2]int64{x, y}
	if a.block.n == blockSize {
		a.endBlock()
	}
}

// endBlock judges the block.
func (a *linePairer) endBlock() {
	b := &a.block
	dx, dy := b.deviations()
	if b.n >= minBlockSize && min(dx, dy) >= minDeviation*octave {
		r, shifted, shift := b.correlation(b.xy), b.correlation(b.after), 1
		if before := b.correlation(b.before); before > shifted {
			shifted, shift = before, -1
		}
		if shifted < minShifted || shifted < r+shiftExcess {
			shift = 0
		}
		if r < minCorrelation || shift != 0 {
			if a.Unaligned == 0 {
				a.FirstUnaligned = a.firstLine
			}
			a.Unaligned += int(b.n)
			a.shifts += shift * int(b.n)
		}
	}
	a.block = lengthSums{}
}

// end judges the last pairs and returns the result.
func (a *linePairer) end() LinePairing {
	if a.block.n > 0 {
		a.endBlock()
	}
	switch {
	case 2*a.shifts > a.Unaligned:
		a.Shift = 1
	case -2*a.shifts > a.Unaligned:
		a.Shift = -1
	}
	return a.LinePairing
}

const (
	octave = 1 << 10     // logarithm of 2
	maxLog = 21 * octave // exceeds the logarithm of text.MaxLine
)

// logLength returns the length of a sentence: the logarithm of its number of characters, in units
// of 1/octave of an octave. It is 0 for an empty one.
func logLength(characters int) int64 {
	return int64(math.Round(octave * math.Log2(float64(max(characters, 1)))))
}
