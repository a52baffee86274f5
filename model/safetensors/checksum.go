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
	zeroDigits     = "00000000" // in the place of the digits while the sum is computed
	checksumDigits = len(zeroDigits)
)

// ErrNoChecksum is wrapped by [File.Verify] for files without a checksum, such
// as other programs write. In a file that [Write] wrote it means damage.
var ErrNoChecksum = errors.New("no checksum in " + metadataKey)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Verify reads the whole file and compares it with its checksum. A difference
// is an error that states both sums; no checksum is [ErrNoChecksum]. A disk
// error in the mapped file is returned as an error too.
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
	digits, ok := strings.CutPrefix(found, checksumScheme)
	raw := f.content[:f.checksumEnd]
	if !ok || len(digits) != checksumDigits || !strings.HasSuffix(string(raw[max(0, len(raw)-len(found)-1):]), found+`"`) {
		return fmt.Errorf("found checksum %.80q, expected %q and %d hexadecimal digits, unescaped", found, checksumScheme, checksumDigits)
	}
	digitsAt := f.checksumEnd - 1 - checksumDigits
	if sum := checksum(f.content[f.dataStart:], f.content[:digitsAt], []byte(zeroDigits), f.content[f.checksumEnd-1:f.dataStart]); sum != found {
		return fmt.Errorf("content has checksum %s, but the header says %s: the file was damaged or altered", sum, found)
	}
	return nil
}

// checksum sums the parts of a file: first the data, then the header length
// and the header, with zeros for the digits of the sum itself.
func checksum(parts ...[]byte) string {
	crc := uint32(0)
	for _, part := range parts {
		// The assembly behind Update cannot be preempted: keep calls short.
		for chunk := range slices.Chunk(part, 1<<20) {
			crc = crc32.Update(crc, castagnoli, chunk)
		}
	}
	return fmt.Sprintf("%s%08X", checksumScheme, crc)
}
