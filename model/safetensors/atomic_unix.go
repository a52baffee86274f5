//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package safetensors

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename in dir durable. File systems that cannot sync a folder
// say EINVAL or ENOTSUP; there is nothing more to be done for them.
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

// markInUse takes a lock that ends with the process, however that ends. Where
// the file system has no locks the write goes on without.
func markInUse(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

func inUse(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
