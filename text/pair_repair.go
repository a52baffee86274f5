package text

import (
	"io"
	"iter"
	"strings"
)

// RepairedPair is a pair of a corpus with faults that Pairs and PairsTSV report as errors.
type RepairedPair struct {
	Pair
	Bytes   int  // of both lines, endings included; about, if a side is repaired
	Invalid bool // invalid UTF-8, replaced by U+FFFD
	Long    bool // a line longer than MaxLine, truncated
	Columns int  // of a line of a TSV file; unless 2, Source is the line and Target is empty
}

// RepairPairs reads a corpus of two files as Pairs does, except that it repairs lines as
// RepairLines does.
func RepairPairs(source, target string) iter.Seq2[RepairedPair, error] {
	return repairPairs(func() (*PairReader, error) { return OpenPairs(source, target) })
}

// RepairPairsTSV reads a corpus of one TSV file as PairsTSV does, except that it repairs lines as
// RepairLines does, and that a line may have any number of columns.
func RepairPairsTSV(path string) iter.Seq2[RepairedPair, error] {
	return repairPairs(func() (*PairReader, error) { return OpenPairsTSV(path) })
}

func repairPairs(open func() (*PairReader, error)) iter.Seq2[RepairedPair, error] {
	return func(yield func(RepairedPair, error) bool) {
		r, err := open()
		if err != nil {
			yield(RepairedPair{}, err)
			return
		}
		defer r.Close()
		for {
			switch p, err := r.nextRepaired(); {
			case err == io.EOF:
				return
			case !yield(p, err) || err != nil:
				return
			}
		}
	}
}

// nextRepaired is like Next but repairs the pair. Its strings stay valid.
func (r *PairReader) nextRepaired() (RepairedPair, error) {
	src, tgt, err := nextLines(r, (*lineReader).nextRepaired)
	if err != nil {
		return RepairedPair{}, err
	}
	if r.source == r.target {
		p := RepairedPair{Pair: Pair{Line: src.Number, Source: src.Text}, Bytes: len(src.Text) + 1, Columns: 1 + strings.Count(src.Text, "\t")}
		if p.Columns == 2 {
			p.Source, p.Target, _ = strings.Cut(src.Text, "\t")
		}
		p.note(src)
		return p, nil
	}
	p := RepairedPair{Pair: Pair{src.Text, tgt.Text, src.Number}, Bytes: len(src.Text) + len(tgt.Text) + 2, Columns: 2}
	p.note(src)
	p.note(tgt)
	return p, nil
}

// note sets the faults that l had.
func (p *RepairedPair) note(l Line) {
	for _, w := range l.Warnings {
		switch w.Kind {
		case InvalidUTF8:
			p.Invalid = true
		case LongLine:
			p.Long = true
		}
	}
}
