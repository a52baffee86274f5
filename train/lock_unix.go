//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package train

import (
	"errors"
	"os"
	"syscall"
)

// lock locks the folder itself, so that no lock file remains. On a file system without locks it
// does nothing. It returns nil if another run holds the lock.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, nil
	}
	return func() { f.Close() }, nil
}
