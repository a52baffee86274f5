package distill

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"tfm/text"
	"tfm/text/score"
)

// Translation is a source sentence, the teacher's translation and its score, the log-probability
// divided by the length penalty. Invalid UTF-8 of sources is U+FFFD, as for the teacher.
type Translation struct {
	Source, Target string
	Score          float64
}

// Scored reads translations of 'tfm translate -scores', one line for each source.
func Scored(source string, translated []string) iter.Seq2[Translation, error] {
	return func(yield func(Translation, error) bool) {
		next, stop := iter.Pull2(lines(translated))
		defer stop()
		file, err := text.OpenInput(source)
		if err != nil {
			yield(Translation{}, err)
			return
		}
		defer file.Close()
		for src, err := range text.RepairLines(file, source) {
			t := Translation{Source: src.Text}
			if err == nil {
				t.Target, t.Score, err = nextScored(next)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Closest reads translations of 'tfm translate -nbest', several lines for each source, and returns
// of each the one with the highest sentence chrF to its reference, the first of equals and of those
// with a blank reference (Kim and Rush, 2016, "Sequence-Level Knowledge Distillation", section 3.3,
// with chrF in place of BLEU).
func Closest(source, reference string, translated []string) iter.Seq2[Translation, error] {
	return func(yield func(Translation, error) bool) {
		next, stop := iter.Pull2(lists(translated))
		defer stop()
		for p, err := range (text.Files{Source: source, Target: reference}).RepairedPairs() {
			t := Translation{Source: p.Source}
			if err == nil {
				list, listErr, ok := next()
				if err = listErr; !ok {
					err = errFewer
				} else if err == nil {
					t.Target, t.Score = closest(list, p.Target)
				}
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

var errFewer = errors.New("the translations have fewer lines than the source")

// closest returns the hypothesis with the highest chrF to a reference, and its score.
func closest(list []Translation, reference string) (string, float64) {
	hypotheses, references := make([]string, len(list)), make([]string, len(list))
	for i := range list {
		hypotheses[i], references[i] = list[i].Target, reference
	}
	best := 0
	scores := score.Count(score.CHRF{}, hypotheses, references).SegmentScores()
	for i := range scores {
		if scores[i] > scores[best] {
			best = i
		}
	}
	return list[best].Target, list[best].Score
}

// lines returns the lines of files, one after another.
func lines(files []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, file := range files {
			for l, err := range linesOf(file) {
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// linesOf returns the lines of a file. It is empty if a long line covers the part of the text that
// it has the translations of.
func linesOf(file string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		r, err := os.Open(file)
		if err != nil {
			yield("", err)
			return
		}
		defer r.Close()
		text.ReadLines(r, file)(yield)
	}
}

// nextScored returns the next line, without the score after its last tab, and the score.
func nextScored(next func() (string, error, bool)) (string, float64, error) {
	line, err, ok := next()
	if !ok {
		return "", 0, errFewer
	}
	if err != nil {
		return "", 0, err
	}
	tab := strings.LastIndexByte(line, '\t')
	if tab < 0 {
		return "", 0, fmt.Errorf("found the translation %q without a score", line)
	}
	x, err := strconv.ParseFloat(line[tab+1:], 64)
	return line[:tab], x, err
}

// lists returns the lists of 'tfm translate -nbest': lines of a number that they have in common,
// score and translation.
func lists(files []string) iter.Seq2[[]Translation, error] {
	return func(yield func([]Translation, error) bool) {
		var list []Translation
		number := ""
		for _, file := range files {
			for l, err := range linesOf(file) {
				fields := strings.SplitN(l, "\t", 3)
				if err == nil && len(fields) < 3 {
					err = fmt.Errorf("%s: found %q, expected number, score and translation", file, l)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if fields[0] != number && list != nil {
					if !yield(list, nil) {
						return
					}
					list = list[:0]
				}
				number = fields[0]
				x, err := strconv.ParseFloat(fields[1], 64)
				if err != nil {
					yield(nil, fmt.Errorf("%s: %w", file, err))
					return
				}
				list = append(list, Translation{Target: fields[2], Score: x})
			}
			if list != nil && !yield(list, nil) {
				return
			}
			list, number = nil, ""
		}
	}
}

// writePairs writes sources and targets as lines of two files, without blank translations and
// without the given share of those with the lowest scores. It reads the translations twice, and
// returns how many there are and how many it wrote.
func writePairs(translations iter.Seq2[Translation, error], worst float64, src, tgt io.Writer) (all, written int, err error) {
	var scores []float64
	for t, err := range translations {
		if err != nil {
			return 0, 0, err
		}
		if all++; t.Target != "" {
			scores = append(scores, t.Score)
		}
	}
	least := 0.0
	if len(scores) > 0 {
		slices.Sort(scores)
		least = scores[min(int(worst*float64(len(scores))), len(scores)-1)]
	}
	s, t := bufio.NewWriter(src), bufio.NewWriter(tgt)
	for pair, err := range translations {
		if err != nil {
			return 0, 0, err
		}
		if pair.Target == "" || pair.Score < least {
			continue
		}
		written++
		s.WriteString(pair.Source + "\n")
		t.WriteString(pair.Target + "\n")
	}
	return all, written, errors.Join(s.Flush(), t.Flush())
}
