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

// Verify reads the data that has not been read in order yet, and compares the whole file with its
// checksum. The error of a difference has both checksums; without a checksum the error is
// [ErrNoChecksum]. What was read before Verify returns nil may be damaged.
func (f *File) Verify() error {
	if err := f.verify(); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

func (f *File) verify() error {
	if f.content == nil && f.file == nil {
		return errors.New("file is closed")
	}
	n := f.dataLen()
	buf := make([]byte, min(readChunk, n))
	for at := f.summedData(); at < n; at = f.summedData() {
		if err := f.readData(buf[:min(len(buf), n-at)], at); err != nil {
			return err
		}
	}
	found, ok := f.metadata[checksumKey]
	if !ok {
		return ErrNoChecksum
	}
	return guard(func() error { return f.compare(found) })
}

// compare compares the content of a file whose data is summed with the checksum found in its
// header.
func (f *File) compare(found string) error {
	end := lengthBytes + f.checksumEnd
	if err := checkChecksumText(found, f.prefix[:end]); err != nil {
		return err
	}
	sum := checksum(f.crc, f.prefix[:end-1-checksumDigits], []byte(zeroDigits), f.prefix[end-1:])
	if sum != found {
		return fmt.Errorf("content has checksum %s, expected %s as in the header: the file was damaged or altered", sum, found)
	}
	return nil
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

// checksum returns the checksum of a file, given as the data, then the header
// length and the header, with zeroDigits for the digits of the checksum. The
// segments are these in any number, after those whose CRC is crc.
func checksum(crc uint32, segments ...[]byte) string {
	for _, segment := range segments {
		// The assembly behind Update cannot be preempted: keep calls short.
		for chunk := range slices.Chunk(segment, 1<<20) {
			crc = crc32.Update(crc, castagnoli, chunk)
		}
	}
	return fmt.Sprintf("%s%08X", checksumScheme, crc)
}
