//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package safetensors

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// load maps f, so that pages are read when they are first touched and are
// shared between processes.
func load(f *os.File, size int) (content []byte, release func() error, err error) {
	if size == 0 { // mmap refuses
		return nil, func() error { return nil }, nil
	}
	content, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if errors.Is(err, syscall.ENOMEM) { // then there is none for reading it either
		return nil, nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	if err != nil { // a file system without mappings
		return readWhole(f, size)
	}
	return content, func() error { return syscall.Munmap(content) }, nil
}
