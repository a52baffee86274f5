package corpus

import (
	"cmp"
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

// stream is a corpus in files as a train.Stream. It reads the files in every epoch, in windows of
// consecutive pairs. Checksums detect changes of the files during the run.
type stream struct {
	text.Files
	vocab   vocab.Tokenizers
	codes   targetCodes
	heldOut map[int]bool // pairs that are held out, by their index in the corpus
	pairs   int          // of the corpus, held-out pairs included
	windows int
	dropout float64 // BPE-dropout
	seed    uint64

	reader *text.PairReader
	next   int           // index of the pair that reader returns next
	places []text.Place  // starts of the windows that were reached
	sums   [][][2]uint64 // checksums of both sides, by window and block of blockPairs pairs

	ids    [2][]int32
	hash   [2]maphash.Hash
	random rand.PCG
}

// blockPairs is the number of pairs of a checksum, which limits the precision of the line numbers
// in the error for a changed file.
const blockPairs = 256

// newStream returns the stream of the files f with the given number of pairs. Its windows have
// about equal sizes of at most o.ShuffleWindow pairs; 0 is one window.
func newStream(f text.Files, tokenizers vocab.Tokenizers, c targetCodes, heldOut map[int]bool, pairs int, o train.Options) (*stream, error) {
	s := &stream{Files: f, vocab: tokenizers, codes: c, heldOut: heldOut, pairs: pairs, windows: 1, dropout: o.BPEDropout, seed: o.Seed}
	if o.ShuffleWindow > 0 {
		s.windows = max(1, (pairs+o.ShuffleWindow-1)/o.ShuffleWindow)
	}
	for _, t := range []text.Tokenizer{tokenizers.Source, tokenizers.Target} {
		if _, ok := t.(text.Sampler); !ok && s.dropout > 0 {
			return nil, fmt.Errorf("corpus: BPE-dropout is %v, expected 0 with a %T, which does not support it", s.dropout, t)
		}
	}
	s.OneSided = nil // which the stream would write while others read it
	s.sums = make([][][2]uint64, s.windows)
	s.hash[1].SetSeed(s.hash[0].Seed())
	return s, nil
}

// Windows implements train.Stream.
func (s *stream) Windows() int { return s.windows }

// start returns the index of a window's first pair.
func (s *stream) start(window int) int { return int(int64(s.pairs) * int64(window) / int64(s.windows)) }

// Read implements train.Stream.
func (s *stream) Read(ctx context.Context, dst *train.Pairs, epoch, window int) error {
	if err := s.seek(window); err != nil {
		return fmt.Errorf("rereading the training pairs: %w", err)
	}
	lo, hi := s.start(window), s.start(window+1)
	first := len(s.sums[window]) == 0
	for i := lo; i < hi; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, err := s.reader.Next()
		if err == io.EOF {
			return fmt.Errorf("%s:%d: found the end of the file, expected %s lines: the file has changed during the training", s.Source, i, format.Thousands(s.pairs))
		}
		if err != nil {
			return err
		}
		s.next++
		s.add(dst, p, epoch, i)
		if n := i - lo + 1; n%blockPairs == 0 || i == hi-1 {
			block := (n - 1) / blockPairs
			if sum := s.sum(); first {
				s.sums[window] = append(s.sums[window], sum)
			} else if err := s.compare(sum, s.sums[window][block], lo+block*blockPairs, i); err != nil {
				return err
			}
		}
		if i-lo == growAfter {
			dst.Grow(hi - i)
		}
	}
	if window < s.windows-1 {
		return nil
	}
	if _, err := s.reader.Next(); err == nil {
		return fmt.Errorf("%s:%d: found another line, expected %s lines: the file has changed during the training", s.Source, s.pairs+1, format.Thousands(s.pairs))
	} else if err != io.EOF {
		return err
	}
	return nil
}

// seek moves the reader to the start of a window, which must have been reached before or be the
// next one. Window 0 reopens the files.
func (s *stream) seek(window int) (err error) {
	if s.reader != nil && window == 0 {
		s.reader.Close()
		s.reader = nil
	}
	if s.reader == nil {
		if s.reader, err = s.Open(); err != nil {
			return err
		}
		s.next = 0
	}
	if s.next != s.start(window) {
		if err := s.reader.Seek(s.places[window]); err != nil {
			return err
		}
		s.next = s.start(window)
	}
	if window == len(s.places) {
		s.places = append(s.places, s.reader.Place())
	}
	return nil
}

// add hashes pair i and, unless it is held out, appends its ids to dst.
func (s *stream) add(dst *train.Pairs, p text.Pair, epoch, i int) {
	s.hash[0].WriteString(p.Source)
	s.hash[0].WriteByte('\n')
	s.hash[1].WriteString(p.Target)
	s.hash[1].WriteByte('\n')
	if s.heldOut[i] {
		return
	}
	if s.dropout > 0 {
		// Each pair of each epoch has its own random stream. Package train uses those of
		// small numbers and from 2^63.
		s.random.Seed(s.seed, 1<<62|uint64(epoch)<<40|uint64(i))
	}
	ids, source := s.codes.cut(s.ids[0][:0], p.Source)
	s.ids[0] = s.encode(ids, s.vocab.Source, source)
	s.ids[1] = s.encode(s.ids[1][:0], s.vocab.Target, p.Target)
	dst.Add(s.ids[0], s.ids[1])
}

// encode appends the ids of a sentence, with BPE-dropout if the stream has it.
func (s *stream) encode(dst []int32, t text.Tokenizer, sentence string) []int32 {
	if s.dropout == 0 {
		return t.Encode(dst, sentence)
	}
	return t.(text.Sampler).EncodeSample(dst, sentence, s.dropout, &s.random)
}

// sum returns the checksums of both sides' lines since the last call.
func (s *stream) sum() [2]uint64 {
	defer s.hash[0].Reset()
	defer s.hash[1].Reset()
	return [2]uint64{s.hash[0].Sum64(), s.hash[1].Sum64()}
}

// compare returns an error if the checksums of the pairs first to last differ.
func (s *stream) compare(found, expected [2]uint64, first, last int) error {
	for side, path := range []string{s.Source, cmp.Or(s.Target, s.Source)} {
		if found[side] != expected[side] {
			return fmt.Errorf("%s:%d: lines %d to %d have changed during the training", path, first+1, first+1, last+1)
		}
	}
	return nil
}

// close closes the files.
func (s *stream) close() {
	if s.reader != nil {
		s.reader.Close()
	}
}
