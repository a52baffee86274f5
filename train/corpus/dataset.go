package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"tfm/internal/format"
	"tfm/text"
)

// dataset reads a text in files again and again. Checksums detect changes of the files during the
// training.
type dataset struct {
	Dataset
	first int // index of its first pair in the corpus
	pairs int // of the files, held-out pairs included

	reader *text.PairReader
	at     int          // index of the pair that reader returns next
	places []text.Place // of pairs 0, placeEvery, 2·placeEvery and so on, up to at
	sums   [][2]uint64  // checksums of both sides, by block of blockPairs pairs
	hash   [2]maphash.Hash
}

const (
	// blockPairs is the number of pairs of a checksum, which limits the precision of the line
	// numbers in the error for a changed file.
	blockPairs = 256
	placeEvery = 16 * blockPairs
)

func newDataset(of Dataset, first, pairs int) *dataset {
	s := &dataset{Dataset: of, first: first, pairs: pairs}
	s.Files.OneSided = nil // because the stream would race with its readers
	s.hash[1].SetSeed(s.hash[0].Seed())
	return s
}

// read returns pair i. Its strings are valid until the next call.
func (s *dataset) read(i int) (text.Pair, error) {
	if err := s.seek(i); err != nil {
		return text.Pair{}, fmt.Errorf("rereading the training pairs: %w", err)
	}
	for s.at < i {
		if _, err := s.next(); err != nil {
			return text.Pair{}, err
		}
	}
	return s.next()
}

// seek moves the reader to the last place before pair i, unless it is already between that place
// and i. A new pass opens the files again.
func (s *dataset) seek(i int) error {
	if err := s.checkEnd(); err != nil {
		return err
	}
	place := min(i/placeEvery, len(s.places)-1)
	if s.reader != nil && s.at <= i && s.at >= place*placeEvery {
		return nil
	}
	s.hash[0].Reset()
	s.hash[1].Reset()
	if s.reader == nil || place <= 0 {
		s.close()
		var err error
		if s.reader, err = s.Files.Open(); err != nil {
			return err
		}
	}
	if s.at = max(place, 0) * placeEvery; s.at > 0 {
		return s.reader.Seek(s.places[place])
	}
	return nil
}

// next reads the next pair and compares the checksums of a block that is complete.
func (s *dataset) next() (text.Pair, error) {
	if s.at == len(s.places)*placeEvery {
		s.places = append(s.places, s.reader.Place())
	}
	p, err := s.reader.Next()
	if err == io.EOF {
		return p, s.changed(s.at, fmt.Sprintf("found the end of the file, expected %s lines", format.Thousands(s.pairs)))
	}
	if err != nil {
		return p, err
	}
	s.hash[0].WriteString(p.Source)
	s.hash[0].WriteByte('\n')
	s.hash[1].WriteString(p.Target)
	s.hash[1].WriteByte('\n')
	if s.at++; s.at%blockPairs == 0 || s.at == s.pairs {
		err = s.compare()
	}
	return p, err
}

// changed returns the error of files that have changed, at a line.
func (s *dataset) changed(line int, what string) error {
	return fmt.Errorf("%s:%d: %s: the file has changed during the training", s.Files.Source, line, what)
}

// compare returns an error if the checksums of the block that ends before s.at are not those of the
// first reading.
func (s *dataset) compare() error {
	block := (s.at - 1) / blockPairs
	sum := [2]uint64{s.hash[0].Sum64(), s.hash[1].Sum64()}
	s.hash[0].Reset()
	s.hash[1].Reset()
	if block == len(s.sums) {
		s.sums = append(s.sums, sum)
		return nil
	}
	for side, path := range []string{s.Files.Source, cmp.Or(s.Files.Target, s.Files.Source)} {
		if first := block*blockPairs + 1; sum[side] != s.sums[block][side] {
			return fmt.Errorf("%s:%d: lines %d to %d have changed during the training", path, first, first, s.at)
		}
	}
	return nil
}

// checkEnd returns an error if the reader has read all pairs, and the files have more.
func (s *dataset) checkEnd() error {
	if s.reader == nil || s.at != s.pairs {
		return nil
	}
	_, err := s.reader.Next()
	s.close()
	if err == nil {
		return s.changed(s.pairs+1, fmt.Sprintf("found another line, expected %s lines", format.Thousands(s.pairs)))
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// close closes the files.
func (s *dataset) close() {
	if s.reader != nil {
		s.reader.Close()
		s.reader = nil
	}
}
