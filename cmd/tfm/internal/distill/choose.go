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

var errFewer = errors.New("the translations have fewer lines than the source")

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
