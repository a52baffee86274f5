//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package bench

import (
	"runtime"
	"syscall"
)

// maxResident is the largest resident set so far, 0 if it is not known. Darwin counts bytes, the BSDs kilobytes.
func maxResident() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
