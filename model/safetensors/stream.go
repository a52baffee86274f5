package safetensors

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// Stream reads the tensors of a safetensors file once, in the order of their
// offsets, into memory of the caller. It neither maps the file nor holds more of
// it than the header, so a file that is truncated meanwhile is an ordinary error.
// A Stream is not safe for concurrent use.
type Stream struct {
	header
	path   string
	file   *os.File
	prefix []byte // header length and header
	crc    uint32 // of the data read so far
	next   int    // index of the tensor after the current one
	left   int    // bytes of the current tensor that are not read yet
	buf    []byte // for data that is skipped or converted
}

// streamChunk is the number of bytes that are read and then summed while they are
// in cache.
const streamChunk = 1 << 18

// OpenStream opens a file and checks everything except the checksum, as [Open]
// does. Errors name the file, the tensor, what was found and what was expected.
func OpenStream(path string) (*Stream, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	s := &Stream{path: path, file: file}
	if err := s.readHeader(size); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *Stream) readHeader(size int) error {
	s.prefix = make([]byte, min(size, lengthBytes))
	if err := s.read(s.prefix); err != nil {
		return err
	}
	n, err := headerLength(s.prefix, size)
	if err != nil {
		return err
	}
	s.prefix = append(make([]byte, 0, lengthBytes+n), s.prefix...)[:lengthBytes+n]
	if err := s.read(s.prefix[lengthBytes:]); err != nil {
		return err
	}
	h, err := parseHeader(s.prefix[lengthBytes:], size-len(s.prefix))
	if err != nil {
		return err
	}
	s.header = *h
	return nil
}

// read fills b from the file.
func (s *Stream) read(b []byte) error {
	_, err := io.ReadFull(s.file, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends before its size: truncated while open")
	}
	return err
}

// Path returns the path of the file.
func (s *Stream) Path() string { return s.path }

// Left returns the number of bytes of the current tensor that are not read yet.
func (s *Stream) Left() int { return s.left }

// Next makes the next tensor the current one and returns it, without Data. It
// skips unread elements of the last one. After the last tensor it returns
// [io.EOF].
func (s *Stream) Next() (Tensor, error) {
	if err := s.skip(); err != nil {
		return Tensor{}, err
	}
	if s.next == len(s.entries) {
		return Tensor{}, io.EOF
	}
	e := &s.entries[s.next]
	s.next++
	s.left = e.end - e.begin
	return e.tensor, nil
}

// skip reads the rest of the current tensor, which the checksum covers.
func (s *Stream) skip() error {
	for s.left > 0 {
		if err := s.Bytes(s.buffer(min(s.left, streamChunk))); err != nil {
			return err
		}
	}
	return nil
}

// buffer returns the Stream's memory with length n.
func (s *Stream) buffer(n int) []byte {
	s.buf = slices.Grow(s.buf[:0], n)[:n]
	return s.buf
}

// Bytes reads the next len(dst) bytes of the current tensor. The error names the
// file and the tensor.
func (s *Stream) Bytes(dst []byte) error {
	if len(dst) > s.left {
		return s.errorf("found %d more bytes, expected %d", s.left, len(dst))
	}
	for len(dst) > 0 {
		chunk := dst[:min(len(dst), streamChunk)]
		if err := s.read(chunk); err != nil {
			return s.errorf("%w", err)
		}
		s.crc = crc32.Update(s.crc, castagnoli, chunk)
		s.left -= len(chunk)
		dst = dst[len(chunk):]
	}
	return nil
}

// Float32s reads the next len(dst) elements of the current tensor, F32, F16 or
// BF16, as [Tensor.Float32s] does.
func (s *Stream) Float32s(dst []float32) error {
	t := s.entries[s.next-1].tensor
	decode, err := decoderOf(t.DType)
	if err != nil {
		return s.errorf("%w", err)
	}
	if t.DType == "F32" && littleEndian {
		return s.Bytes(bytesOf(dst))
	}
	size := int(dtypeBits[t.DType] / 8)
	for len(dst) > 0 {
		n := min(len(dst), streamChunk/size)
		b := s.buffer(n * size)
		if err := s.Bytes(b); err != nil {
			return err
		}
		decode(dst[:n], b)
		dst = dst[n:]
	}
	return nil
}

// errorf returns an error that names the file and the current tensor.
func (s *Stream) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: tensor %.80q: "+format, append([]any{s.path, s.entries[s.next-1].tensor.Name}, args...)...)
}

// Verify reads all data that is not read yet and compares the checksum, as
// [File.Verify] does. What was read before Verify returns nil may be damaged.
func (s *Stream) Verify() error {
	var err error
	for err == nil {
		_, err = s.Next()
	}
	if err != io.EOF {
		return err
	}
	if err := s.verifyChecksum(s.prefix, s.crc, nil); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// Close closes the file.
func (s *Stream) Close() error { return s.file.Close() }
