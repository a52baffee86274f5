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
	if f.content == nil {
		return errors.New("file is closed")
	}
	return f.verifyChecksum(f.content[:f.dataStart], 0, f.content[f.dataStart:])
}

// verifyChecksum compares the content of a file with its checksum: prefix is the
// header length and the header, crc the CRC of the data before data.
func (h *header) verifyChecksum(prefix []byte, crc uint32, data []byte) error {
	found, ok := h.metadata[checksumKey]
	if !ok {
		return ErrNoChecksum
	}
	end := lengthBytes + h.checksumEnd
	if err := checkChecksumText(found, prefix[:end]); err != nil {
		return err
	}
	sum := checksum(crc, data, prefix[:end-1-checksumDigits], []byte(zeroDigits), prefix[end-1:])
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
