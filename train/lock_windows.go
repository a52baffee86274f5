package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// lock creates a file in the folder and opens it without sharing. Windows removes the file when it
// is closed or the process ends. It returns nil if another run holds the lock.
func lock(dir string) (unlock func(), err error) {
	const (
		deleteOnClose    = 0x04000000        // FILE_FLAG_DELETE_ON_CLOSE
		sharingViolation = syscall.Errno(32) // ERROR_SHARING_VIOLATION
	)
	path := filepath.Join(dir, "lock")
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func() { syscall.CloseHandle(h) }, nil
}
