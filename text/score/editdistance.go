package score

import (
	"math"
	"slices"
)

// beamWidth limits how far the edits of TER may leave the diagonal, in tokens of the reference.
const beamWidth = 25

// farAway is the distance of pairs of prefixes outside the beam. It exceeds that of all texts in
// memory.
const farAway = 1 << 30

// editDistance computes the edit distance of hypotheses of one length and a reference, each of
// insertion, deletion and substitution counting 1. Only prefixes of hypothesis and reference of
// about equal proportions are compared: a beam around the diagonal.
type editDistance struct {
	ref    []uint32
	lo, hi []int   // columns of each row within the beam: lengths of prefixes of the reference
	cells  []int32 // of the rows from 0, one for each prefix of the hypothesis; see row
	stride int     // cells of a row
	last   [2][]int32
}

// start prepares d for hypotheses of n tokens.
func (d *editDistance) start(n int, ref []uint32) {
	d.ref = ref
	ratio := 1.0
	if n > 0 {
		ratio = float64(len(ref)) / float64(n)
	}
	width := beamWidth
	if beamWidth < ratio/2 { // rows would not overlap
		width = int(math.Ceil(float64(ratio/2) + beamWidth))
	}
	d.lo, d.hi = append(d.lo[:0], 0), append(d.hi[:0], 0)
	widest := 0
	for i := 1; i <= n; i++ {
		diagonal := int(math.Floor(float64(i) * ratio))
		lo, hi := max(0, diagonal-width), min(len(ref)+1, diagonal+width)
		if i == n {
			hi = len(ref) + 1
		}
		widest = max(widest, hi-d.lo[i-1])
		d.lo, d.hi = append(d.lo, lo), append(d.hi, hi)
	}
	d.stride = 1 + widest
	d.cells = slices.Grow(d.cells[:0], d.stride*(n+1))[:d.stride*(n+1)]
	for i, row := range d.last {
		d.last[i] = slices.Grow(row[:0], d.stride)[:d.stride]
	}
	// Row 0, of insertions alone, which at computes.
	first := d.row(0)
	first[0] = farAway
	for j := range first[1:] {
		first[1+j] = int32(j)
	}
}

// row returns the cells of row i: that of the column before lo[i], those of lo[i] to hi[i]-1, and
// others up to the last column that the next row needs. Cells outside the beam are farAway.
func (d *editDistance) row(i int) []int32 { return d.cells[i*d.stride:][:d.stride] }

// at returns the distance of the first i tokens of the hypothesis and the first j of the reference.
func (d *editDistance) at(i, j int) int32 {
	switch {
	case i == 0:
		return int32(j)
	case j < d.lo[i] || j >= d.hi[i]:
		return farAway
	}
	return d.row(i)[1+j-d.lo[i]]
}

// of returns the distance of hyp and keeps that of its prefixes.
func (d *editDistance) of(hyp []uint32) int {
	for i, token := range hyp {
		d.next(d.row(i+1), d.row(i), i+1, token)
	}
	return int(d.at(len(hyp), len(d.ref)))
}

// ofSuffix returns the distance of hyp, whose first tokens, of the given number, are those of the
// last call of of.
func (d *editDistance) ofSuffix(hyp []uint32, unchanged int) int {
	row := d.row(unchanged)
	for i := unchanged; i < len(hyp); i++ {
		next := d.last[i%2]
		d.next(next, row, i+1, hyp[i])
		row = next
	}
	return int(row[1+len(d.ref)-d.lo[len(hyp)]])
}

// next computes row i, whose token of the hypothesis is given, from the row above.
func (d *editDistance) next(row, above []int32, i int, token uint32) {
	lo, hi := d.lo[i], d.hi[i]
	above = above[lo-d.lo[i-1]:]
	row[0] = farAway
	left, cells := int32(farAway), row[1:]
	if lo == 0 {
		left = above[1] + 1
		cells[0] = left
		lo, above, cells = 1, above[1:], cells[1:]
	}
	ref := d.ref[lo-1 : hi-1]
	above, inBeam := above[:len(ref)+1], cells[:len(ref)]
	for j, r := range ref {
		left = min(above[j]+differ(token, r), above[j+1]+1, left+1)
		inBeam[j] = left
	}
	for j := len(ref); j < len(cells); j++ {
		cells[j] = farAway
	}
}

// differ returns the cost of replacing a token by another.
func differ(a, b uint32) int32 {
	if a == b {
		return 0
	}
	return 1
}
