package text

import (
	"iter"
	"slices"
	"strings"
)

// RepairedPair is a pair of a corpus with faults that Files.Pairs reports as errors.
type RepairedPair struct {
	Pair
	Bytes   int  // of both lines, endings included; about, if a side is repaired
	Invalid bool // invalid UTF-8, replaced by U+FFFD
	Long    bool // a line longer than MaxLine, truncated
	Columns int  // of a line of a TSV file; unless 2, Source is the line and Target is empty
}

// RepairedPairs reads the pairs as Pairs does, except that it repairs lines as RepairLines does,
// and that a line of a TSV file may have any number of columns.
func (f Files) RepairedPairs() iter.Seq2[RepairedPair, error] {
	return sequence(f.Open, (*PairReader).nextRepaired)
}

// nextRepaired is like Next but repairs the pair. Its strings stay valid.
func (r *PairReader) nextRepaired() (RepairedPair, error) {
	src, tgt, err := nextLines(r, (*lineReader).nextRepaired)
	if err != nil {
		return RepairedPair{}, err
	}
	p := RepairedPair{Pair: Pair{src.Text, tgt.Text, src.Number}, Bytes: len(src.Text) + len(tgt.Text) + 2, Columns: 2}
	if r.source == r.target {
		p.Target, p.Bytes, p.Columns = "", len(src.Text)+1, 1+strings.Count(src.Text, "\t")
		if p.Columns == 2 {
			p.Source, p.Target, _ = strings.Cut(src.Text, "\t")
		}
	}
	for _, w := range slices.Concat(src.Warnings, tgt.Warnings) {
		p.Invalid = p.Invalid || w.Kind == InvalidUTF8
		p.Long = p.Long || w.Kind == LongLine
	}
	return p, nil
}
