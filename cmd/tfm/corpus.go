package main

import (
	"context"
	"fmt"
	"iter"
	"os"

	"tfm/text"
)

// corpus is pairs of sentences that can be read any number of times.
type corpus struct {
	name  string // for messages
	pairs iter.Seq2[text.Pair, error]
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
	return &corpus{fmt.Sprintf("%s and %s", src, tgt), text.Pairs(src, tgt)}
}

func tsvCorpus(path string) *corpus { return &corpus{path, text.PairsTSV(path)} }

// each calls do with each pair, and ends early with what interrupted ctx.
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
