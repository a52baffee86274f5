//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package safetensors

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename in dir durable. It ignores EINVAL and ENOTSUP, which
// file systems return that cannot sync a folder.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// markInUse locks f until it is closed, and reports false if removeUnused was faster. It ignores
// other errors, so that writing works without locks on file systems that lack them.
func markInUse(f *os.File) bool { return !locked(f) }

// removeUnused removes a file, unless a process holds the lock of markInUse, and reports whether it
// tried.
func removeUnused(name string) (bool, error) {
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		if locked(f) {
			return false, nil
		}
	}
	return true, os.Remove(name)
}

// locked locks f, or reports that another has the lock. Signals interrupt the call on some file
// systems.
func locked(f *os.File) bool {
	err := error(syscall.EINTR)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}
