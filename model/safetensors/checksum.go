package safetensors

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

const (
	checksumKey    = "checksum"
	checksumScheme = "crc32c:"
	zeroDigits     = "00000000" // replaces the digits in the computation
	checksumDigits = len(zeroDigits)
)

// ErrNoChecksum is wrapped by the error of [File.Verify] for files without a
// checksum, for example from other programs. In a file from [Write] it means
// damage.
var ErrNoChecksum = errors.New("no checksum in " + metadataKey)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Verify reads the whole file and compares it with its checksum. The error of a
// difference has both checksums; without a checksum the error is
// [ErrNoChecksum]. Verify also returns disk errors of the mapped file.
func (f *File) Verify() error {
	if err := guard(f.verify); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

func (f *File) verify() error {
	found, ok := f.metadata[checksumKey]
	if !ok {
		return ErrNoChecksum
	}
	if f.content == nil {
		return errors.New("file is closed")
	}
	raw := f.content[:f.checksumEnd]
	if err := checkChecksumText(found, raw); err != nil {
		return err
	}
	digitsAt := f.checksumEnd - 1 - checksumDigits
	sum := checksum(f.content[f.dataStart:], f.content[:digitsAt], []byte(zeroDigits), f.content[f.checksumEnd-1:f.dataStart])
	return compareChecksum(sum, found)
}

// checkChecksumText checks the form of a checksum and that the header up to its
// closing quote ends with it.
func checkChecksumText(found string, header []byte) error {
	digits, ok := strings.CutPrefix(found, checksumScheme)
	if !ok || len(digits) != checksumDigits || !strings.HasSuffix(string(header[max(0, len(header)-len(found)-1):]), found+`"`) {
		return fmt.Errorf("found checksum %.80q, expected %q and %d hexadecimal digits, unescaped", found, checksumScheme, checksumDigits)
	}
	return nil
}

func compareChecksum(sum, found string) error {
	if sum != found {
		return fmt.Errorf("content has checksum %s, expected %s as in the header: the file was damaged or altered", sum, found)
	}
	return nil
}

// checksum returns the checksum of a file, given as the data, then the header
// length and the header, with zeroDigits for the digits of the checksum. The
// arguments are these in any number of segments.
func checksum(segments ...[]byte) string { return checksumFrom(0, segments...) }

// checksumFrom is checksum after segments whose CRC is crc.
func checksumFrom(crc uint32, segments ...[]byte) string {
	for _, segment := range segments {
		// The assembly behind Update cannot be preempted: keep calls short.
		for chunk := range slices.Chunk(segment, 1<<20) {
			crc = crc32.Update(crc, castagnoli, chunk)
		}
	}
	return fmt.Sprintf("%s%08X", checksumScheme, crc)
}
