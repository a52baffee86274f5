package translate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"tfm/lang"
	"tfm/mat"
	"tfm/model"
	"tfm/model/decode"
	"tfm/text"
	"tfm/text/align"
	"tfm/text/tokenizer/vocab"
)

// ShortlistOptions are the options of LearnShortlist.
type ShortlistOptions struct {
	Best     int     // limit of the target pieces in the list of a source piece
	MinProb  float64 // least probability that the source piece generates one of them
	Frequent int     // most frequent target pieces, which are in every list

	Threads int // 0 is GOMAXPROCS. No result depends on it

	// Progress, if not nil, is called with the number of the pass over the pairs, from 1, of
	// all passes and of the pairs read in it.
	Progress func(pass, passes, pairs int)
}

// DefaultShortlistOptions returns the options of 'tfm shortlist'.
func DefaultShortlistOptions() ShortlistOptions {
	return ShortlistOptions{Best: 200, Frequent: 300}
}

// Validate reports the first invalid field, as a *model.FieldError.
func (o ShortlistOptions) Validate() error {
	const maxPieces = 10_000
	switch {
	case o.Best < 1 || o.Best > maxPieces:
		return &model.FieldError{Field: "best", Found: o.Best, Expected: "1 to 10000"}
	case !(o.MinProb >= 0 && o.MinProb <= 1):
		return &model.FieldError{Field: "min_prob", Found: o.MinProb, Expected: "0 to 1"}
	case o.Frequent < 0 || o.Frequent > maxPieces:
		return &model.FieldError{Field: "frequent", Found: o.Frequent, Expected: "0 to 10000"}
	case o.Threads < 0:
		return &model.FieldError{Field: "threads", Found: o.Threads, Expected: "0 or more"}
	}
	return nil
}

// LearnedShortlist is a Shortlist, and how well it suits the pairs that it was learned from.
type LearnedShortlist struct {
	*decode.Shortlist

	Pairs   int // that were used
	Skipped int // blank on a side, or longer than 100 tokens

	Pieces  int // sum of the lengths of the sources' lists
	Tokens  int // target tokens without EOS
	Covered int // those in the list of their source
}

// LearnShortlist learns the target pieces that translate each source piece from pairs, which should
// be the training data: those that it generates most probably in the statistical alignment of
// package text/align, and with a joint vocabulary the piece itself, because names and numbers are
// often copied. Every list has EOS, all pieces of one byte, and the most frequent pieces of the
// targets.
//
// LearnShortlist reads pairs several times, and keeps only some at a time in memory, and Best times
// a few numbers for each source piece. The result is the same for any number of threads and on
// every machine. The error is that of pairs or ctx, an invalid option, or that pairs has none to
// learn from.
func LearnShortlist(ctx context.Context, t vocab.Tokenizers, pairs iter.Seq2[text.Pair, error], o ShortlistOptions) (LearnedShortlist, error) {
	if err := o.Validate(); err != nil {
		return LearnedShortlist{}, err
	}
	const candidates = 2 // considered for each target piece that is kept
	l := shortlistLearner{
		ctx: ctx, tokenizers: t, pairs: pairs, options: o, frequencies: make([]int, t.Target.Size()),
		lexicon: align.NewLexicon(t.Source.Size(), t.Target.Size(), align.Options{Limit: candidates * o.Best, Threads: o.Threads}),
	}
	l.pool = mat.NewPool(cmp.Or(o.Threads, runtime.GOMAXPROCS(0)))
	defer l.pool.Close()
	if err := l.learn(); err != nil {
		return LearnedShortlist{}, err
	}
	return l.result, nil
}

// shortlistLearner is the state of LearnShortlist.
type shortlistLearner struct {
	ctx        context.Context
	tokenizers vocab.Tokenizers
	pairs      iter.Seq2[text.Pair, error]
	options    ShortlistOptions
	pool       *mat.Pool

	lexicon     *align.Lexicon
	frequencies []int // of the target pieces
	pass        int   // number of the current pass over the pairs
	result      LearnedShortlist
}

// shortlistPasses are those that count pieces, the iterations of the alignment, and one that
// measures the lists.
const shortlistPasses = 1 + align.Iterations + 1

