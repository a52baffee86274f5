//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package safetensors

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// load maps f. The system reads pages at their first access and shares them
// between processes.
func load(f *os.File, size int) (content []byte, release func() error, err error) {
	if size == 0 { // mmap returns an error
		return nil, func() error { return nil }, nil
	}
	content, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if errors.Is(err, syscall.ENOMEM) { // then reading would fail too
		return nil, nil, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	if err != nil { // the file system does not support mapping
		return readWhole(f, size)
	}
	return content, func() error { return syscall.Munmap(content) }, nil
}
