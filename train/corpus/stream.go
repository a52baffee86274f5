package corpus

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"

	"tfm/internal/format"
	"tfm/text"
	"tfm/text/vocab"
	"tfm/train"
)

// stream is a corpus in files as a train.Source: it is read again in every epoch, in windows of
// consecutive pairs, and watched for changes, as the pairs must stay those that the run began with.
type stream struct {
	*files
	tokens  vocab.Pair
	out     holdOut
	pairs   int // of the corpus, with those held out
	windows int
	dropout float64 // BPE-dropout
	seed    uint64

	reader    *text.PairReader
	at        int           // the number of the pair that it reads next
	windowsAt []text.Place  // where windows begin, as far as they have been reached
	sums      [][][2]uint64 // of the sides' lines, for each window and each block of changeBlock pairs

	ids    [2][]int32
	hash   [2]maphash.Hash
	random rand.PCG
}

// changeBlock is how exactly a change of the corpus is found.
const changeBlock = 256

// newStream has windows of at most o.ShuffleWindow pairs, all of about the same size; 0 is one
// window.
func newStream(f *files, tokens vocab.Pair, out holdOut, pairs int, o train.Options) (*stream, error) {
	s := &stream{files: f, tokens: tokens, out: out, pairs: pairs, windows: 1, dropout: o.BPEDropout, seed: o.Seed}
	if o.ShuffleWindow > 0 {
		s.windows = max(1, (pairs+o.ShuffleWindow-1)/o.ShuffleWindow)
	}
	for _, t := range []text.Tokenizer{tokens.Source, tokens.Target} {
		if _, ok := t.(text.Sampler); !ok && s.dropout > 0 {
			return nil, fmt.Errorf("corpus: a %T encodes a text in one way only, so it has no dropout", t)
		}
	}
	s.sums = make([][][2]uint64, s.windows)
	s.hash[1].SetSeed(s.hash[0].Seed())
	return s, nil
}

func (s *stream) Windows() int { return s.windows }

// start is the number of a window's first pair.
func (s *stream) start(window int) int { return int(int64(s.pairs) * int64(window) / int64(s.windows)) }

func (s *stream) Read(ctx context.Context, dst *train.Pairs, epoch, window int) error {
	if err := s.seek(window); err != nil {
		return fmt.Errorf("reading the training pairs again: %w", err)
	}
	lo, hi := s.start(window), s.start(window+1)
	first := len(s.sums[window]) == 0
	for i := lo; i < hi; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := s.reader.Next()
		if err == io.EOF {
			return fmt.Errorf("%s:%d: the end, expected %s lines as when the training began", s.src, i, format.Thousands(s.pairs))
		}
		if err != nil {
			return err
		}
		s.at++
		s.add(dst, p, epoch, i)
		if n := i - lo + 1; n%changeBlock == 0 || i == hi-1 {
			block := (n - 1) / changeBlock
			if sum := s.sum(); first {
				s.sums[window] = append(s.sums[window], sum)
			} else if err := s.compare(sum, s.sums[window][block], lo+block*changeBlock, i); err != nil {
				return err
			}
		}
		if i-lo == changeBlock {
			dst.Expect(hi - i)
		}
	}
	if window < s.windows-1 {
		return nil
	}
	if _, err := s.reader.Next(); err == nil {
		return fmt.Errorf("%s:%d: a line more than when the training began", s.src, s.pairs+1)
	} else if err != io.EOF {
		return err
	}
	return nil
}

// seek goes to a window, whose place must be known unless it is the next one. An epoch opens the
// files anew.
func (s *stream) seek(window int) (err error) {
	if s.reader != nil && window == 0 {
		s.reader.Close()
		s.reader = nil
	}
	if s.reader == nil {
		if s.reader, err = s.open(); err != nil {
			return err
		}
		s.at = 0
	}
	if s.at != s.start(window) {
		if err := s.reader.Seek(s.windowsAt[window]); err != nil {
			return err
		}
		s.at = s.start(window)
	}
	if window == len(s.windowsAt) {
		s.windowsAt = append(s.windowsAt, s.reader.Place())
	}
	return nil
}

// add encodes pair i, unless it is held out.
func (s *stream) add(dst *train.Pairs, p text.Pair, epoch, i int) {
	s.hash[0].WriteString(p.Source)
	s.hash[0].WriteByte('\n')
	s.hash[1].WriteString(p.Target)
	s.hash[1].WriteByte('\n')
	if s.out.has(i) {
		return
	}
	if s.dropout > 0 {
		// A sequence of its own for each pair of each epoch; those of package train begin at small
		// numbers and at 2^63.
		s.random.Seed(s.seed, 1<<62|uint64(epoch)<<40|uint64(i))
	}
	s.ids[0] = s.encode(s.ids[0][:0], s.tokens.Source, p.Source)
	s.ids[1] = s.encode(s.ids[1][:0], s.tokens.Target, p.Target)
	dst.Add(s.ids[0], s.ids[1])
}

// encode appends the ids of a sentence, with merges dropped if the stream drops any.
func (s *stream) encode(dst []int32, t text.Tokenizer, sentence string) []int32 {
	if s.dropout == 0 {
		return t.Encode(dst, sentence)
	}
	return t.(text.Sampler).EncodeSample(dst, sentence, s.dropout, &s.random)
}

// sum is what the lines since the last call hash to.
func (s *stream) sum() [2]uint64 {
	defer s.hash[0].Reset()
	defer s.hash[1].Reset()
	return [2]uint64{s.hash[0].Sum64(), s.hash[1].Sum64()}
}

// compare reports that pairs first to last have changed.
func (s *stream) compare(found, expected [2]uint64, first, last int) error {
	for side, path := range []string{s.src, s.tgt} {
		if found[side] != expected[side] {
			return fmt.Errorf("%s:%d: lines %d to %d are not what they were when the training began", path, first+1, first+1, last+1)
		}
	}
	return nil
}

func (s *stream) close() {
	if s.reader != nil {
		s.reader.Close()
	}
}
