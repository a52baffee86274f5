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

// markInUse locks f until the process ends. It ignores errors, so that writing
// works without locks on file systems that lack them.
func markInUse(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// inUse reports whether a process holds the lock of markInUse.
func inUse(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
