package shard

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Part is part I of N, from 1. The zero value is the whole.
type Part struct{ I, N int }

// ParsePart reads "I/N". "" is the whole.
func ParsePart(s string) (p Part, err error) {
	if s == "" {
		return p, nil
	}
	i, n, _ := strings.Cut(s, "/")
	p.I, err = strconv.Atoi(i)
	if err == nil {
		p.N, err = strconv.Atoi(n)
	}
	if err != nil || p.I < 1 || p.I > p.N {
		return Part{}, fmt.Errorf("%q, expected I/N with I from 1 to N, such as 3/64", s)
	}
	return p, nil
}

// String is the inverse of ParsePart.
func (p Part) String() string {
	if p.N == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.I, p.N)
}

// in returns the bytes of the part in a file of size bytes: the lines that begin in the I-th of N
// equal ranges of bytes. The parts of a file have each of its lines once.
func (p Part) in(f io.ReaderAt, size int64) (from, to int64, err error) {
	if p.N == 0 {
		return 0, size, nil
	}
	at := func(i int64) int64 { return size/int64(p.N)*i + size%int64(p.N)*i/int64(p.N) }
	if from, err = lineStart(f, at(int64(p.I-1)), size); err != nil {
		return 0, 0, err
	}
	to, err = lineStart(f, at(int64(p.I)), size)
	return from, to, err
}

// lineStart returns the offset of the first line that begins at offset or after it.
func lineStart(f io.ReaderAt, offset, size int64) (int64, error) {
	if offset == 0 {
		return 0, nil
	}
	buffer := make([]byte, 1<<16)
	for at := offset - 1; at < size; {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), size-at)], at)
		if i := bytes.IndexByte(buffer[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil && err != io.EOF || n == 0 {
			return 0, err
		}
	}
	return size, nil
}