func (l *shortlistLearner) learn() error {
	err := l.lexicon.Learn(align.Iterations, func(do func([]align.Pair)) error {
		err := l.eachBatch(func(batch []align.Pair) {
			if l.pass == 1 {
				l.result.Pairs += len(batch)
				for _, p := range batch {
					for _, id := range p.Target {
						l.frequencies[id]++
					}
				}
			}
			do(batch)
		})
		if err == nil && l.result.Pairs == 0 {
			err = errors.New("found no pairs to learn from, expected the training data")
		}
		return err
	})
	if err != nil {
		return err
	}
	l.result.Shortlist = l.shortlist()
	var list []int32
	var set []uint64
	return l.eachBatch(func(batch []align.Pair) {
		for _, p := range batch {
			list = l.result.List(list[:0], p.Source, nil, &set)
			l.result.Pieces += len(list)
			l.result.Tokens += len(p.Target)
			for _, id := range p.Target {
				if _, found := slices.BinarySearch(list, id); found {
					l.result.Covered++
				}
			}
		}
	})
}

// shortlist returns the lists after the last iteration.
func (l *shortlistLearner) shortlist() *decode.Shortlist {
	target := l.tokenizers.Target
	inAll := make([]bool, target.Size())
	inAll[text.EOS] = true
	var byFrequency []int32
	for id := text.EOS + 1; int(id) < len(inAll); id++ {
		inAll[id] = len(target.Bytes(id)) == 1
		if l.frequencies[id] > 0 {
			byFrequency = append(byFrequency, id)
		}
	}
	slices.SortStableFunc(byFrequency, func(a, b int32) int { return cmp.Compare(l.frequencies[b], l.frequencies[a]) })
	for _, id := range byFrequency[:min(l.options.Frequent, len(byFrequency))] {
		inAll[id] = true
	}
	s := &decode.Shortlist{Starts: []int32{0}}
	for id, yes := range inAll {
		if yes {
			s.Always = append(s.Always, int32(id))
		}
	}
	joint := l.tokenizers.Joint()
	var list []int32
	for id := range int32(l.tokenizers.Source.Size()) {
		list = l.lexicon.Best(list[:0], id, l.options.Best, l.options.MinProb)
		if joint {
			list = append(list, id)
		}
		slices.Sort(list)
		for _, id := range slices.Compact(list) {
			if id > text.EOS && !inAll[id] {
				s.Pieces = append(s.Pieces, id)
			}
		}
		s.Starts = append(s.Starts, int32(len(s.Pieces)))
	}
	return s
}

// eachBatch calls f with the tokens of all pairs that are neither blank nor too long, in order. It
// counts the others in the first pass. f may use a batch only during the call.
func (l *shortlistLearner) eachBatch(f func([]align.Pair)) error {
	const maxPairs, maxBytes = 1 << 12, 1 << 22 // of a batch
	l.pass++
	var texts []text.Pair
	var encoded []align.Pair
	read, bytes, used := 0, 0, 0
	flush := func() {
		for len(encoded) < len(texts) {
			encoded = append(encoded, align.Pair{})
		}
		l.pool.Do(len(texts), 16, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				p := &encoded[i]
				_, source, _ := lang.CutCode(texts[i].Source)
				p.Source = l.tokenizers.Source.Encode(p.Source[:0], source)
				p.Target = l.tokenizers.Target.Encode(p.Target[:0], texts[i].Target)
			}
		})
		usable := func(ids []int32) bool { return len(ids) > 0 && len(ids) <= maxAlignedTokens }
		n := 0
		for i, p := range encoded[:len(texts)] {
			if usable(p.Source) && usable(p.Target) {
				encoded[n], encoded[i] = p, encoded[n]
				n++
			} else if l.pass == 1 {
				l.result.Skipped++
			}
		}
		f(encoded[:n])
		used += n
		read += len(texts)
		texts, bytes = texts[:0], 0
		if l.options.Progress != nil {
			l.options.Progress(l.pass, shortlistPasses, read)
		}
	}
	for p, err := range l.pairs {
		if err == nil {
			err = l.ctx.Err()
		}
		if err != nil {
			return err
		}
		texts, bytes = append(texts, p), bytes+len(p.Source)+len(p.Target)
		if len(texts) == maxPairs || bytes >= maxBytes {
			flush()
		}
	}
	flush()
	if used != l.result.Pairs {
		return fmt.Errorf("found %d pairs in pass %d, expected %d as in the first: they must not change", used, l.pass, l.result.Pairs)
	}
	return nil
}
