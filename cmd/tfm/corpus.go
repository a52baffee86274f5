package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"tfm/text"
)

// corpus is pairs of sentences that can be read any number of times.
type corpus struct {
	name  string // for messages
	pairs iter.Seq2[text.Pair, error]
	files *files // nil if it is not in files
}

// files are a corpus in two files, or twice the same one.
type files struct {
	src, tgt string
	open     func() (*text.PairReader, error)
}

// readTwice is an error if one of the files is a pipe or the like, which can be read only once.
func readTwice(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file: training reads its text more than once", path)
		}
	}
	return nil
}

func filesCorpus(src, tgt string) *corpus {
	return fileCorpus(fmt.Sprintf("%s and %s", src, tgt), files{src, tgt, func() (*text.PairReader, error) { return text.OpenPairs(src, tgt) }})
}

func tsvCorpus(path string) *corpus {
	return fileCorpus(path, files{path, path, func() (*text.PairReader, error) { return text.OpenPairsTSV(path) }})
}

func fileCorpus(name string, f files) *corpus {
	return &corpus{name, func(yield func(text.Pair, error) bool) {
		r, err := f.open()
		if err != nil {
			yield(text.Pair{}, err)
			return
		}
		defer r.Close()
		for {
			p, err := r.Next()
			if err == io.EOF || !yield(p, err) || err != nil {
				return
			}
		}
	}, &f}
}

// each calls do with each pair, whose texts are valid until do returns, and ends early with what interrupted ctx.
func (c *corpus) each(ctx context.Context, do func(text.Pair)) error {
	for p, err := range c.pairs {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		do(p)
	}
	return nil
}

// holdOut says which pairs of a corpus are for validation if there are no others: one in a hundred, evenly
// spread, but at most 1,000. It is a function of the number of pairs alone, and so the same after a resume.
type holdOut struct{ every, count int }

func holdOutOf(pairs int) holdOut {
	count := min(pairs/100, 1000)
	if count == 0 {
		return holdOut{}
	}
	return holdOut{pairs / count, count}
}

// has says whether pair i, counted from 0, is held out.
func (h holdOut) has(i int) bool {
	return h.count > 0 && i%h.every == h.every-1 && i/h.every < h.count
}
